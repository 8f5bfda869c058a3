//! Audit log entry, whether or not its seal was verified.

use std::time::{SystemTime, UNIX_EPOCH};

use omen_order::{Ended, Entry, Tool};
use serde_json::{Map, Value};

use crate::base::GateCode;
use crate::request::messages::EPISODE;
use omen_audit::Logged;

/// Audit log entry.
#[derive(Clone, Copy, Debug)]
pub struct LogEntry<'e> {
    /// Entry number.
    pub sequence: u64,
    /// Time of writing (RFC 3339).
    pub time: &'e str,
    /// Entry kind, such as `intent`.
    pub kind: &'e str,
    /// Turn; `None` for entries of the log itself.
    pub turn: Option<&'e str>,
    /// Content.
    pub data: &'e Map<String, Value>,
}

/// Log entry that waits for another one.
#[derive(Clone, Debug)]
pub(super) struct QueuedEntry {
    pub(super) sequence: u64,
    time: String,
    kind: String,
    turn: Option<String>,
    data: Map<String, Value>,
    /// Data for the order rules.
    pub(super) order: Option<Entry>,
}

impl QueuedEntry {
    pub(super) fn new(entry: &LogEntry<'_>, order: Option<Entry>) -> Self {
        Self {
            sequence: entry.sequence,
            time: entry.time.to_owned(),
            kind: entry.kind.to_owned(),
            turn: entry.turn.map(str::to_owned),
            data: entry.data.clone(),
            order,
        }
    }

    pub(super) fn entry(&self) -> LogEntry<'_> {
        let Self { sequence, time, kind, turn, data, .. } = self;
        LogEntry { sequence: *sequence, time, kind, turn: turn.as_deref(), data }
    }

    pub(super) fn half(&self) -> Option<RefusalHalf> {
        RefusalHalf::from_entry(&self.entry(), self.order.as_ref())
    }
}

impl<'e> LogEntry<'e> {
    /// Creates an entry from a log entry with a valid seal, and its kind.
    #[must_use]
    pub fn new(entry: Logged<'e>, kind: &'e str) -> Self {
        Self { sequence: entry.sequence(), time: entry.time(), kind, turn: entry.turn(), data: entry.data() }
    }

    pub(super) fn text(&self, member: &str) -> Option<&str> {
        self.data.get(member).and_then(Value::as_str)
    }

    pub(super) fn tool(&self) -> Option<Tool> {
        serde_json::from_value(self.data.get("tool")?.clone()).ok()
    }

    pub(super) fn is_denied(&self) -> bool {
        self.text("outcome") == Some("denied")
    }

    pub(super) fn code(&self) -> Option<GateCode> {
        self.text("code").and_then(|code| code.parse().ok())
    }

    /// Returns the time in milliseconds since 1970.
    pub(super) fn millis(&self) -> Option<i64> {
        let time: SystemTime = humantime::parse_rfc3339(self.time).ok()?;
        i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
    }

    /// Returns how a call ended, from an outcome without data for the order rules.
    pub(super) fn end(&self) -> Ended {
        match (self.text("ran"), self.text("class"), self.data.contains_key("class")) {
            (Some("no"), ..) => Ended::DidNotRun,
            (Some("yes"), None, true) => Ended::Ok,
            (Some("yes"), ..) => Ended::Failed,
            _ => Ended::MayHaveRun,
        }
    }
}

/// Half of a refusal. A refusal has two entries, in any order: the decision, and its data for the order rules. The
/// verdict is reached at the first one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RefusalHalf {
    pub(super) turn: String,
    pub(super) tool: Tool,
    pub(super) is_decision: bool,
}

impl RefusalHalf {
    pub(super) fn from_entry(entry: &LogEntry<'_>, order: Option<&Entry>) -> Option<Self> {
        if let Some(Entry::Refused { tool, turn, .. }) = order {
            return Some(Self { turn: turn.clone(), tool: tool.clone(), is_decision: false });
        }
        // An episode refuses packets that are not calls for the gate, and PG-4 and PG-5 refuse answers.
        let is_decision = match entry.kind {
            "decision" => {
                entry.text("stage") != Some(EPISODE) && !matches!(entry.code(), Some(GateCode::Pg4 | GateCode::Pg5))
            }
            kind => kind == "confirmation",
        };
        let is_refusal = is_decision && order.is_none() && entry.is_denied();
        let (turn, tool) = (entry.turn.filter(|_| is_refusal)?.to_owned(), entry.tool()?);
        Some(Self { turn, tool, is_decision: true })
    }

    pub(super) fn is_completed_by(&self, other: &Self) -> bool {
        self.turn == other.turn && self.tool == other.tool && self.is_decision != other.is_decision
    }
}
