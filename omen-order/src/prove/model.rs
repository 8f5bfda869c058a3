//! Types of a comparison.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::rules::{Per, Policy, Premise, Rule, RuleKind, Test, Tool, Was};

/// One of the two rule sets.
#[derive(Clone, Debug, Default)]
pub struct RuleSide {
    /// Rules on order.
    pub policy: Policy,
    /// Allowed tools.
    pub entries: BTreeMap<Tool, Admission>,
}

/// What decides on a tool's calls before the rules on order do.
#[derive(Clone, Debug, Default)]
pub struct Admission {
    /// Text that is equal for equal admissions.
    pub content: String,
    /// Approved form of the tool; a call of another form is refused.
    pub pin: Option<String>,
    /// Why no call of the tool passes, if so.
    pub closed: Option<String>,
    /// Whether a human has to confirm each call.
    pub must_confirm: bool,
    /// Test of the arguments that a call has to fit.
    pub args: Option<Test>,
    /// Largest number of intents within a time in milliseconds.
    pub rate: Option<(u32, u64)>,
    /// Largest number of intents that its grants have uses for.
    pub uses: Option<u32>,
    /// What cannot be decided about the tool, if anything.
    pub outside: Option<String>,
}

/// Values that represent all others in the tests of both sides.
pub trait Values {
    /// JSON pointers that a test reads.
    ///
    /// # Errors
    /// Why its values cannot be represented.
    fn pointers(&self, test: &Test) -> Result<Vec<Arc<str>>, String>;

    /// Values at places that are compared with each other, by class: all tests at all places take those of one class
    /// alike. A class has `distinct` values, or all that there are. `None` is a missing member.
    ///
    /// # Errors
    /// Why they cannot be represented.
    fn classes(&self, places: &[ValuePlace], distinct: usize) -> Result<Vec<ValueClass>, String>;
}

/// Values that all tests take alike; `None` is a missing member.
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
    /// Calls that only the new rules allow, and ends of sessions that only the old rules report: at most one of each for a
    /// tool.
    pub differences: Vec<Difference>,
    /// Tools for which the question was not decided.
    pub outside: Vec<UndecidedTool>,
    /// Number of tools that were searched; the others are equal on both sides.
    pub searched: usize,
    /// Number of states that the searches visited.
    pub states: usize,
}

/// Shortest sequence of calls whose last one only the new rules allow, or after which only the old rules report what the
/// session owes.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Tool whose call or debt it is.
    pub tool: Tool,
    /// Calls in their order.
    pub steps: Vec<ProvenStep>,
    /// Number of the session that ends after the calls, if its debts are the difference.
    pub ended_session: Option<usize>,
    /// Why the old rules refuse the last call, or which rule reports the debt.
    pub why: WhyRefused,
    /// Whether a rule that both sides have was left out of the search, so that it may refuse a call of the sequence.
    pub has_left_out: bool,
}

/// Reason of the old rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyRefused {
    /// The tool has no entry.
    NotAllowed,
    /// The approved form is another one.
    OtherPin,
    /// No call of the tool passes.
    Closed(String),
    /// The arguments do not fit.
    Arguments,
    /// A limit of intents is used up.
    Limit(IntentLimit),
    /// A member that a rule has to recognize in later calls cannot be compared.
    Incomparable,
    /// Path of the rule on order; empty if it has none.
    Rule(String),
}

/// Call of a sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct ProvenStep {
    /// Time in milliseconds since the call before.
    pub pause_ms: u64,
    /// Tool.
    pub tool: Tool,
    /// Number of the session.
    pub session: usize,
    /// Number of the turn in the session.
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
    /// Tool.
    pub tool: Tool,
    /// Path of the rule at fault; empty if none is.
    pub path: String,
    /// Why.
    pub why: String,
}

/// Limit of a tool's intents beside the rules on order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntentLimit {
    /// Rate.
    Rate,
    /// Uses of grants.
    Uses,
}

/// Rules on order that stand for the limits of a tool's intents, in all sessions.
pub(super) fn intent_rules(tool: &Tool, admission: &Admission) -> impl Iterator<Item = (Rule, Option<IntentLimit>)> {
    let rule = |calls, within_ms| {
        let premise = Premise { within_ms, per: Per::All, ..Premise::of(vec![tool.clone()], Was::Made) };
        Rule { kind: RuleKind::MaxCalls(calls, premise), condition: None, path: String::new() }
    };
    let rate = admission.rate.map(|(calls, within_ms)| (rule(calls, Some(within_ms)), Some(IntentLimit::Rate)));
    let uses = admission.uses.map(|uses| (rule(uses, None), Some(IntentLimit::Uses)));
    rate.into_iter().chain(uses)
}
