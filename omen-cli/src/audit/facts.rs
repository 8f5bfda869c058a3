//! Properties of an entry that filters test.

use omen_gate::audit::Logged;
use serde_json::Value;

use super::calls::{OpenCalls, call_of, result};
use super::waiting::Waiting;

/// An entry, with properties that depend on earlier entries.
pub(super) struct EntryFacts<'e> {
    pub(super) entry: Logged<'e>,
    pub(super) kind: String,
    /// `server/tool`.
    pub(super) tool: Option<String>,
    /// Outcome as one word.
    pub(super) outcome: Option<String>,
    /// Whether the entry is a decision whose call is waiting for confirmation.
    pub(super) waits: bool,
}

impl<'e> EntryFacts<'e> {
    pub(super) fn new(entry: Logged<'e>, calls: &mut OpenCalls, waiting: &mut Waiting) -> Self {
        let (tool, waits) = (calls.tool(entry), waiting.sees(entry));
        let outcome = if waits { Some("waits".to_owned()) } else { result(entry) };
        Self { entry, kind: entry.kind(), tool, outcome, waits }
    }

    pub(super) fn code(&self) -> Option<&'e str> {
        self.entry.data().get("code").and_then(Value::as_str)
    }

    pub(super) fn tool(&self) -> Option<(&str, &str)> {
        self.tool.as_deref()?.split_once('/')
    }

    /// Returns whether the entry is about a tool, given as a name or `server/tool`.
    pub(super) fn is_about(&self, wanted: &str) -> bool {
        self.tool.as_deref() == Some(wanted) || self.tool().is_some_and(|(_, name)| name == wanted)
    }

    /// Returns whether the entry is about a call whose hash starts with this prefix.
    pub(super) fn is_call(&self, wanted: &str) -> bool {
        !wanted.is_empty() && call_of(self.entry).is_some_and(|call| call.starts_with(&wanted.to_ascii_lowercase()))
    }
}
