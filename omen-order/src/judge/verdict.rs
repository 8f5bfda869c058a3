//! Verdicts as data, from which texts are rendered.

use std::fmt;

use crate::history::CallId;
use crate::rules::{Tool, Was};

/// Code of an order rule, as in `gate.json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OrderCode {
    /// A required earlier call is missing.
    O1,
    /// An earlier call forbids this one.
    O2,
    /// A limit is reached.
    O3,
    /// Something is owed at the end.
    O4,
    /// A call on which this one rests has not ended in time.
    O5,
    /// Order cannot be judged.
    O6,
}

impl OrderCode {
    /// All codes.
    pub const ALL: [Self; 6] = [Self::O1, Self::O2, Self::O3, Self::O4, Self::O5, Self::O6];

    /// Returns the code as text.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::O1 => "O-1",
            Self::O2 => "O-2",
            Self::O3 => "O-3",
            Self::O4 => "O-4",
            Self::O5 => "O-5",
            Self::O6 => "O-6",
        }
    }
}

impl fmt::Display for OrderCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Verdict on a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The call may be made.
    Allow {
        /// Calls that its `after` rules count.
        rests_on: Vec<CallId>,
    },
    /// The call must wait for calls in flight.
    Wait {
        /// Calls that it waits for.
        on: Vec<CallId>,
    },
    /// The call is refused.
    Refuse(Box<Refusal>),
    /// The call was cancelled before it was made.
    Cancelled,
}

/// Kind of a rule, by its configuration key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleKindName {
    /// `after`
    After,
    /// `never_after`
    NeverAfter,
    /// `max`
    Max,
    /// `before_end`
    BeforeEnd,
}

/// Refusal by an order rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Code.
    pub code: OrderCode,
    /// Tool of the refused call.
    pub tool: Tool,
    /// The refusing rule: its kind, its index among the rules of the tool, its path in the configuration.
    pub rule: Option<(RuleKindName, usize, String)>,
    /// Reason.
    pub cause: Cause,
    /// Time in milliseconds after which the call may be retried, if waiting helps.
    pub retry_after_ms: Option<u64>,
    /// Calls that the session owes.
    pub owed: Vec<Owed>,
}

impl Refusal {
    pub(crate) fn new(code: OrderCode, tool: Tool, cause: Cause) -> Self {
        Self { code, tool, rule: None, cause, retry_after_ms: None, owed: Vec::new() }
    }
}

/// Calls that a session owes before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owed {
    /// Tools, any one of which suffices.
    pub tools: Vec<Tool>,
    /// Call that opened the debt, and its log entry.
    pub opener: (CallId, Option<u64>),
    /// Age of the debt in milliseconds.
    pub age_ms: u64,
    /// Members that the settling call must have.
    pub members: Vec<String>,
}

/// Reason of a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A premise is missing.
    Missing(Box<MissingPremise>),
    /// A call forbids this one.
    Forbidden {
        /// Tool of the call that forbids.
        tool: Tool,
        /// Age of that call in milliseconds.
        age_ms: u64,
        /// Log entry of that call.
        entry: Option<u64>,
        /// Whether it is unknown if the call ran.
        may_have_run: bool,
        /// Tools that lift the ban.
        lifted_by: Vec<Tool>,
        /// Members that are equal in both calls.
        members: Vec<String>,
    },
    /// A limit is reached.
    Full {
        /// Maximum number of calls, or maximum sum.
        limit: u64,
        /// Pointer of the amount, if the limit is a sum.
        sum: Option<String>,
        /// Amount used, if all of it was used by this session.
        used: Option<u64>,
        /// Window in milliseconds.
        within_ms: Option<u64>,
    },
    /// A call on which this one rests is still running.
    Waited {
        /// Tools of the running calls.
        tools: Vec<Tool>,
        /// Waiting time in milliseconds.
        ms: u64,
        /// Whether too many calls are waiting already.
        is_crowded: bool,
    },
    /// A member of the call cannot be compared or added.
    Member {
        /// Pointer into the arguments.
        pointer: String,
        /// Whether the member is missing.
        is_missing: bool,
        /// Whether the member is an amount.
        is_amount: bool,
    },
    /// The condition of a rule that would refuse cannot be decided.
    Condition(Box<Refusal>),
    /// Earlier calls were not recorded for the rule.
    Unrecorded,
    /// Earlier calls were not recorded for the rule, which came into force this many milliseconds ago.
    Changed(u64),
    /// Nothing more can be remembered.
    Memory,
}

/// Premise that a refused call needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissingPremise {
    /// Tools, any one of which suffices.
    pub tools: Vec<Tool>,
    /// Members that must be equal in both calls, by their pointers into the refused call.
    pub members: Vec<String>,
    /// Window in milliseconds.
    pub within_ms: Option<u64>,
    /// Number of calls needed, and number found.
    pub times: (usize, usize),
    /// Required outcome.
    pub was: Option<Was>,
    /// Nearest earlier call.
    pub nearest: Option<Nearest>,
}

/// Earlier call nearest to a premise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// Tool.
    pub tool: Tool,
    /// Log entry.
    pub entry: Option<u64>,
    /// Milliseconds since it ended, or since its intent if it is still running.
    pub age_ms: u64,
    /// Why it does not count.
    pub why: WhyNot,
}

/// Reason why an earlier call does not count as a premise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyNot {
    /// It has another outcome.
    Outcome(&'static str),
    /// It is outside the window.
    TooOld,
    /// Members differ: pointers into the refused call.
    Other(Vec<String>),
    /// Its arguments or its answer do not fit.
    Differs,
    /// A later call of this tool has cancelled it.
    Cancelled(Tool),
    /// It belongs to another session or turn.
    OtherSession,
}

impl Cause {
    pub(crate) fn missing() -> Self {
        Self::Missing(Box::default())
    }

    /// Returns whether the verdict depends on unrecorded facts, or on an undecidable condition.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        matches!(self, Self::Unrecorded | Self::Changed(_) | Self::Condition(_))
    }
}
