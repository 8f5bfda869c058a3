//! Debts as bans: the end of a session is modelled as a call that a tool's `before_end` rules forbid while something is owed.

use std::collections::BTreeSet;

use super::cone;
use super::facts::OutsideRule;
use super::model::{Admission, RuleSide, session_end};
use crate::rules::{Per, Policy, Premise, Rule, RuleKind, Tool, Until, Was};

/// Returns both sides with the end of a session, for the debts of a tool that differ; `None` if none does.
///
/// # Errors
/// The rule that cannot be compared, and the reason.
pub(super) fn with_session_end(sides: &[&RuleSide; 2], opener: &Tool) -> Result<Option<[RuleSide; 2]>, OutsideRule> {
    let rules = sides.map(|side| side.policy.tools.get(opener).map_or(&[][..], |entry| entry.rules.as_slice()));
    let debts =
        rules.map(|rules| rules.iter().filter(|rule| matches!(rule.kind, RuleKind::BeforeEnd(_))).collect::<Vec<_>>());
    let contents = debts.clone().map(|debts| debts.into_iter().map(cone::rule_content).collect::<BTreeSet<_>>());
    let [old, new] = &contents;
    // The new configuration may report more.
    if old.is_subset(new) {
        return Ok(None);
    }
    let (mut found, mut others) = (Vec::new(), contents.iter().rev());
    for (side, debts) in sides.iter().zip(debts) {
        let other = others.next();
        let own = debts.into_iter().filter(|rule| other.is_none_or(|other| !other.contains(&cone::rule_content(rule))));
        let bans = own.map(|rule| ban(rule, opener)).collect::<Result<Vec<_>, _>>()?;
        found.push(side_with(side, opener, bans));
    }
    Ok(found.try_into().ok())
}

fn side_with(side: &RuleSide, opener: &Tool, bans: Vec<Rule>) -> RuleSide {
    let end = session_end(opener);
    let mut tools = side.policy.tools.clone();
    tools.entry(end.clone()).or_default().rules = bans;
    let mut entries = side.entries.clone();
    entries.insert(end, Admission::default());
    RuleSide { policy: Policy { tools, ..side.policy.clone() }, entries }
}

/// Returns the ban of the end of a session after calls that incur a debt, until it is settled.
fn ban(rule: &Rule, opener: &Tool) -> Result<Rule, OutsideRule> {
    let outside = |why: &str| Err((rule.path.clone(), why.to_owned()));
    let RuleKind::BeforeEnd(owed) = &rule.kind else { return outside("it is not a debt") };
    if owed.per == Per::All {
        return outside("the debt belongs to no session");
    }
    let settles = Until {
        tools: owed.tools.clone(),
        is_other: false,
        was: Was::Ok,
        args: owed.args.clone(),
        answer: owed.answer.clone(),
        same: owed.same.clone(),
    };
    let opened = Premise {
        args: rule.condition.clone(),
        until: vec![settles],
        // The search takes the window of a debt for its deadline.
        within_ms: owed.within_ms,
        per: owed.per,
        ..Premise::new(vec![opener.clone()], Was::Ok)
    };
    Ok(Rule { kind: RuleKind::NeverAfter(opened), condition: None, path: rule.path.clone() })
}
