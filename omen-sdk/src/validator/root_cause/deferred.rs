//! Deferred evaluation of hypotheses.
//!
//! Most packets after a rejected one are legal and have no findings, so no cause is needed. Their texts are kept, and
//! the hypotheses judge them only when a packet arrives whose findings may follow from an earlier one. The time of the
//! evaluation does not affect the findings.

use std::mem;

use omen_fsm::Machine;
use omen_invariants::ledger::bytes::{Reader, Writer};
use omen_types::{Claims, PacketFacts, Rejected};

use super::super::options::ValidatorOptions;
use super::episode::{Hypotheses, PacketVerdict};
use super::finding::is_accepted;
use super::hypothesis::{Hypothesis, PackedHypothesis};
use super::lost::LostLines;

/// Hypotheses of an episode, and the packets that they have not judged yet.
#[derive(Debug, Default)]
pub(super) struct DeferredEpisode {
    /// `None` if the hypotheses start with the deferred packets, or if none are left.
    hypotheses: Option<Hypotheses>,
    waiting: Vec<Waiting>,
    /// State of the log's own machine before the deferred packets.
    machine: Option<PackedHypothesis>,
    /// Size of the deferred packets in bytes.
    bytes: usize,
    /// Line of the first rejected packet, if the episode had no valid packet before it.
    before_the_first: Option<u64>,
}

/// Deferred line.
#[derive(Debug)]
struct Waiting {
    line: u64,
    text: Option<Box<str>>,
    /// What the line claims about itself, if it does not match its schema.
    broken: Option<Claims>,
}

impl DeferredEpisode {
    /// Creates the entry for an episode whose first packet is rejected.
    pub(super) fn before_the_first(line: u64) -> Self {
        Self { before_the_first: Some(line), ..Self::default() }
    }

    /// Writes the state to a snapshot; no packet may be deferred, and the hypotheses must have started.
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        // Line numbers start at 1, so 0 represents `None`.
        writer.number(self.before_the_first.unwrap_or_default());
        if let Some(hypotheses) = &self.hypotheses {
            hypotheses.write(writer);
        }
    }

    /// Reads the state from a snapshot.
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let before_the_first = Some(reader.number()).filter(|line| *line > 0);
        Self { before_the_first, hypotheses: Some(Hypotheses::read(reader)), ..Self::default() }
    }

    /// Records a packet of the episode, possibly its first. Returns whether this entry concerns that episode: a packet
    /// that was rejected long before its first packet does not.
    pub(super) fn begins(&mut self, line: u64) -> bool {
        let begins = !self.is_stale(line);
        if begins {
            self.before_the_first = None;
        }
        begins
    }

    /// Returns whether the episode's first packet was rejected long ago and the episode has not begun since.
    pub(super) fn is_stale(&self, line: u64) -> bool {
        self.before_the_first.is_some_and(|begun| begun + LONG < line)
    }

    /// Returns the size of the deferred packets in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Defers a valid packet if it fits into `room` bytes. `machine` is the log's own machine before the packet. The
    /// packet must have no finding that may follow from an earlier one.
    pub(super) fn packet(&mut self, line: u64, text: &str, machine: &Machine, room: usize) -> bool {
        self.wait(Waiting { line, text: Some(text.into()), broken: None }, machine, room)
    }

    /// Defers a line that is not a valid packet, like [`packet`](Self::packet).
    pub(super) fn broken(
        &mut self,
        line: u64,
        text: Option<&str>,
        rejected: &Rejected,
        machine: &Machine,
        room: usize,
    ) -> bool {
        let broken = Some(rejected.claims.clone());
        self.wait(Waiting { line, text: text.map(Box::from), broken }, machine, room)
    }

    fn wait(&mut self, one: Waiting, machine: &Machine, room: usize) -> bool {
        let bytes = size_of::<Waiting>() + one.text.as_ref().map_or(0, |text| text.len());
        if bytes > room.min(MOST_OF_ONE.saturating_sub(self.bytes)) {
            return false;
        }
        if self.machine.is_none() {
            let Some(kept) = PackedHypothesis::packed(machine) else { return false };
            self.machine = Some(kept);
        }
        self.waiting.push(one);
        self.bytes += bytes;
        true
    }

    /// Judges the deferred packets and returns the hypotheses; `None` if they have not started, or if none are left.
    pub(super) fn settled(&mut self, options: &ValidatorOptions) -> &mut Option<Hypotheses> {
        self.bytes = 0;
        if let Some(machine) = self.machine.take() {
            let Hypothesis { mut machine, .. } = machine.wake();
            for one in mem::take(&mut self.waiting) {
                self.judge(one, &mut machine, options);
            }
        }
        &mut self.hypotheses
    }

    fn judge(&mut self, one: Waiting, machine: &mut Machine, options: &ValidatorOptions) {
        let Waiting { line, text, broken } = one;
        if let Some(claims) = broken {
            let hypotheses = self.hypotheses.get_or_insert_with(|| Hypotheses::new(machine.clone()));
            hypotheses.broken(line, text.as_deref(), &claims, options);
            return;
        }
        // INVARIANT: only packets with facts are deferred.
        let Some(Ok(facts)) = text.as_deref().map(PacketFacts::parse) else { return };
        let mut verdict = machine.judge(&facts, options.now);
        options.levels.apply(&mut verdict.invariants);
        let accepted = is_accepted(&verdict);
        if !accepted && self.hypotheses.is_none() {
            self.hypotheses = Some(Hypotheses::new(machine.clone()));
        }
        if let Some(hypotheses) = &mut self.hypotheses {
            let judged = PacketVerdict { facts: &facts, machine, verdict: &verdict, accepted };
            // A packet that a lost line might explain is not deferred.
            hypotheses.packet(line, &judged, options, &LostLines::default());
            if hypotheses.is_over() {
                self.hypotheses = None;
            }
        }
        if accepted {
            machine.accept(&facts, &verdict);
        }
    }

    /// Returns whether no further cause can be found.
    pub(super) fn is_over(&self) -> bool {
        self.hypotheses.is_none() && self.waiting.is_empty()
    }
}

/// Number of lines after which a rejected packet no longer counts as the first packet of an episode.
const LONG: u64 = 10_000;

/// Maximum size of an episode's deferred packets in bytes: some dozens of packets, which take about a millisecond to judge.
const MOST_OF_ONE: usize = 128 * 1024;
