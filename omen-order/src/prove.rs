//! Comparison of two rule sets: does the new one allow a call that the old one refuses?
//!
//! The answer is exact: no, the shortest sequence of calls that shows it, or the reason why the question cannot be decided. In
//! a sequence, each call has ended before the next one is requested, and a call takes no time.
//!
//! Both sides judge one history: a sequence continues only with calls that both allow, so the first difference ends it.

mod classes;
mod cone;
mod debts;
mod facts;
mod judge;
mod model;
mod search;
mod times;
mod zone;

pub use model::{
    Admission, Comparison, Difference, IntentLimit, ProvenStep, RuleSide, StepEnd, UndecidedTool, ValueClass,
    ValuePlace, Values, WhyRefused,
};

use self::facts::OutsideRule;
use crate::rules::{RuleKind, Tool};

/// Returns the paths of the rules that refuse nothing: without such a rule, the others allow the same calls. `before_end` rules
/// refuse nothing by themselves and are omitted. The searches visit at most `max_states` states in total; rules that are not
/// reached or cannot be decided are omitted.
#[must_use]
pub fn vacuous(side: &RuleSide, values: &dyn Values, max_states: usize) -> Vec<String> {
    let (mut found, mut left, mut without) = (Vec::new(), max_states, side.clone());
    for tool in side.entries.iter().filter(|(_, entry)| entry.closed.is_none()).map(|(tool, _)| tool) {
        let rules = side.policy.tools.get(tool).map_or(&[][..], |entry| &entry.rules);
        let refusing = rules.iter().enumerate().filter(|(_, rule)| !matches!(rule.kind, RuleKind::BeforeEnd(_)));
        for (index, rule) in refusing {
            if let Some(entry) = without.policy.tools.get_mut(tool) {
                entry.rules.remove(index);
            }
            let searched = search::tool(&[side, &without], tool, values, left.min(max_states / 10));
            if let Some(entry) = without.policy.tools.get_mut(tool) {
                entry.rules.insert(index, rule.clone());
            }
            match searched {
                Ok((difference, states)) => {
                    left = left.saturating_sub(states);
                    found.extend(difference.is_none().then(|| rule.path.clone()));
                }
                // The number of states that an abandoned search visited is unknown.
                Err(_) => left = left.saturating_sub(max_states / 100),
            }
            if left == 0 {
                return found;
            }
        }
    }
    found
}

/// Compares two rule sets: what does the new one allow that the old one refuses, and what does only the old one report at the end of
/// a session? The search for each tool visits at most `max_states` states.
#[must_use]
pub fn compare(old: &RuleSide, new: &RuleSide, values: &dyn Values, max_states: usize) -> Comparison {
    let sides = [old, new];
    let contents = cone::EntryContents::new(&sides);
    let mut comparison = Comparison::default();
    for tool in new.entries.keys() {
        if contents.is_equal(tool) {
            continue;
        }
        comparison.searched += 1;
        match search::tool(&sides, tool, values, max_states) {
            Ok((difference, states)) => {
                comparison.states += states;
                comparison.differences.extend(difference);
            }
            Err((path, why)) => comparison.outside.push(UndecidedTool { tool: tool.clone(), path, why }),
        }
        match debts(&sides, tool, values, max_states) {
            Ok((difference, states)) => {
                comparison.states += states;
                comparison.differences.extend(difference);
            }
            Err((path, why)) => comparison.outside.push(UndecidedTool { tool: tool.clone(), path, why }),
        }
    }
    comparison
}

/// Searches for a session at whose end only the old rules report what a tool owes.
fn debts(
    sides: &[&RuleSide; 2],
    opener: &Tool,
    values: &dyn Values,
    max_states: usize,
) -> Result<(Option<Difference>, usize), OutsideRule> {
    let Some([old, new]) = debts::with_session_end(sides, opener)? else { return Ok((None, 0)) };
    let (found, states) = search::tool(&[&old, &new], &model::session_end(opener), values, max_states)?;
    let difference = found.map(|mut difference| {
        difference.tool = opener.clone();
        difference.ended_session = difference.steps.pop().map(|end| end.session);
        difference
    });
    Ok((difference, states))
}
