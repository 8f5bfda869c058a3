//! Root causes of findings: determines which findings would not exist without an earlier rejected packet (D55).
//!
//! From the first rejected packet of an episode on, a second, *charitable* machine judges the episode in parallel with
//! the log's own machine. It treats a rejected packet as a packet that the sender may have meant. A finding that it
//! does not report follows from the rejected packets.
//!
//! The charitable machine is a short list of hypotheses, each with its own machine, because a packet may have been
//! meant in several ways. If the log's machine rejects a packet and a hypothesis accepts it, the rejection is a
//! consequence, and hypotheses that refuse the packet are dropped. So charity is as narrow as the log permits, and does
//! not hide an independent second mistake: a packet that every hypothesis refuses is a root cause.
//!
//! Hypotheses are evaluated lazily; see [`deferred`].
//!
//! A packet with a wrong time is accepted, but later packets may be rejected because of the clock that it set. It is a
//! root cause, too: the hypotheses treat it as if it had been sent in time (D83).
//!
//! Nothing in this module affects a verdict. A log without a rejected packet never uses it, unless its times go backwards.

mod deferred;
mod encoding;
mod episode;
mod finding;
mod hypothesis;
mod lenient;
mod lost;
mod repair;
mod suppose;
#[cfg(test)]
#[expect(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]
mod tests;

use std::collections::HashMap;
use std::ops::Deref;

use foldhash::fast::RandomState;
use omen_fsm::Machine;
use omen_invariants::ledger::bytes::{Reader, Writer};
use omen_types::scalar::TextScalar as _;
use omen_types::{CorrelationId, Diagnostic, Instant, PacketType, Rejected};
use serde_json::Value;

use super::options::ValidatorOptions;
use crate::finding::Cause;

pub(super) use episode::PacketVerdict;
pub(super) use finding::Follows;
pub(super) use lost::LostLine;

use deferred::DeferredEpisode;
use episode::Hypotheses;
use finding::Ends;
use lost::LostLines;
use repair::PACKET_TYPE;

/// Hypotheses of all episodes that need them.
#[derive(Debug)]
pub(super) struct RootCauses {
    by_id: HashMap<Box<str>, DeferredEpisode, RandomState>,
    /// Lines that may be packets of any episode.
    lost: LostLines,
    /// Number of entries at which outdated ones are removed.
    crowded: usize,
    /// Remaining bytes for deferred packets, in addition to those already deferred.
    room: usize,
}

impl Default for RootCauses {
    fn default() -> Self {
        Self::one_of(1)
    }
}

impl RootCauses {
    /// Creates one of `parts` instances that together may defer as many bytes as a single one.
    pub(super) fn one_of(parts: usize) -> Self {
        Self::with_room(MOST_WAITING / parts.max(1))
    }

    /// Creates an instance that may defer the given number of bytes.
    pub(super) fn with_room(room: usize) -> Self {
        Self { by_id: HashMap::default(), lost: LostLines::default(), crowded: 0, room }
    }

    /// Reduces the memory for deferred packets to a share of `1 / parts`.
    pub(super) fn share(&mut self, parts: usize) {
        let waiting: usize = self.by_id.values().map(DeferredEpisode::bytes).sum();
        self.room = (MOST_WAITING / parts.max(1)).saturating_sub(waiting);
    }

    /// Writes the state to a snapshot. Deferred packets are judged first, so they do not have to be written.
    pub(super) fn write(&mut self, options: &ValidatorOptions, writer: &mut Writer<'_>) {
        let ids: Vec<Box<str>> = self.by_id.keys().cloned().collect();
        for id in ids {
            self.settled(&id, options);
        }
        self.by_id.retain(|_, known| !known.is_over());
        let mut all: Vec<_> = self.by_id.iter().collect();
        all.sort_unstable_by_key(|(id, _)| *id);
        writer.number(all.len() as u64);
        for (id, known) in all {
            writer.text(id);
            known.write(writer);
        }
        self.lost.write(writer);
    }

    /// Reads the state from a snapshot.
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let by_id = (0..reader.count()).map(|_| (reader.text().into(), DeferredEpisode::read(reader))).collect();
        Self { by_id, lost: LostLines::read(reader), ..Self::default() }
    }

    /// Returns whether nothing has been rejected so far.
    pub(super) fn is_idle(&self) -> bool {
        self.by_id.is_empty() && self.lost.is_empty()
    }

    /// Processes a packet that the episode's machine has judged but not accepted yet. Returns which of its findings
    /// follow from an earlier packet.
    #[cold]
    pub(super) fn judged(
        &mut self,
        line: u64,
        text: Option<&str>,
        judged: &PacketVerdict<'_, '_>,
        options: &ValidatorOptions,
    ) -> Follows {
        let id = &*judged.facts.header.correlation_id;
        let follows = self.follows(line, id, text, judged, options);
        self.lost.packet(line, id);
        follows
    }

    fn follows(
        &mut self,
        line: u64,
        id: &str,
        text: Option<&str>,
        judged: &PacketVerdict<'_, '_>,
        options: &ValidatorOptions,
    ) -> Follows {
        let known = match self.by_id.get_mut(id).map(|known| (known.begins(line), known)) {
            Some((true, known)) => known,
            _ if judged.accepted => return Follows::Nothing,
            _ => {
                self.remove(id);
                self.by_id.entry(id.into()).or_default()
            }
        };
        let room = &mut self.room;
        // The first rejected packet can only follow from an unreadable line.
        let is_first = known.is_over() && self.lost.before(line, id, 0).is_none();
        if (is_first || judged.verdict.is_clean()) && deferred(room, known, line, text, judged) {
            return Follows::Nothing;
        }
        *room += known.bytes();
        let hypotheses = known.settled(options);
        if hypotheses.is_none() && !judged.accepted {
            *hypotheses = Some(Hypotheses::new(judged.machine.clone()));
        }
        if !judged.accepted
            && let Some(follows) = hypotheses.as_ref().and_then(|all| all.root(line, judged, options, &self.lost))
            && deferred(room, known, line, text, judged)
        {
            return follows;
        }
        let hypotheses = known.settled(options);
        let follows = hypotheses.as_mut().map(|hypotheses| hypotheses.packet(line, judged, options, &self.lost));
        hypotheses.take_if(|hypotheses| hypotheses.is_over());
        if known.is_over() {
            self.by_id.remove(id);
        }
        follows.unwrap_or(Follows::Nothing)
    }

    /// Records a packet dated later than the rest of its episode, before judging the packet that reveals this (D83).
    #[cold]
    pub(super) fn ahead(
        &mut self,
        line: u64,
        id: &str,
        (cause, before): (Cause, Option<Instant>),
        machine: &Machine,
        options: &ValidatorOptions,
    ) {
        self.begun(line, id, machine, options).ahead(cause, before);
    }

    /// Starts the hypotheses of an episode at a packet that is behind, before that packet is judged (D83).
    #[cold]
    pub(super) fn behind(&mut self, line: u64, id: &str, machine: &Machine, options: &ValidatorOptions) {
        self.begun(line, id, machine, options);
    }

    /// Records a packet that was behind as the cause of later findings.
    #[cold]
    pub(super) fn wrong_time(&mut self, id: &str, cause: Cause, options: &ValidatorOptions) {
        if let Some(hypotheses) = self.settled(id, options) {
            hypotheses.wrong_time(cause);
        }
    }

    /// Returns the hypotheses of an episode, creating them from `machine` if there are none yet.
    fn begun(&mut self, line: u64, id: &str, machine: &Machine, options: &ValidatorOptions) -> &mut Hypotheses {
        if self.by_id.get(id).is_some_and(|known| known.is_stale(line)) {
            self.remove(id);
        }
        let Self { by_id, room, .. } = self;
        let known = by_id.entry(id.into()).or_default();
        known.begins(line);
        *room += known.bytes();
        known.settled(options).get_or_insert_with(|| Hypotheses::new(machine.clone()))
    }

    /// Processes a line that is not a packet. `machine` returns the machine of an episode that has begun.
    #[cold]
    pub(super) fn broken<M: Deref<Target = Machine>>(
        &mut self,
        line: u64,
        text: Option<&str>,
        rejected: &Rejected,
        options: &ValidatorOptions,
        machine: impl FnOnce(&str) -> Option<M>,
    ) {
        let id = match claimed(text, rejected) {
            ClaimedIdentity::Episode(id) => id,
            ClaimedIdentity::Nothing(packet_type) => return self.lost.add(LostLine { line, packet_type }),
        };
        self.make_room(line);
        if self.by_id.get(id.as_str()).is_some_and(|known| known.is_stale(line)) {
            self.remove(&id);
        }
        let machine = machine(&id);
        let first =
            || if machine.is_some() { DeferredEpisode::default() } else { DeferredEpisode::before_the_first(line) };
        let known = self.by_id.entry(id.as_str().into()).or_insert_with(first);
        let fresh = Machine::default();
        let machine = machine.as_deref().unwrap_or(&fresh);
        let before = known.bytes();
        if known.broken(line, text, rejected, machine, self.room) {
            self.room -= known.bytes() - before;
        } else {
            self.room += before;
            let hypotheses = known.settled(options);
            let hypotheses = hypotheses.get_or_insert_with(|| Hypotheses::new(machine.clone()));
            hypotheses.broken(line, text, &rejected.claims, options);
        }
        self.lost.packet(line, &id);
    }

    /// Records a line that may be a packet of any episode, and that is reported elsewhere.
    pub(super) fn lost(&mut self, line: LostLine) {
        self.lost.add(line);
    }

    /// Returns which findings at the end of an episode follow from an earlier packet.
    ///
    /// `line` is the last line of the stream so far.
    pub(super) fn at_end(
        &mut self,
        line: u64,
        id: &str,
        found: &[(Option<&str>, Diagnostic)],
        options: &ValidatorOptions,
    ) -> Ends {
        let lost = self.lost.latest(line);
        match self.settled(id, options) {
            Some(hypotheses) => hypotheses.at_end(found, options, lost),
            None => Ends { causes: Vec::new(), lost },
        }
    }

    /// Advances the time (see [`Machine::tick`]). Returns the cause of findings on directives that are not really open.
    pub(super) fn tick(
        &mut self,
        id: &str,
        now: Instant,
        options: &ValidatorOptions,
    ) -> Option<(Cause, Vec<Box<str>>)> {
        self.settled(id, options)?.tick(now)
    }

    /// Forgets an episode.
    pub(super) fn end(&mut self, id: &str) {
        self.remove(id);
    }

    /// Returns the hypotheses of an episode, after judging its deferred packets.
    fn settled(&mut self, id: &str, options: &ValidatorOptions) -> Option<&mut Hypotheses> {
        let known = self.by_id.get_mut(id)?;
        self.room += known.bytes();
        known.settled(options).as_mut()
    }

    fn remove(&mut self, id: &str) {
        self.room += self.by_id.remove(id).map_or(0, |known| known.bytes());
    }

    /// Once there are many entries, removes those of episodes that did not begin long after their rejected packets: a line
    /// of junk must not use memory forever. Such entries are ignored anyway, so the time of their removal has no effect.
    fn make_room(&mut self, line: u64) {
        if self.by_id.len() >= self.crowded {
            let Self { by_id, room, .. } = self;
            by_id.retain(|_, known| {
                let is_needed = !known.is_stale(line);
                if !is_needed {
                    *room += known.bytes();
                }
                is_needed
            });
            self.crowded = (2 * self.by_id.len()).max(CROWDED);
        }
    }
}

/// Defers a packet if possible, and subtracts its size from `room`.
fn deferred(
    room: &mut usize,
    known: &mut DeferredEpisode,
    line: u64,
    text: Option<&str>,
    judged: &PacketVerdict<'_, '_>,
) -> bool {
    let before = known.bytes();
    let waits = text.is_some_and(|text| known.packet(line, text, judged.machine, *room));
    *room -= known.bytes() - before;
    waits
}

/// Identity that a rejected line claims, as far as it can be guessed.
pub(super) enum ClaimedIdentity {
    Episode(String),
    /// No episode, but possibly a packet type.
    Nothing(Option<PacketType>),
}

/// Returns the identity that a rejected line claims.
pub(super) fn claimed(text: Option<&str>, rejected: &Rejected) -> ClaimedIdentity {
    let member = |name| match lenient::member(text?, name)? {
        Value::String(text) => Some(text),
        _ => None,
    };
    let id = || member("correlation_id").filter(|id| CorrelationId::holds(id));
    match rejected.claims.correlation_id.clone().or_else(id) {
        Some(id) => ClaimedIdentity::Episode(id),
        None => ClaimedIdentity::Nothing(
            rejected.claims.packet_type.or_else(|| repair::nearest_type(&member(PACKET_TYPE)?)),
        ),
    }
}

/// Number of entries below which none is removed.
const CROWDED: usize = 1024;

/// Maximum size of deferred packets in bytes: 128 MiB, enough for some twenty thousand episodes with a rejected packet.
/// Further packets are judged immediately.
const MOST_WAITING: usize = 128 * 1024 * 1024;
