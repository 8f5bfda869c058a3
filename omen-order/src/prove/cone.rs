//! Cone of a tool: its rules on both sides, and those of all tools that they name, transitively.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::model::RuleSide;
use crate::rules::{Premise, Rule, RuleKind, Tool, described};

/// Contents of all entries, used to skip unchanged tools.
pub(super) struct EntryContents {
    tools: BTreeMap<Tool, EntryContent>,
}

struct EntryContent {
    is_equal: bool,
    names: BTreeSet<Tool>,
}

impl EntryContents {
    pub(super) fn new(sides: &[&RuleSide; 2]) -> Self {
        let all: BTreeSet<_> = sides.iter().flat_map(|side| side.entries.keys()).cloned().collect();
        let has_only = |tool: &Tool| sides.iter().any(|side| rules(side, tool).iter().any(|rule| names(rule).1));
        let is_other_equal = all.iter().all(|tool| sides.iter().all(|side| side.entries.contains_key(tool)));
        let required = sides.map(required_members);
        let entry = |tool: &Tool| {
            let [old, new] = sides.map(|side| content(side, tool));
            let [needed, needs] = &required;
            let texts = |required: &RequiredMembers<'_>| {
                required.get(tool).into_iter().flat_map(BTreeMap::keys).cloned().collect::<Vec<_>>()
            };
            let is_needed_alike = texts(needed) == texts(needs);
            let named = sides.iter().flat_map(|side| rules(side, tool)).flat_map(|rule| names(rule).0);
            // `only` covers all allowed tools except those that it lists.
            let is_equal = old == new && is_needed_alike && (is_other_equal || !has_only(tool));
            EntryContent { is_equal, names: named.collect() }
        };
        Self { tools: all.iter().map(|tool| (tool.clone(), entry(tool))).collect() }
    }

    /// Returns whether a tool, and everything that its rules name, is equal on both sides.
    pub(super) fn is_equal(&self, tool: &Tool) -> bool {
        let (mut seen, mut ahead) = (BTreeSet::new(), vec![tool]);
        while let Some(tool) = ahead.pop() {
            let Some(entry) = self.tools.get(tool).filter(|_| seen.insert(tool)) else { continue };
            if !entry.is_equal {
                return false;
            }
            ahead.extend(&entry.names);
        }
        true
    }
}

fn rules<'s>(side: &'s RuleSide, tool: &Tool) -> &'s [Rule] {
    side.policy.tools.get(tool).map_or(&[], |tool| tool.rules.as_slice())
}

/// Returns the tools that a rule names, and whether it covers all others through `only`.
fn names(rule: &Rule) -> (Vec<Tool>, bool) {
    let (mut tools, mut has_only) = (Vec::new(), false);
    for premise in rule.kind.premises() {
        tools.extend(premise.tools.iter().cloned());
        for until in &premise.until {
            has_only |= until.is_other;
            tools.extend(until.tools.iter().cloned());
        }
    }
    (tools, has_only)
}

/// Rules, by content, of the bans and limits that must recognize or add up a tool's calls.
pub(super) type RequiredMembers<'s> = BTreeMap<Tool, BTreeMap<String, (&'s Rule, &'s Premise)>>;

pub(super) fn required_members(side: &RuleSide) -> RequiredMembers<'_> {
    let mut required = RequiredMembers::new();
    for rule in side.policy.tools.values().flat_map(|tool| &tool.rules) {
        let (premise, is_sum) = match &rule.kind {
            RuleKind::NeverAfter(premise) | RuleKind::MaxCalls(_, premise) => (premise, false),
            RuleKind::MaxSum(_, _, premise) => (premise, true),
            RuleKind::After(_) | RuleKind::BeforeEnd(_) => continue,
        };
        if premise.same.is_empty() && !is_sum {
            continue;
        }
        for tool in &premise.tools {
            required.entry(tool.clone()).or_default().insert(rule_content(rule), (rule, premise));
        }
    }
    required
}

fn content(side: &RuleSide, tool: &Tool) -> Option<String> {
    let admission = side.entries.get(tool)?;
    let mut text = admission.content.clone();
    for rule in rules(side, tool) {
        let _ = write!(text, "\n{}", rule_content(rule));
    }
    Some(text)
}

/// Returns a text that is equal for equal rules of a tool.
pub(super) fn rule_content(rule: &Rule) -> String {
    let condition = rule.condition.as_ref().map(|test| test.content());
    let mut text = format!("{:?} {condition:?}", RuleQuestion(rule));
    rule.kind.premises().iter().for_each(|premise| text.push_str(&described(premise)));
    text
}

/// Display of the question that a rule asks, without its premises.
struct RuleQuestion<'r>(&'r Rule);

impl std::fmt::Debug for RuleQuestion<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0.kind {
            RuleKind::After(_) => f.write_str("after"),
            RuleKind::NeverAfter(_) => f.write_str("never_after"),
            RuleKind::MaxCalls(calls, _) => write!(f, "max {calls}"),
            RuleKind::MaxSum(limit, at, _) => write!(f, "sum {limit} {at}"),
            RuleKind::BeforeEnd(_) => f.write_str("before_end"),
        }
    }
}

/// Returns the tools whose calls affect a tool's verdicts, the tool itself first.
pub(super) fn tools(sides: &[&RuleSide; 2], deciding: &Tool) -> Vec<Tool> {
    let (mut found, mut others) = (vec![deciding.clone()], false);
    let mut next = 0;
    while let Some(tool) = found.get(next).cloned() {
        next += 1;
        for rule in sides.iter().flat_map(|side| rules(side, &tool)) {
            let (named, has_only) = names(rule);
            others |= has_only;
            for tool in named {
                if !found.contains(&tool) {
                    found.push(tool);
                }
            }
        }
        if next == found.len() && others {
            others = false;
            let all = sides.iter().flat_map(|side| side.entries.keys());
            let all: Vec<_> = all.filter(|tool| !found.contains(tool)).cloned().collect();
            // One tool that no rule restricts represents all others.
            let is_free = |tool: &&Tool| {
                sides.iter().all(|side| {
                    rules(side, tool).is_empty()
                        && side.entries.get(tool).is_some_and(|entry| {
                            let is_limited = entry.rate.is_some() || entry.uses.is_some() || entry.expires.is_some();
                            entry.closed.is_none() && !is_limited
                        })
                })
            };
            match all.iter().find(is_free) {
                Some(free) => found.push(free.clone()),
                None => found.extend(all),
            }
        }
    }
    found
}
