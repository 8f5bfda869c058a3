//! Verdicts as data, from which texts are rendered.

use std::fmt;

use crate::history::CallId;
use crate::rules::{Tool, Was};

/// Code of an order rule, as in `gate.json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OrderCode {
    /// What has to come before has not come.
    O1,
    /// A call that forbids this one came before.
    O2,
    /// A limit leaves no room.
    O3,
    /// Something is owed at the end.
    O4,
    /// What the call rests on has not ended in time.
    O5,
    /// Order cannot be judged.
    O6,
}

impl OrderCode {
    /// All codes.
    pub const ALL: [Self; 6] = [Self::O1, Self::O2, Self::O3, Self::O4, Self::O5, Self::O6];

    /// Code as text.
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
    /// The call may be made; premises that it rests on.
    Allow {
        /// Calls that count for its `after` rules.
        rests_on: Vec<CallId>,
    },
    /// The call has to wait for calls in flight.
    Wait {
        /// Calls that it waits for.
        on: Vec<CallId>,
    },
    /// The call is refused.
    Refuse(Box<Refusal>),
    /// The call was cancelled before it was made.
    Cancelled,
}

/// Kind of a rule, by its key in a configuration.
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
    /// Rule that refuses: its kind, its number among the rules of the tool, its path in the configuration.
    pub rule: Option<(RuleKindName, usize, String)>,
    /// Reason.
    pub cause: Cause,
    /// Time in milliseconds after which the call may be tried again, where waiting helps.
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
    /// Tools, of which any will do.
    pub tools: Vec<Tool>,
    /// Call that opened the debt, and its log entry.
    pub opener: (CallId, Option<u64>),
    /// Age of the debt in milliseconds.
    pub age_ms: u64,
    /// Members that the settling call needs.
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
        /// Whether it is known that the call ran.
        may_have_run: bool,
        /// Tools that lift the ban.
        lifted_by: Vec<Tool>,
        /// Members that are equal in both calls.
        members: Vec<String>,
    },
    /// A limit leaves no room.
    Full {
        /// Largest number of calls, or largest sum.
        limit: u64,
        /// Pointer of the amount, if the limit is a sum.
        sum: Option<String>,
        /// What is used, if all of it is this session's.
        used: Option<u64>,
        /// Window in milliseconds.
        within_ms: Option<u64>,
    },
    /// A call that this one rests on still runs.
    Waited {
        /// Tools of the calls.
        tools: Vec<Tool>,
        /// Time in milliseconds.
        ms: u64,
        /// Whether too many calls wait already.
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
    /// The condition of a rule cannot be decided, and the rule would refuse.
    Condition(Box<Refusal>),
    /// Earlier calls were not recorded for the rule.
    Unrecorded,
    /// Earlier calls were not recorded for the rule, which came into force so many milliseconds ago.
    Changed(u64),
    /// No more can be remembered.
    Memory,
}

/// Premise that a refused call needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissingPremise {
    /// Tools, of which any will do.
    pub tools: Vec<Tool>,
    /// Members that are equal in both calls, by their pointers into the refused call.
    pub members: Vec<String>,
    /// Window in milliseconds.
    pub within_ms: Option<u64>,
    /// Number of calls that are needed, and that there are.
    pub times: (usize, usize),
    /// Outcome that is needed.
    pub was: Option<Was>,
    /// Earlier call that comes nearest.
    pub nearest: Option<Nearest>,
}

/// Earlier call that comes nearest to a premise.
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

/// Why an earlier call does not count as a premise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyNot {
    /// It has another outcome.
    Outcome(&'static str),
    /// It is older than the window.
    TooOld,
    /// Members differ: pointers into the refused call.
    Other(Vec<String>),
    /// Its arguments or its answer do not fit.
    Differs,
    /// A later call of a tool has cancelled it.
    Cancelled(Tool),
    /// It is of another session or turn.
    OtherSession,
}

impl Cause {
    pub(crate) fn missing() -> Self {
        Self::Missing(Box::default())
    }

    /// Whether the verdict hangs on what was not recorded, or on a condition that cannot be decided.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        matches!(self, Self::Unrecorded | Self::Changed(_) | Self::Condition(_))
    }
}
