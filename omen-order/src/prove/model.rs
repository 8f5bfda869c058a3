//! Types of a comparison.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::rules::{Policy, Rule, RuleKind, Test, Tool};

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
    /// Calls that only the new rules allow, at most one for each tool.
    pub differences: Vec<Difference>,
    /// Tools for which the question was not decided.
    pub outside: Vec<UndecidedTool>,
    /// Number of tools that were searched; the others are equal on both sides.
    pub searched: usize,
    /// Number of states that the searches visited.
    pub states: usize,
}

/// Shortest sequence of calls whose last one only the new rules allow.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Calls in their order.
    pub steps: Vec<ProvenStep>,
    /// Why the old rules refuse the last call.
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
    /// The rate is used up.
    Rate,
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

/// Rule on order that stands for a tool's rate in `max`: at most that number of intents within a window, in all sessions.
pub(super) fn rate_rule(tool: &Tool, admission: &Admission) -> Option<Rule> {
    let (calls, within_ms) = admission.rate?;
    let premise = crate::rules::Premise {
        within_ms: Some(within_ms),
        per: crate::rules::Per::All,
        ..crate::rules::Premise::of(vec![tool.clone()], crate::rules::Was::Made)
    };
    Some(Rule { kind: RuleKind::MaxCalls(calls, premise), condition: None, path: String::new() })
}
