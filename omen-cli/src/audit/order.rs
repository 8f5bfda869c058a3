//! Order between calls in a log: waits, premises, debts and sessions.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use omen_gate::audit::Logged;
use omen_gate::order::shown;
use serde::Serialize;
use serde_json::Value;

/// Statistics of the order between calls.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct OrderCounts {
    /// Number of calls that waited for a premise.
    pub(crate) waited: u64,
    pub(crate) longest_wait_ms: u64,
    /// Number of calls that depend on earlier ones.
    pub(crate) dependent: u64,
    /// Number of debts that were not settled in time (O-4).
    pub(crate) owed: u64,
    pub(crate) sessions_begun: u64,
    /// Number of ended sessions, by the way they ended.
    pub(crate) sessions_ended: BTreeMap<String, u64>,
    #[serde(skip)]
    open: BTreeSet<String>,
}

/// The premises that the intent of a call records.
pub(super) struct RecordedPremises {
    pub(super) waited_ms: u64,
    /// Entry numbers of the calls that this call depends on.
    pub(super) entries: Vec<u64>,
}

impl RecordedPremises {
    pub(super) fn from_json(order: &Value) -> Self {
        let entries = order.get("for").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_u64);
        let waited_ms = order.get("waited_ms").and_then(Value::as_u64).unwrap_or(0);
        Self { waited_ms, entries: entries.collect() }
    }

    /// Formats the premises as text; empty if there are none.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        if self.waited_ms > 0 {
            text.push_str(&format!("; waited {}", shown(self.waited_ms)));
        }
        if !self.entries.is_empty() {
            let entries: Vec<_> = self.entries.iter().map(u64::to_string).collect();
            text.push_str(&format!("; for {}", entries.join(", ")));
        }
        text
    }
}

impl OrderCounts {
    /// Counts the next entry. Returns whether it reports an overdue debt.
    pub(crate) fn add(&mut self, entry: Logged<'_>) -> bool {
        let Some(order) = entry.data().get("order").filter(|_| entry.turn().is_some()) else { return false };
        let text = |member: &str| order.get(member).and_then(Value::as_str);
        match text("event") {
            Some("made") => {
                self.begin(text("session"));
                let RecordedPremises { waited_ms, entries } = RecordedPremises::from_json(order);
                self.waited += u64::from(waited_ms > 0);
                self.longest_wait_ms = self.longest_wait_ms.max(waited_ms);
                self.dependent += u64::from(!entries.is_empty());
            }
            Some("refused" | "session_began") => self.begin(text("session")),
            Some("session_ended") => {
                let is_open = text("session").is_some_and(|session| self.open.remove(session));
                let how = entry.data().get("how").and_then(Value::as_str).unwrap_or("unknown").to_owned();
                *self.sessions_ended.entry(how).or_default() += u64::from(is_open);
            }
            Some("found") => {
                self.owed += 1;
                return true;
            }
            _ => {}
        }
        false
    }

    fn begin(&mut self, session: Option<&str>) {
        if let Some(session) = session
            && self.open.insert(session.to_owned())
        {
            self.sessions_begun += 1;
        }
    }

    /// Number of sessions that have not ended.
    pub(crate) fn sessions_open(&self) -> u64 {
        self.open.len() as u64
    }

    /// Returns whether the log records nothing about order.
    pub(crate) fn is_empty(&self) -> bool {
        self.sessions_begun == 0
    }

    pub(crate) fn longest_wait(&self) -> String {
        shown(self.longest_wait_ms)
    }

    /// Prints the counts for people; nothing if the log records nothing about order.
    pub(super) fn human(&self, out: &mut impl Write) -> io::Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let longest = if self.waited > 0 { format!("  longest {}", self.longest_wait()) } else { String::new() };
        writeln!(out, "\norder")?;
        writeln!(out, "  {:<40}{:>10}{longest}", "calls that waited", self.waited)?;
        writeln!(out, "  {:<40}{:>10}", "calls that depend on earlier ones", self.dependent)?;
        writeln!(out, "  {:<40}{:>10}", "debts that were not settled (O-4)", self.owed)?;
        writeln!(out, "  {:<40}{:>10}", "sessions begun", self.sessions_begun)?;
        for (how, count) in &self.sessions_ended {
            writeln!(out, "  {:<40}{count:>10}", format!("sessions {how}"))?;
        }
        writeln!(out, "  {:<40}{:>10}", "sessions open", self.sessions_open())
    }
}
