//! Runtime machine: judges the next packet of an episode, and accepts it.

mod packed;
mod time_ahead;

pub use packed::PackedMachine;
pub use time_ahead::Ahead;

use std::num::NonZeroU64;

use omen_invariants::ledger::{Fingerprint, Kind, Obligations, Update};
use omen_invariants::rules::{inv_008_verification_loop, inv_011_task_closure};
use omen_invariants::{Context, Ledger};
use omen_types::{Diagnostic, Instant, PacketFacts, Severity};

use crate::rules::transition::Transition;
use crate::rules::{approval, end_of_stream, id_used_once, layer_of_sender, refusals};
use crate::table::{Event, LOOP_CLOSED_BY, LOOP_NODE, LOOP_OPENED_BY, Node, NodeSet, waived_by};

/// Episode as the validator sees it: its possible nodes, and its ledger.
///
/// Judging and accepting are separate, so that a refused packet leaves no trace (D1).
#[derive(Clone, Debug)]
pub struct Machine {
    nodes: NodeSet,
    ledger: Ledger,
}

/// Findings on a packet, by stage; the first stage with an error ends the check (D1).
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Event that the packet represents.
    pub event: Event,
    /// Possible nodes of the episode after the packet, if it is accepted.
    pub next: NodeSet,
    /// Clock of the episode at the packet.
    pub now: Instant,
    /// Findings of the schema stage about ids that are already used (D21).
    pub ids: Vec<Diagnostic>,
    /// Finding of the state machine's stage: the table and E1–E7. It names all violated rules (D37).
    pub fsm: Option<Box<Diagnostic>>,
    /// Findings of the invariants, errors and warnings; checked only if the earlier stages have no findings.
    pub invariants: Vec<Diagnostic>,
    /// Finding on an earlier packet that is ahead of the others, if this packet is the first to show that (D83).
    pub ahead: Option<Box<Ahead>>,
    /// Fingerprint of the packet's id, which `accept` needs again.
    id: Fingerprint,
}

impl Verdict {
    /// Returns whether there are no findings, not even a warning.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.ids.is_empty() && self.fsm.is_none() && self.invariants.is_empty()
    }

    /// Returns the errors of the stage that rejects the packet; empty if it is acceptable.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        let invariants = self.invariants.iter().filter(|finding| finding.severity == Severity::Error);
        self.ids.iter().chain(self.fsm.as_deref()).chain(invariants)
    }
}

impl Default for Machine {
    /// Returns an episode before its first packet.
    fn default() -> Self {
        Self { nodes: NodeSet::of(Node::INITIAL), ledger: Ledger::default() }
    }
}

impl Machine {
    /// Returns the possible nodes of the episode.
    #[must_use]
    pub fn nodes(&self) -> NodeSet {
        self.nodes
    }

    /// Returns the ledger of the episode.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Starts fetching the machine into the processor's cache, without waiting. With many episodes, the machine of the
    /// next packet is rarely cached; the machines of several packets are fetched in parallel if each is prefetched
    /// before the first is used.
    #[inline]
    pub fn prefetch(&self) {
        self.ledger.prefetch();
    }

    /// Prefetches the lists of the machine. Call [`prefetch`](Self::prefetch) first.
    #[inline]
    pub fn prefetch_lists(&self) {
        self.ledger.prefetch_lists();
    }

    /// Judges a packet that matches its schema. `fixed` replaces the episode's clock (D2).
    #[must_use]
    pub fn judge(&self, facts: &PacketFacts<'_>, fixed: Option<Instant>) -> Verdict {
        let event = Event::of(facts);
        let context = Context::new(facts, &self.ledger, fixed);
        let next = self.nodes.after(event);
        let id = Fingerprint::new(Kind::Packet, &facts.header.packet_id);
        let (ids, invariants) = (Vec::new(), Vec::new());
        let mut verdict = Verdict { event, next, now: context.now, ids, fsm: None, invariants, ahead: None, id };
        id_used_once::check(facts, id, &self.ledger, &mut verdict.ids);
        if verdict.ids.is_empty() {
            // A packet that is sent again has an earlier time, but proves nothing about the latest packet.
            verdict.ahead = Ahead::before(facts, &self.ledger);
            // Findings are moved, not copied; there are almost never any.
            if let Some(refusal) = refusals::check(&Transition { context, event, nodes: self.nodes, next }) {
                verdict.fsm = Some(Box::new(refusal));
            } else {
                omen_invariants::rules::check(&context, &mut verdict.invariants);
                approval::refine(&mut verdict.invariants, self.nodes, next);
                if event == LOOP_CLOSED_BY && self.nodes == NodeSet::of(LOOP_NODE) {
                    inv_008_verification_loop::check(&context, &mut verdict.invariants);
                }
                layer_of_sender::check(facts, event, &mut verdict.invariants);
            }
        }
        verdict
    }

    /// Accepts a packet that was just judged.
    pub fn accept(&mut self, facts: &PacketFacts<'_>, verdict: &Verdict) {
        self.take(facts, verdict, None);
    }

    /// Accepts a packet from a line of a log, like [`accept`](Self::accept). If a directive stays open, the finding
    /// names that line.
    pub fn accept_line(&mut self, facts: &PacketFacts<'_>, verdict: &Verdict, line: NonZeroU64) {
        self.take(facts, verdict, Some(line));
    }

    #[inline]
    fn take(&mut self, facts: &PacketFacts<'_>, verdict: &Verdict, line: Option<NonZeroU64>) {
        if verdict.ahead.is_some() {
            self.ledger.report_leap();
        }
        let in_loop = self.nodes == NodeSet::of(LOOP_NODE);
        let opens_loop = verdict.event == LOOP_OPENED_BY;
        self.ledger.accept_as(
            verdict.id,
            facts,
            verdict.now,
            Update {
                opens_loop,
                is_evidence: in_loop && verdict.event.is_evidence(),
                met: if in_loop { verdict.event.meets(facts) } else { Obligations::default() },
                waived: waived_by(facts),
                cancels: self.nodes == NodeSet::of(Node::SafeMode) && !verdict.next.contains(Node::SafeMode),
                line,
            },
        );
        self.nodes = verdict.next;
    }

    /// Records that the packet that is ahead was reported. [`accept`](Self::accept) does the same for the packet that
    /// reveals it.
    pub fn report_leap(&mut self) {
        self.ledger.report_leap();
    }

    /// Sets the clock back to a time before a packet that is ahead, so that later findings do not follow from that packet.
    pub fn undo_leap(&mut self, before: Option<Instant>) {
        self.ledger.undo_leap(before);
    }

    /// Returns the events that some packet can cause now, according to the table and E1–E7. The invariants depend on
    /// the individual packet.
    pub fn offers(&self, now: Instant) -> impl Iterator<Item = Event> {
        self.nodes.legal().filter(move |event| match event.packet_type() {
            Some(_) => refusals::may_pass(self.nodes, *event, &self.ledger, now),
            // The close is not a packet. An episode that is over budget cannot close (D59).
            None => self.may_end(),
        })
    }

    /// Approves an overrun of the budgets without a packet; see [`Ledger::suppose_approval`].
    pub fn suppose_approval(&mut self) {
        self.ledger.suppose_approval();
    }

    /// Returns whether the stream may end now without an error (D4).
    #[must_use]
    pub fn may_end(&self) -> bool {
        self.finish().iter().all(|(_, finding)| finding.severity == Severity::Warning)
    }

    /// Returns the findings if the stream ends now, by the episode's own clock (D4), each with the packet id that it
    /// concerns, if any.
    #[must_use]
    pub fn finish(&self) -> Vec<(Option<&str>, Diagnostic)> {
        self.finish_at(None)
    }

    /// Returns the findings if the stream ends now, like [`finish`](Self::finish); `fixed` replaces the episode's clock (D2).
    #[must_use]
    pub fn finish_at(&self, fixed: Option<Instant>) -> Vec<(Option<&str>, Diagnostic)> {
        end_of_stream::check(self.nodes, &self.ledger, fixed)
    }

    /// Reports directives that are late at a given time, without a packet (INV-011), each with the packet id of the
    /// directive. A directive is reported only once, whether here or with a later packet (D35). The clock of the
    /// episode does not change (D2).
    pub fn tick(&mut self, now: Instant) -> Vec<(String, Diagnostic)> {
        let late = inv_011_task_closure::late(&self.ledger, now);
        let late = late.into_iter().map(|(packet_id, finding)| (packet_id.to_owned(), finding)).collect();
        self.ledger.tick(now);
        late
    }
}
