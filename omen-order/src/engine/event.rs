//! Input and output of the state machine.

use std::sync::Arc;

use serde_json::Value;

use crate::history::{CallId, Ended};
use crate::judge::{Owed, Verdict};
use crate::rules::{ContentId, Tool};

/// Request for a call.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Tool. Calls of tools without an entry are not recorded.
    pub tool: Tool,
    /// Session.
    pub session: String,
    /// Turn in the session.
    pub turn: String,
    /// Arguments; `None` if they were not recorded.
    pub args: Option<Arc<Value>>,
    /// Whether a human must confirm the call before it is made.
    pub must_confirm: bool,
    /// Whether another rule refuses the call.
    pub is_refused: bool,
}

/// Effect of a verdict on the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Calls wait and are refused.
    Enforce,
    /// Calls are made at once, whatever the verdict: shadow mode, and the replay of recorded calls.
    Observe,
}

/// Owner of the sessions of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionsOf {
    /// Clients: a session ends when its client leaves, or with the gate.
    Clients,
    /// A program: sessions outlive the gate, and end after an idle period.
    Program,
    /// A recorded log, which states when sessions end.
    Record,
}

/// Why a debt is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HowEnded {
    /// Its session or turn has ended.
    Ended,
    /// Its deadline has passed.
    Overdue,
}

/// Output of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// The call is allowed so far, but needs a confirmation.
    Confirm(CallId),
    /// The call waits.
    Waits(CallId),
    /// Final verdict on a call. In shadow mode, a refused call is made as well.
    Verdict(CallId, Verdict),
    /// Another rule has refused the call.
    Refused(CallId),
    /// The call has ended.
    Ended(CallId, Ended),
    /// A session has begun, which must be logged.
    SessionBegan(String),
    /// A session has ended.
    SessionEnded {
        /// Session.
        session: String,
        /// Debts of the session.
        owed: Vec<Owed>,
        /// Whether it ended because of inactivity.
        is_idle: bool,
    },
    /// A debt was not settled in time.
    Found(Finding),
    /// Other rules came into force.
    Reloaded,
}

/// Debt that was not settled in time (O-4).
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The debt, with the call that opened it and that call's log entry.
    pub owed: Owed,
    /// Index of the rule among those of the opener's tool.
    pub rule: usize,
    /// Content of the rule, for the log.
    pub content: ContentId,
    /// Path of the rule in the configuration.
    pub path: String,
    /// Why the debt is reported.
    pub how: HowEnded,
    /// Whether a call may have settled the debt.
    pub is_uncertain: bool,
}
