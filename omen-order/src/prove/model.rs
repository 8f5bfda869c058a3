//! Types of a comparison.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::rules::{Per, Policy, Premise, Rule, RuleKind, Test, Tool, Was};

/// One of the two rule sets.
#[derive(Clone, Debug, Default)]
pub struct RuleSide {
    /// Order rules.
    pub policy: Policy,
    /// Allowed tools.
    pub entries: BTreeMap<Tool, Admission>,
}

/// Checks of a tool's calls before the order rules.
#[derive(Clone, Debug, Default)]
pub struct Admission {
    /// Text that is equal for equal admissions.
    pub content: String,
    /// Approved form of the tool; a call of any other form is refused.
    pub pin: Option<String>,
    /// Reason why no call of the tool passes, if any.
    pub closed: Option<String>,
    /// Whether a human must confirm each call.
    pub must_confirm: bool,
    /// Whether that differs between its calls, which `must_confirm` then does not say.
    pub may_confirm: bool,
    /// Test of the arguments that a call has to fit.
    pub args: Option<Test>,
    /// Maximum number of intents within a time in milliseconds.
    pub rate: Option<(u32, u64)>,
    /// Maximum number of intents for which its grants have uses.
    pub uses: Option<u32>,
    /// Time in milliseconds since 1970 from which its grants have expired.
    pub expires: Option<i64>,
    /// What cannot be decided about the tool, if anything.
    pub outside: Option<String>,
}

/// Values that represent all others in the tests of both sides.
pub trait Values {
    /// Returns the JSON pointers that a test reads.
    ///
    /// # Errors
    /// The reason why its values cannot be represented.
    fn pointers(&self, test: &Test) -> Result<Vec<Arc<str>>, String>;

    /// Values at places that are compared with each other, by class: all tests at all places take those of one class
    /// alike. A class has `distinct` values, or all that there are. `None` is a missing member. If integers are wanted, those
    /// from 0 on have classes of their own, and what a class has of the wanted ones, the largest one and the smallest one come first.
    ///
    /// # Errors
    /// Why they cannot be represented.
    fn classes(&self, places: &[ValuePlace], distinct: usize, wanted: &[i64]) -> Result<Vec<ValueClass>, String>;
}

/// Values that no test distinguishes; `None` is a missing member.
pub type ValueClass = Vec<Option<Value>>;

/// Place of values: a pointer into the arguments or the answer of a tool, with all tests that read it.
#[derive(Clone, Debug)]
pub struct ValuePlace {
    /// JSON pointer.
    pub pointer: Arc<str>,
    /// Tests of the arguments or the answer.
    pub tests: Vec<Test>,
}

/// Result of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Calls that only the new rules allow, and ends of sessions that only the old rules report: at most one of each per tool.
    pub differences: Vec<Difference>,
    /// Tools for which the question was not decided.
    pub outside: Vec<UndecidedTool>,
    /// Number of tools that were searched. The others are equal on both sides.
    pub searched: usize,
    /// Number of states that the searches visited.
    pub states: usize,
}

/// Shortest sequence of calls whose last call only the new rules allow, or after which only the old rules report what the
/// session owes.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Tool of the call or the debt.
    pub tool: Tool,
    /// Time of the first call in milliseconds since 1970, if the time of day matters.
    pub start: Option<i64>,
    /// Calls in their order.
    pub steps: Vec<ProvenStep>,
    /// Index of the session that ends after the calls, if its debts are the difference.
    pub ended_session: Option<usize>,
    /// Why the old rules refuse the last call, or which old rule reports the debt.
    pub why: WhyRefused,
    /// Whether a rule of both sides was left out of the search, so that it might refuse a call of the sequence.
    pub has_left_out: bool,
}

/// Reason why the old rules refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyRefused {
    /// The tool has no entry.
    NotAllowed,
    /// Another form of the tool is approved.
    OtherPin,
    /// No call of the tool passes.
    Closed(String),
    /// The arguments do not fit.
    Arguments,
    /// The grants have expired.
    Expired,
    /// A limit of intents is used up.
    Limit(IntentLimit),
    /// A member that a rule must recognize in later calls cannot be compared.
    Incomparable,
    /// Path of the order rule; empty if it has none.
    Rule(String),
}

/// Call of a sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct ProvenStep {
    /// Time in milliseconds since the previous call.
    pub pause_ms: u64,
    /// Tool.
    pub tool: Tool,
    /// Index of the session.
    pub session: usize,
    /// Index of the turn in the session.
    pub turn: usize,
    /// Arguments.
    pub args: Value,
    /// Outcome.
    pub end: StepEnd,
}

/// Outcome of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum StepEnd {
    /// It succeeded with this answer.
    Ok(Value),
    /// It failed.
    Failed,
    /// It may have run.
    MayHaveRun,
    /// It did not run.
    DidNotRun,
    /// Both sides refused it.
    Refused,
}

/// Tool for which the question was not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndecidedTool {
    /// Tool in question.
    pub tool: Tool,
    /// Path of the rule at fault; empty if none is.
    pub path: String,
    /// Reason why it was not decided.
    pub why: String,
}

/// Limit of a tool's intents outside the order rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntentLimit {
    /// Rate of intents.
    Rate,
    /// Uses of grants.
    Uses,
}

/// Returns order rules that represent the limits of a tool's intents, over all sessions.
pub(super) fn intent_rules(tool: &Tool, admission: &Admission) -> impl Iterator<Item = (Rule, Option<IntentLimit>)> {
    let rule = |calls, within_ms| {
        let premise = Premise { within_ms, per: Per::All, ..Premise::new(vec![tool.clone()], Was::Made) };
        Rule { kind: RuleKind::MaxCalls(calls, premise), condition: None, path: String::new() }
    };
    let rate = admission.rate.map(|(calls, within_ms)| (rule(calls, Some(within_ms)), Some(IntentLimit::Rate)));
    let uses = admission.uses.map(|uses| (rule(uses, None), Some(IntentLimit::Uses)));
    rate.into_iter().chain(uses)
}

/// Returns the tool that represents the end of a session. No real tool has an empty name.
pub(super) fn session_end(opener: &Tool) -> Tool {
    Tool::new(&opener.server, "")
}

pub(super) fn is_session_end(tool: &Tool) -> bool {
    tool.name.is_empty()
}
