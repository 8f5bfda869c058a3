//! What a log says of order between calls: waits, premises, debts and sessions.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use omen_gate::audit::Logged;
use omen_gate::order::shown;
use serde::Serialize;
use serde_json::Value;

/// Counts of order between calls.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct OrderCounts {
    /// Calls that waited for a premise, and the longest wait.
    pub(crate) waited: u64,
    pub(crate) longest_wait_ms: u64,
    /// Calls that rest on earlier ones.
    pub(crate) dependent: u64,
    /// Debts that were not settled in time (O-4).
    pub(crate) owed: u64,
    pub(crate) sessions_begun: u64,
    /// Sessions that have ended, by how they ended.
    pub(crate) sessions_ended: BTreeMap<String, u64>,
    #[serde(skip)]
    open: BTreeSet<String>,
}

/// What the intent of a call says of its premises.
pub(super) struct RecordedPremises {
    pub(super) waited_ms: u64,
    /// Entries of the calls that it rests on.
    pub(super) entries: Vec<u64>,
}

impl RecordedPremises {
    pub(super) fn of(order: &Value) -> Self {
        let entries = order.get("for").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_u64);
        let waited_ms = order.get("waited_ms").and_then(Value::as_u64).unwrap_or(0);
        Self { waited_ms, entries: entries.collect() }
    }

    /// Returns the premises in words; empty if there are none.
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
    /// Counts the next entry. Returns whether it reports a debt.
    pub(crate) fn add(&mut self, entry: Logged<'_>) -> bool {
        let Some(order) = entry.data().get("order").filter(|_| entry.turn().is_some()) else { return false };
        let text = |member: &str| order.get(member).and_then(Value::as_str);
        match text("event") {
            Some("made") => {
                self.begin(text("session"));
                let RecordedPremises { waited_ms, entries } = RecordedPremises::of(order);
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

    /// Whether the log says nothing of order.
    pub(crate) fn is_empty(&self) -> bool {
        self.sessions_begun == 0
    }

    /// Longest wait, for people.
    pub(crate) fn longest_wait(&self) -> String {
        shown(self.longest_wait_ms)
    }

    /// Prints the counts for people; nothing if the log says nothing of order.
    pub(super) fn human(&self, out: &mut impl Write) -> io::Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let longest = if self.waited > 0 { format!("  longest {}", self.longest_wait()) } else { String::new() };
        writeln!(out, "\norder")?;
        writeln!(out, "  {:<40}{:>10}{longest}", "calls that waited", self.waited)?;
        writeln!(out, "  {:<40}{:>10}", "calls that rest on earlier ones", self.dependent)?;
        writeln!(out, "  {:<40}{:>10}", "debts that were not settled (O-4)", self.owed)?;
        writeln!(out, "  {:<40}{:>10}", "sessions begun", self.sessions_begun)?;
        for (how, count) in &self.sessions_ended {
            writeln!(out, "  {:<40}{count:>10}", format!("sessions {how}"))?;
        }
        writeln!(out, "  {:<40}{:>10}", "sessions open", self.sessions_open())
    }
}
