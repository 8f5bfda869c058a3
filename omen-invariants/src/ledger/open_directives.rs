//! Directives without a result.

use std::collections::BTreeSet;
use std::num::NonZeroU64;

use omen_types::{Instant, PacketFacts, StakesLevel, TaskDirectivePayloadFacts};

use super::bytes::{Reader, Size, Writer};
use super::fingerprint::{Fingerprint, Kind};
use super::table::Table;

/// Directive without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenDirective {
    /// Packet id.
    pub packet_id: Box<str>,
    /// Task id.
    pub task_id: Box<str>,
    /// Time at which it was sent.
    pub created_at: Instant,
    /// Time limit in seconds: the directive's own timeout, or otherwise the time budget of its envelope (D35).
    pub timeout_seconds: u64,
    /// Line of its packet in the log, if known.
    pub line: Option<NonZeroU64>,
    /// Maximum number of retries, if stated.
    pub max_retries: Option<u64>,
    /// Sequence number in sending order.
    order: u64,
    /// Whether its stakes are CRITICAL (D69).
    is_critical: bool,
    /// Whether it was reported as late.
    is_known_late: bool,
}

/// Open directives of an episode.
///
/// A packet takes at most logarithmic time in the number of open directives, because a log may have a million of them.
#[derive(Clone, Debug, Default)]
pub struct OpenDirectives {
    by_id: Table<OpenDirective>,
    /// Deadlines of directives not yet reported as late; kept only if there are many directives.
    #[expect(clippy::box_collection, reason = "most episodes never have it: a pointer, not three words")]
    due: Option<Box<BTreeSet<Deadline>>>,
    sent: u64,
}

impl OpenDirectives {
    /// Returns whether no directive is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of open directives.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Returns the open directive with a packet id.
    #[must_use]
    pub fn get(&self, packet_id: &str) -> Option<&OpenDirective> {
        match self.due {
            // Comparing a few texts is faster than hashing one.
            None => self.by_id.iter().map(|(_, directive)| directive).find(|open| *open.packet_id == *packet_id),
            Some(_) => self.by_id.get(Fingerprint::new(Kind::Packet, packet_id)),
        }
    }

    /// Returns all open directives, in sending order.
    #[must_use]
    pub fn in_order(&self) -> Vec<&OpenDirective> {
        ordered(self.by_id.iter().map(|(_, directive)| directive))
    }

    /// Returns the directives that are late at a given time and were not reported yet, in sending order.
    #[must_use]
    pub fn newly_late(&self, now: Instant) -> Vec<&OpenDirective> {
        let late = |due: &&Deadline| due.at < now;
        match &self.due {
            Some(due) => ordered(due.iter().take_while(late).filter_map(|due| self.by_id.get(due.id))),
            None => ordered(
                self.by_id
                    .iter()
                    .map(|(_, directive)| directive)
                    .filter(|directive| !directive.is_known_late && directive.deadline() < now),
            ),
        }
    }

    /// Drops the deadlines that have passed, because each is reported once (D35). Returns whether any of them belonged
    /// to a directive with CRITICAL stakes.
    pub(super) fn mark_late(&mut self, now: Instant) -> bool {
        let mut critical = false;
        let mut mark = |directive: &mut OpenDirective| {
            critical |= directive.is_critical && !directive.is_known_late;
            directive.is_known_late = true;
        };
        let Some(due) = &mut self.due else {
            self.by_id.for_each(|directive| {
                if directive.deadline() < now {
                    mark(directive);
                }
            });
            return critical;
        };
        while let Some(first) = due.first().filter(|due| due.at < now).copied() {
            due.pop_first();
            if let Some(directive) = self.by_id.get_mut(first.id) {
                mark(directive);
            }
        }
        critical
    }

    /// Adds a directive. `id` is the fingerprint of the packet's id, `line` the packet's line in the log.
    pub(super) fn add(
        &mut self,
        id: Fingerprint,
        line: Option<NonZeroU64>,
        facts: &PacketFacts<'_>,
        directive: &TaskDirectivePayloadFacts<'_>,
    ) {
        let timeout_seconds = directive
            .timeout_seconds
            .map_or(facts.mcp.budgets.time_budget_seconds.get(), omen_types::PositiveCount::get);
        let created_at = facts.header.created_at;
        let open = OpenDirective {
            packet_id: facts.header.packet_id.as_ref().into(),
            task_id: directive.task_id.as_ref().into(),
            created_at,
            timeout_seconds,
            line,
            max_retries: directive
                .retry_policy
                .as_ref()
                .and_then(|policy| policy.max_retries)
                .map(omen_types::Count::get),
            order: self.sent,
            is_critical: facts.mcp.stakes.stakes_level == StakesLevel::Critical,
            is_known_late: false,
        };
        self.sent += 1;
        if self.due.is_none() && self.len() >= Table::<OpenDirective>::FEW {
            self.keep_deadlines();
        }
        if let Some(due) = &mut self.due {
            due.insert(open.due(id));
        }
        self.by_id.insert(id, open);
    }

    fn keep_deadlines(&mut self) {
        let pending = self.by_id.iter().filter(|(_, directive)| !directive.is_known_late);
        self.due = Some(Box::new(pending.map(|(id, directive)| directive.due(id)).collect()));
    }

    pub(super) fn close(&mut self, packet_id: &str) {
        match &mut self.due {
            None => drop(self.by_id.remove_first(|directive| *directive.packet_id == *packet_id)),
            Some(due) => {
                let id = Fingerprint::new(Kind::Packet, packet_id);
                if let Some(closed) = self.by_id.remove(id) {
                    due.remove(&closed.due(id));
                }
            }
        }
        if self.is_empty() {
            // Also resets order and deadlines.
            *self = Self::default();
        }
    }
}

impl OpenDirectives {
    /// Writes the directives if there are few of them, and returns whether they were written.
    pub(super) fn pack(&self, size: Size, writer: &mut Writer<'_>) -> bool {
        writer.number(self.len() as u64);
        if self.is_empty() {
            return true;
        }
        if size == Size::Small && self.due.is_some() {
            return false;
        }
        writer.number(self.sent);
        match size {
            Size::Small => self.by_id.iter().for_each(|(_, directive)| directive.pack(writer)),
            Size::Any => self.in_order().into_iter().for_each(|directive| directive.pack(writer)),
        }
        true
    }

    /// Returns the fingerprints of the packet ids and task ids of all open directives.
    pub(super) fn fingerprints(&self) -> Vec<Fingerprint> {
        self.by_id.iter().flat_map(|(id, directive)| [id, Fingerprint::new(Kind::Task, &directive.task_id)]).collect()
    }

    pub(super) fn unpack(reader: &mut Reader<'_>) -> Self {
        let mut directives = Self::default();
        let count = reader.count();
        if count == 0 {
            return directives;
        }
        directives.sent = reader.number();
        for _ in 0..count {
            let directive = OpenDirective::unpack(reader);
            directives.by_id.insert(Fingerprint::new(Kind::Packet, &directive.packet_id), directive);
        }
        if directives.len() > Table::<OpenDirective>::FEW {
            directives.keep_deadlines();
        }
        directives
    }
}

fn ordered<'o>(directives: impl Iterator<Item = &'o OpenDirective>) -> Vec<&'o OpenDirective> {
    let mut all: Vec<_> = directives.collect();
    all.sort_unstable_by_key(|directive| directive.order);
    all
}

/// Deadline of a directive, ordered by time and then by sending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Deadline {
    at: Instant,
    order: u64,
    id: Fingerprint,
}

impl OpenDirective {
    fn deadline(&self) -> Instant {
        self.created_at.plus_seconds(self.timeout_seconds)
    }

    fn due(&self, id: Fingerprint) -> Deadline {
        Deadline { at: self.deadline(), order: self.order, id }
    }

    fn pack(&self, writer: &mut Writer<'_>) {
        let Self { packet_id, task_id, created_at, timeout_seconds, line, max_retries, order, .. } = self;
        writer.text(packet_id);
        writer.text(task_id);
        writer.time(*created_at);
        writer.number(*timeout_seconds);
        writer.number(line.map_or(0, NonZeroU64::get));
        writer.number(*order);
        writer.flags([self.is_critical, self.is_known_late, max_retries.is_some(), false, false, false, false, false]);
        max_retries.iter().for_each(|most| writer.number(*most));
    }

    fn unpack(reader: &mut Reader<'_>) -> Self {
        let (packet_id, task_id) = (reader.text().into(), reader.text().into());
        let (created_at, timeout_seconds) = (reader.time(), reader.number());
        let (line, order) = (NonZeroU64::new(reader.number()), reader.number());
        let [is_critical, is_known_late, has_most, ..] = reader.flags();
        let max_retries = has_most.then(|| reader.number());
        Self { packet_id, task_id, created_at, timeout_seconds, line, max_retries, order, is_critical, is_known_late }
    }
}
