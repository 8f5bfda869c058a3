//! Counts for auditors: refused calls, confirmed calls, and calls in doubt.

use std::collections::BTreeMap;

use omen_gate::audit::{LogVerification, Logged};
use serde::Serialize;

use super::calls::{OpenCalls, result};
use super::order::OrderCounts;
use super::waiting::Waiting;

/// Counts of the entries so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    calls: OpenCalls,
    waiting: Waiting,
    refused: BTreeMap<String, u64>,
    confirmed: u64,
    bypasses: u64,
    order: OrderCounts,
}

/// Status of a call according to one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Standing {
    /// The call was refused by a rule or a person.
    Refused,
    /// A person confirmed the call.
    Confirmed,
    /// The call was owed and was not made in time (O-4).
    Owed,
    /// The call may have run: the log has its intent but no outcome.
    InDoubt,
}

/// Counts of a whole log.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogCounts {
    /// Refused calls, by the code of the rule.
    pub(crate) refused: BTreeMap<String, u64>,
    pub(crate) confirmed: u64,
    /// Number of calls that bypassed the gate.
    pub(crate) bypasses: u64,
    /// Entry numbers of the intents of calls in doubt.
    pub(crate) in_doubt: Vec<u64>,
    /// Number of calls waiting for confirmation, in a gate that has the log open.
    pub(crate) waiting: usize,
    /// Number of calls still waiting for confirmation when their gate ended.
    pub(crate) unconfirmed: usize,
    pub(crate) order: OrderCounts,
}

impl LogCounts {
    /// Returns the number of refused calls.
    pub(crate) fn refusals(&self) -> u64 {
        self.refused.values().sum()
    }
}

impl Tally {
    /// Counts the next entry, and returns the status that it gives its call, if any.
    pub(crate) fn add(&mut self, entry: Logged<'_>) -> Option<Standing> {
        self.waiting.sees(entry);
        self.bypasses += u64::from(entry.kind() == super::BYPASS);
        self.calls.tool(entry);
        if self.order.add(entry) {
            return Some(Standing::Owed);
        }
        if let Some(code) = refused_by(entry) {
            *self.refused.entry(code.to_owned()).or_default() += 1;
            return Some(Standing::Refused);
        }
        let is_confirmed = entry.kind() == "confirmation" && result(entry).as_deref() == Some("allowed");
        self.confirmed += u64::from(is_confirmed);
        is_confirmed.then_some(Standing::Confirmed)
    }

    pub(crate) fn end(self, found: &LogVerification) -> LogCounts {
        let open = self.waiting.len();
        let (waiting, ended) = if found.is_in_use { (open, 0) } else { (0, open) };
        LogCounts {
            in_doubt: self.calls.sequences(),
            unconfirmed: self.waiting.abandoned + ended,
            refused: self.refused,
            confirmed: self.confirmed,
            bypasses: self.bypasses,
            waiting,
            order: self.order,
        }
    }
}

/// Returns the code of the rule that refused a call, if the entry is a refusal.
pub(super) fn refused_by<'e>(entry: Logged<'e>) -> Option<&'e str> {
    let code = entry.data().get("code")?.as_str()?;
    matches!(result(entry).as_deref(), None | Some("denied")).then_some(code)
}
