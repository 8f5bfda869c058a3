//! Rules: the earlier or later calls on which a call depends.
//!
//! Every rule asks one question about calls: how many fit a [`Premise`] within its window and scope, and have not been
//! cancelled since. `after` needs some of them, `never_after` forbids them, `max` bounds them, and `before_end` asks
//! the question about later calls.

pub mod config;
mod duration;
pub mod neutral;
mod rule_set;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::values::ValueTest;

pub use duration::{MAX_WINDOW_MS, duration, shown};
pub(crate) use rule_set::{Bound, Duty, Link, Role, ToolRules, Watch, described};
pub use rule_set::{ContentId, RuleSet};

/// Tool of a server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "ToolNames", into = "ToolNames")]
pub struct Tool {
    /// Server that lists the tool.
    pub server: Arc<str>,
    /// Name of the tool on its server.
    pub name: Arc<str>,
}

impl Tool {
    /// Creates the identifier of a tool.
    pub fn new(server: &str, name: &str) -> Self {
        Self { server: server.into(), name: name.into() }
    }
}

/// Names of a tool as written.
#[derive(Serialize, Deserialize)]
struct ToolNames {
    server: String,
    tool: String,
}

impl From<ToolNames> for Tool {
    fn from(names: ToolNames) -> Self {
        Self::new(&names.server, &names.tool)
    }
}

impl From<Tool> for ToolNames {
    fn from(tool: Tool) -> Self {
        Self { server: tool.server.as_ref().to_owned(), tool: tool.name.as_ref().to_owned() }
    }
}

/// Writes `server/tool`, the form in which rules name a tool.
impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.server, self.name)
    }
}

/// Order rules of all allowed tools, and waiting times.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Maximum time in milliseconds that a call waits for a running premise.
    pub wait_ms: u64,
    /// Time in milliseconds for which a call without its premise is held back, once.
    pub gather_ms: u64,
    /// Idle time in milliseconds after which a session of a program ends.
    pub idle_ms: u64,
    /// Rules of each allowed tool. Calls of other tools are not recorded.
    pub tools: BTreeMap<Tool, ToolPolicy>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            wait_ms: DEFAULT_WAIT_MS,
            gather_ms: DEFAULT_GATHER_MS,
            idle_ms: DEFAULT_IDLE_MS,
            tools: BTreeMap::new(),
        }
    }
}

/// Default of `wait`, in milliseconds.
pub const DEFAULT_WAIT_MS: u64 = 30_000;
/// Default of `gather`, in milliseconds.
pub const DEFAULT_GATHER_MS: u64 = 100;
/// Default of `idle`, in milliseconds.
pub const DEFAULT_IDLE_MS: u64 = 24 * 3_600_000;

impl Policy {
    /// Returns the path of the first rule with the scope of a turn.
    #[must_use]
    pub fn rule_per_turn(&self) -> Option<&str> {
        self.rule_per(Per::Turn)
    }

    /// Returns the path of the first rule with the scope of a session.
    #[must_use]
    pub fn rule_per_session(&self) -> Option<&str> {
        self.rule_per(Per::Session)
    }

    fn rule_per(&self, scope: Per) -> Option<&str> {
        let mut rules = self.tools.values().flat_map(|tool| &tool.rules);
        let rule = rules.find(|rule| rule.kind.premises().iter().any(|premise| premise.per == scope))?;
        Some(&rule.path)
    }
}

/// Order rules of one tool.
#[derive(Clone, Debug, Default)]
pub struct ToolPolicy {
    /// Whether a human may be asked to confirm a call.
    pub may_confirm: bool,
    /// Rules in the order in which they are judged: `after`, `never_after`, `max`, `before_end`.
    pub rules: Vec<Rule>,
}

/// Rule about the calls of one tool.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Question that the rule asks.
    pub kind: RuleKind,
    /// Test of the call's arguments (`if`); the rule concerns only calls that fit.
    pub condition: Option<Test>,
    /// Path of the rule in the configuration, such as `allow[1].after[0]`. Empty if it has none.
    pub path: String,
}

/// Kind of a rule.
#[derive(Clone, Debug)]
pub enum RuleKind {
    /// At least `times` facts of one of the premises.
    After(Vec<Premise>),
    /// Fewer than `times` facts that have not been lifted.
    NeverAfter(Premise),
    /// At most this many calls, this one included.
    MaxCalls(u32, Premise),
    /// At most this total, this call included.
    MaxSum(u64, Arc<str>, Premise),
    /// A later call that the session or turn owes once the call has succeeded.
    BeforeEnd(Premise),
}

impl RuleKind {
    /// Returns the premises of the rule.
    #[must_use]
    pub fn premises(&self) -> &[Premise] {
        match self {
            Self::After(premises) => premises,
            Self::NeverAfter(premise)
            | Self::MaxCalls(_, premise)
            | Self::MaxSum(_, _, premise)
            | Self::BeforeEnd(premise) => std::slice::from_ref(premise),
        }
    }
}

/// Calls that a rule counts.
#[derive(Clone, Debug)]
pub struct Premise {
    /// Tools, any one of which suffices.
    pub tools: Vec<Tool>,
    /// Outcome of the call.
    pub was: Was,
    /// Test of the arguments (`where`).
    pub args: Option<Test>,
    /// Test of the answer.
    pub answer: Option<Test>,
    /// Members that must be equal in both calls.
    pub same: Vec<Pair>,
    /// Age in milliseconds from which a fact no longer counts.
    pub within_ms: Option<u64>,
    /// Number of facts.
    pub times: u32,
    /// Scope of the calls that count.
    pub per: Per,
    /// Later calls that cancel the earlier one.
    pub until: Vec<Until>,
}

impl Premise {
    /// Creates a premise with only tools and an outcome.
    #[must_use]
    pub fn new(tools: Vec<Tool>, was: Was) -> Self {
        Self {
            tools,
            was,
            args: None,
            answer: None,
            same: Vec::new(),
            within_ms: None,
            times: 1,
            per: Per::Session,
            until: Vec::new(),
        }
    }
}

/// Calls that cancel an earlier one.
#[derive(Clone, Debug)]
pub struct Until {
    /// Tools, any one of which suffices.
    pub tools: Vec<Tool>,
    /// Whether all other allowed tools are meant (`only`).
    pub is_other: bool,
    /// Outcome of the call.
    pub was: Was,
    /// Test of the arguments (`where`).
    pub args: Option<Test>,
    /// Test of the answer.
    pub answer: Option<Test>,
    /// Members that must be equal in the cancelling and the cancelled call.
    pub same: Vec<Pair>,
}

/// Members of two calls that must be equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Pointer into the arguments of the later call.
    pub arg: Arc<str>,
    /// Member of the earlier call.
    pub earlier: Member,
}

/// Member of a call's arguments or of its answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Member {
    /// Part of the call that contains the member.
    pub side: Side,
    /// JSON pointer without `*`.
    pub pointer: Arc<str>,
}

/// Part of a call that a pointer refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// Arguments.
    Args,
    /// Answer: the `result` as the client receives it.
    Answer,
}

/// Test of a call's arguments or answer.
pub type Test = Arc<dyn ValueTest>;

/// Outcome of an earlier call that a premise needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Was {
    /// Answered without an error.
    Ok,
    /// Ended in any other way.
    Failed,
    /// May have run.
    Made,
    /// May have run, and has not failed.
    Done,
    /// Succeeded after a human's confirmation.
    Confirmed,
    /// Was requested, made or not.
    Asked,
    /// Was refused.
    Refused,
}

impl Was {
    /// All outcomes, with their names in a configuration.
    pub const ALL: [(&'static str, Self); 7] = [
        ("ok", Self::Ok),
        ("failed", Self::Failed),
        ("made", Self::Made),
        ("done", Self::Done),
        ("confirmed", Self::Confirmed),
        ("asked", Self::Asked),
        ("refused", Self::Refused),
    ];

    /// Finds an outcome by its name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().find(|(name, _)| *name == text).map(|(_, was)| *was)
    }

    /// Returns whether only a call with a known answer has this outcome.
    #[must_use]
    pub fn has_answer(self) -> bool {
        matches!(self, Self::Ok | Self::Confirmed)
    }
}

/// Scope of a rule, which determines the calls that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// Calls of the same session.
    Session,
    /// Calls of the same turn of the same session.
    Turn,
    /// Calls of all sessions.
    All,
}

impl Per {
    /// All scopes, with their names in a configuration.
    pub const ALL: [(&'static str, Self); 3] = [("session", Self::Session), ("turn", Self::Turn), ("all", Self::All)];

    /// Finds a scope by its name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().find(|(name, _)| *name == text).map(|(_, per)| *per)
    }
}

/// Maximum number of calls that a limit counts, and of calls of a tool that are remembered for later rules.
pub const MAX_CALLS: u32 = 1000;
/// Maximum number of rules of a tool.
pub const MAX_RULES: usize = 32;
/// Maximum number of premises of a rule.
pub const MAX_PREMISES: usize = 32;
/// Maximum number of pairs in `same`.
pub const MAX_PAIRS: usize = 8;
