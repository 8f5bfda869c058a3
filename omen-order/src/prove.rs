//! Comparison of two rule sets: does the new one allow a call that the old one refuses?
//!
//! The answer is exact: no, or the shortest sequence of calls that shows it, or the reason why the question is outside
//! of what can be decided. Sequences are those in which a call has ended before the next one is asked for, and a call
//! takes no time.
//!
//! Both sides judge one history: only calls that both allow go on, so the search ends at the first difference.

mod classes;
mod cone;
mod facts;
mod judge;
mod model;
mod search;
mod times;
mod zone;

pub use model::{
    Admission, Comparison, Difference, ProvenStep, RuleSide, StepEnd, UndecidedTool, ValueClass, ValuePlace, Values,
    WhyRefused,
};

/// Compares two rule sets: what does the new one allow that the old one refuses? A search for one tool visits at most
/// `max_states` states.
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
    }
    comparison
}
