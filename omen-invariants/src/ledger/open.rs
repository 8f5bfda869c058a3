//! Directives that have no result yet.

use std::collections::{BTreeSet, HashMap};

use omen_types::{Instant, PacketFacts, TaskDirectivePayloadFacts};

use super::fingerprint::{Fingerprint, Kind, PassThrough};

/// A directive that has no result yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenDirective {
    /// Its packet id.
    pub packet_id: Box<str>,
    /// Its task id.
    pub task_id: Box<str>,
    /// When it was sent.
    pub created_at: Instant,
    /// How many seconds it may take: its own timeout, or else the time budget of its envelope (D35).
    pub timeout_seconds: u64,
    /// Number in the order of sending.
    order: u64,
}

/// The open directives of an episode.
///
/// Any number of them costs no more than logarithmic time a packet: a log may hold a million.
#[derive(Clone, Debug, Default)]
pub struct OpenDirectives {
    by_id: HashMap<Fingerprint, Box<OpenDirective>, PassThrough>,
    /// Deadlines of directives that were not yet reported as late.
    due: BTreeSet<Due>,
    sent: u64,
}

impl OpenDirectives {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// The open directive with a packet id.
    #[must_use]
    pub fn get(&self, packet_id: &str) -> Option<&OpenDirective> {
        self.by_id.get(&Fingerprint::of(Kind::Packet, packet_id)).map(Box::as_ref)
    }

    /// All of them, in the order of sending.
    #[must_use]
    pub fn in_order(&self) -> Vec<&OpenDirective> {
        let mut all: Vec<_> = self.by_id.values().map(Box::as_ref).collect();
        all.sort_unstable_by_key(|directive| directive.order);
        all
    }

    /// Those that are late at a time and were not so at any packet before, in the order of sending.
    #[must_use]
    pub fn newly_late(&self, now: Instant) -> Vec<&OpenDirective> {
        let mut late: Vec<_> = self
            .due
            .iter()
            .take_while(|due| due.at < now)
            .filter_map(|due| self.by_id.get(&due.id).map(Box::as_ref))
            .collect();
        late.sort_unstable_by_key(|directive| directive.order);
        late
    }

    /// Forgets the deadlines that have passed: each is reported once (D35).
    pub(super) fn mark_late(&mut self, now: Instant) {
        while self.due.first().is_some_and(|due| due.at < now) {
            self.due.pop_first();
        }
    }

    pub(super) fn add(&mut self, facts: &PacketFacts<'_>, directive: &TaskDirectivePayloadFacts<'_>) {
        let timeout_seconds = directive
            .timeout_seconds
            .map_or(facts.mcp.budgets.time_budget_seconds.get(), omen_types::PositiveCount::get);
        let id = Fingerprint::of(Kind::Packet, &facts.header.packet_id);
        let created_at = facts.header.created_at;
        let open = OpenDirective {
            packet_id: facts.header.packet_id.as_ref().into(),
            task_id: directive.task_id.as_ref().into(),
            created_at,
            timeout_seconds,
            order: self.sent,
        };
        self.due.insert(open.due(id));
        self.by_id.insert(id, Box::new(open));
        self.sent += 1;
    }

    pub(super) fn close(&mut self, packet_id: &str) {
        let id = Fingerprint::of(Kind::Packet, packet_id);
        if let Some(closed) = self.by_id.remove(&id) {
            self.due.remove(&closed.due(id));
        }
    }
}

/// When a directive is due; ordered by time, then by the order of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: Instant,
    order: u64,
    id: Fingerprint,
}

impl OpenDirective {
    fn due(&self, id: Fingerprint) -> Due {
        Due { at: self.created_at.plus_seconds(self.timeout_seconds), order: self.order, id }
    }
}
