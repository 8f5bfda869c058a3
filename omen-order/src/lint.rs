//! Findings about valid rules that cannot be intended: tools that can never be called, contradictory rules, and debts
//! that nothing can settle.

use std::collections::BTreeSet;

use crate::rules::{Per, Policy, Premise, Rule, RuleKind, Tool, Was, shown};

/// Finding about a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LintFinding {
    /// Path of the rule in the configuration; empty for `[order]`.
    pub path: String,
    /// Whether it is an error: something can never happen.
    pub is_error: bool,
    /// Description of the problem.
    pub message: String,
    /// How to fix it.
    pub help: String,
}

/// Longest time in milliseconds that every client waits for an answer, minus the time for the call itself.
const LONGEST_WAIT_MS: u64 = 45_000;

/// Finds rules of a policy that cannot be intended.
#[must_use]
pub fn lint(policy: &Policy) -> Vec<LintFinding> {
    let mut lint = Lint { policy, dead: dead(policy), findings: Vec::new() };
    lint.dead_tools();
    for (tool, entry) in &policy.tools {
        lint.contradictions(tool, &entry.rules);
        lint.debts(tool, &entry.rules);
    }
    if policy.wait_ms > LONGEST_WAIT_MS {
        let message =
            format!("calls wait {} for a premise, and many clients give up after 1 min", shown(policy.wait_ms));
        lint.add("order.wait", false, message, "write 45 s or less".to_owned());
    }
    lint.findings
}

struct Lint<'p> {
    policy: &'p Policy,
    dead: BTreeSet<&'p Tool>,
    findings: Vec<LintFinding>,
}

/// Returns the tools that can never be called, judging by names: those outside the least fixpoint of tools whose
/// premises can be met.
fn dead(policy: &Policy) -> BTreeSet<&Tool> {
    let mut dead: BTreeSet<_> = policy.tools.keys().collect();
    loop {
        let callable =
            |tool: &&Tool| policy.tools.get(tool).is_some_and(|entry| missing(&entry.rules, &dead).is_none());
        let alive: Vec<_> = dead.iter().copied().filter(callable).collect();
        if alive.is_empty() {
            return dead;
        }
        dead.retain(|tool| !alive.contains(tool));
    }
}

/// Returns the first rule none of whose premises can be met.
fn missing<'r>(rules: &'r [Rule], dead: &BTreeSet<&Tool>) -> Option<&'r Rule> {
    rules.iter().find(|rule| match &rule.kind {
        // A refused call needs no earlier calls.
        RuleKind::After(any) => {
            rule.condition.is_none()
                && any.iter().all(|premise| {
                    !matches!(premise.was, Was::Asked | Was::Refused)
                        && premise.tools.iter().all(|tool| dead.contains(tool))
                })
        }
        _ => false,
    })
}

impl<'p> Lint<'p> {
    fn add(&mut self, path: &str, is_error: bool, message: String, help: String) {
        self.findings.push(LintFinding { path: path.to_owned(), is_error, message, help });
    }

    fn dead_tools(&mut self) {
        for tool in self.dead.clone() {
            let Some((rule, circle)) = self.circle(tool) else { continue };
            let names: Vec<_> = circle.iter().map(|tool| format!("`{tool}`")).collect();
            let path = rule.path.clone();
            let message = format!("`{tool}` can never be called: {}", names.join(" after "));
            self.add(&path, true, message, "remove one of these rules, or name another tool in it".to_owned());
        }
    }

    /// Returns the rule that keeps a dead tool from being called, and the tools that wait for each other.
    fn circle(&self, tool: &'p Tool) -> Option<(&'p Rule, Vec<&'p Tool>)> {
        let next = |tool: &Tool| {
            let rule = missing(&self.policy.tools.get(tool)?.rules, &self.dead)?;
            let premise = rule.kind.premises().iter().flat_map(|premise| &premise.tools).next()?;
            Some((rule, premise))
        };
        let (first, _) = next(tool)?;
        let mut circle = vec![tool];
        while let Some((_, before)) = circle.last().and_then(|tool| next(tool)) {
            let is_closed = circle.contains(&before);
            circle.push(before);
            if is_closed {
                break;
            }
        }
        Some((first, circle))
    }

    fn contradictions(&mut self, tool: &Tool, rules: &[Rule]) {
        let directly: Vec<_> =
            rules.iter().filter(|rule| rule.condition.is_none()).filter_map(directly_after).collect();
        let contradicted = directly.iter().enumerate().find_map(|(index, (rule, per, second))| {
            // Calls in another scope do not cancel.
            let mut before = directly.iter().take(index).filter(|(_, other, _)| other == per);
            before.find(|(.., first)| first != second).map(|(.., first)| (rule, first, second))
        });
        if let Some((rule, first, second)) = contradicted {
            let message =
                format!("`{tool}` can never be called: it has to come directly after both `{first}` and `{second}`");
            self.add(&rule.path, true, message, "name the other tool in `only`".to_owned());
        }
        for rule in rules.iter().filter(|rule| rule.condition.is_none()) {
            let RuleKind::After(any) = &rule.kind else { continue };
            let [premise] = any.as_slice() else { continue };
            self.forbidden(tool, rule, premise, rules);
            self.too_often(tool, rule, premise);
        }
    }

    /// Reports a premise whose calls a ban forbids.
    fn forbidden(&mut self, tool: &Tool, rule: &Rule, premise: &Premise, rules: &[Rule]) {
        let bans = rules.iter().filter(|ban| ban.condition.is_none()).filter_map(|ban| match &ban.kind {
            RuleKind::NeverAfter(forbidden) => Some((ban, forbidden)),
            _ => None,
        });
        for (ban, forbidden) in bans {
            if forbids(forbidden, premise) {
                let message = format!(
                    "`{tool}` can never be called: `{}` forbids the calls that `{}` needs",
                    ban.path, rule.path
                );
                self.add(
                    &ban.path,
                    true,
                    message,
                    "add an `until` to the ban, or remove one of the two rules".to_owned(),
                );
            }
        }
    }

    /// Reports a premise that must have succeeded more often than its tool may be called.
    fn too_often(&mut self, tool: &Tool, rule: &Rule, premise: &Premise) {
        let [named] = premise.tools.as_slice() else { return };
        let Some(entry) = self.policy.tools.get(named) else { return };
        for limit in &entry.rules {
            let RuleKind::MaxCalls(calls, counted) = &limit.kind else { continue };
            let is_whole = counted.args.is_none() && counted.same.is_empty() && counted.tools.contains(named);
            // Within a window, long calls may have been made one after the other and end together.
            let is_longer = counted.within_ms.is_none();
            let is_wider = counted.per == premise.per || counted.per == Per::All;
            let is_made = matches!(counted.was, Was::Made)
                && matches!(premise.was, Was::Ok | Was::Made | Was::Done | Was::Confirmed);
            if limit.condition.is_none() && is_whole && is_longer && is_wider && is_made && premise.times > *calls {
                let message = format!(
                    "`{tool}` can never be called: it needs {} calls of `{named}`, and `{}` allows {calls}",
                    premise.times, limit.path
                );
                let help = format!("write `times = {calls}`, or raise the limit");
                self.add(&rule.path, true, message, help);
                return;
            }
        }
    }

    fn debts(&mut self, tool: &Tool, rules: &[Rule]) {
        for rule in rules {
            let RuleKind::BeforeEnd(owed) = &rule.kind else { continue };
            let cannot = owed.tools.iter().map(|settles| {
                if self.dead.contains(settles) {
                    return Some(format!("`{settles}` can never be called"));
                }
                let bans = self.policy.tools.get(settles).into_iter().flat_map(|entry| &entry.rules);
                let opener = Premise::new(vec![tool.clone()], Was::Ok);
                bans.filter(|ban| ban.condition.is_none()).find_map(|ban| match &ban.kind {
                    RuleKind::NeverAfter(forbidden) if forbids(forbidden, &opener) => {
                        Some(format!("`{}` forbids `{settles}` after `{tool}`", ban.path))
                    }
                    _ => None,
                })
            });
            let cannot: Option<Vec<_>> = cannot.collect();
            if let Some(why) = cannot.filter(|why| !why.is_empty()) {
                let message = format!("the debt of `{tool}` can never be settled: {}", why.join("; "));
                self.add(&rule.path, true, message, "name a tool that can be called after it".to_owned());
            }
        }
    }
}

/// Returns the tool that a rule requires directly before the call, and the scope. Only calls that were made count as in
/// between: a call that need not have been made can come after the other one.
fn directly_after(rule: &Rule) -> Option<(&Rule, Per, &Tool)> {
    let RuleKind::After(any) = &rule.kind else { return None };
    let [premise] = any.as_slice() else { return None };
    let [tool] = premise.tools.as_slice() else { return None };
    let is_directly = premise.until.iter().any(|until| until.is_other && until.tools.is_empty());
    let is_made = matches!(premise.was, Was::Ok | Was::Made | Was::Done | Was::Confirmed);
    (is_directly && is_made).then_some((rule, premise.per, tool))
}

/// Returns whether a ban that nothing lifts counts every call that a premise needs.
fn forbids(ban: &Premise, premise: &Premise) -> bool {
    let counts = match (ban.was, premise.was) {
        (Was::Asked, _) => true,
        (Was::Made, Was::Ok | Was::Made | Was::Done | Was::Confirmed) => true,
        (Was::Done, Was::Ok | Was::Done | Was::Confirmed) => true,
        (Was::Ok, Was::Ok | Was::Confirmed) => true,
        (ban, premise) => ban == premise,
    };
    let is_longer = match (ban.within_ms, premise.within_ms) {
        (None, _) => true,
        // An intent is older than its outcome.
        (Some(longer), Some(shorter)) => ban.was.has_answer() && premise.was.has_answer() && longer >= shorter,
        (Some(_), None) => false,
    };
    let is_wider = ban.per == premise.per || ban.per == Per::All;
    // An equal `same` ties both to the same calls.
    let is_same = ban.same.is_empty() || ban.same == premise.same;
    counts
        && is_longer
        && is_wider
        && is_same
        && ban.until.is_empty()
        && ban.args.is_none()
        && ban.answer.is_none()
        && ban.times <= premise.times
        && premise.tools.iter().all(|tool| ban.tools.contains(tool))
}
