//! The runtime machine: judges the next packet of an episode, and takes it in.

mod offers;

use omen_invariants::ledger::{Fingerprint, Kind, Update};
use omen_invariants::rules::inv_011_task_closure;
use omen_invariants::{Context, Ledger};
use omen_types::{Code, Diagnostic, Instant, PacketFacts, PayloadFacts, Severity};

use crate::rules::{self, Step};
use crate::table::{Event, LOOP_NODE, LOOP_OPENED_BY, Node, NodeSet, Obligation};

/// An episode as the validator sees it: where it may be, and its ledger.
///
/// Judging and accepting are two steps, so that a packet that is refused leaves no trace (D1).
#[derive(Clone, Debug)]
pub struct Machine {
    nodes: NodeSet,
    ledger: Ledger,
}

/// What there is against a packet, stage by stage; the first stage with an error ends it (D1).
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What the packet is.
    pub event: Event,
    /// Where the episode may be after it, if it is accepted.
    pub next: NodeSet,
    /// The episode's clock at it.
    pub now: Instant,
    /// Ids that were used before (D21): the schema stage.
    pub ids: Vec<Diagnostic>,
    /// The table and E1–E7: the state machine's stage. One finding names all that is broken (D37).
    pub fsm: Option<Diagnostic>,
    /// The invariants, errors and warnings; looked at only if the stages before found nothing.
    pub invariants: Vec<Diagnostic>,
}

impl Verdict {
    /// The errors of the stage that rejects the packet; none if it is acceptable.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        let invariants = self.invariants.iter().filter(|finding| finding.severity == Severity::Error);
        self.ids.iter().chain(&self.fsm).chain(invariants)
    }
}

impl Default for Machine {
    /// An episode that has not begun.
    fn default() -> Self {
        Self { nodes: NodeSet::of(Node::INITIAL), ledger: Ledger::default() }
    }
}

impl Machine {
    /// Where the episode may be.
    #[must_use]
    pub fn nodes(&self) -> NodeSet {
        self.nodes
    }

    /// What is remembered of the episode.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Judges a packet that has passed its schema. `fixed` replaces the episode's clock (D2).
    #[must_use]
    pub fn judge(&self, facts: &PacketFacts<'_>, fixed: Option<Instant>) -> Verdict {
        let event = Event::of(facts);
        let context = Context::new(facts, &self.ledger, fixed);
        let next = self.nodes.after(event);
        let mut verdict = Verdict { event, next, now: context.now, ids: Vec::new(), fsm: None, invariants: Vec::new() };
        self.check_ids(facts, &mut verdict.ids);
        if verdict.ids.is_empty() {
            verdict.fsm = rules::check(&Step { context, event, nodes: self.nodes, next });
            if verdict.fsm.is_none() {
                omen_invariants::rules::check(&context, &mut verdict.invariants);
                rules::layer::check(facts, event, &mut verdict.invariants);
            }
        }
        verdict
    }

    /// Takes in a packet that was judged just now.
    pub fn accept(&mut self, facts: &PacketFacts<'_>, verdict: &Verdict) {
        let in_loop = self.nodes == NodeSet::of(LOOP_NODE);
        let opens_loop = verdict.event == LOOP_OPENED_BY;
        self.ledger.accept(
            facts,
            verdict.now,
            Update {
                opens_loop,
                is_evidence: in_loop && verdict.event.is_evidence(),
                met: if in_loop { Obligation::met_by(verdict.event, facts) } else { 0 },
                waived: Obligation::waived_by(facts),
                cancels: self.nodes == NodeSet::of(Node::SafeMode) && !verdict.next.contains(Node::SafeMode),
            },
        );
        self.nodes = verdict.next;
    }

    /// What there is against the stream's ending here, by the episode's own clock (D4). Each finding comes with the
    /// packet id that it is about, if there is one.
    #[must_use]
    pub fn finish(&self) -> Vec<(Option<&str>, Diagnostic)> {
        self.finish_at(None)
    }

    /// As [`finish`](Self::finish); `fixed` replaces the episode's clock (D2).
    #[must_use]
    pub fn finish_at(&self, fixed: Option<Instant>) -> Vec<(Option<&str>, Diagnostic)> {
        rules::at_end(self.nodes, &self.ledger, fixed)
    }

    /// What is late at a time, without a packet (INV-011): each finding with the id of the directive's packet. What was
    /// reported once is not reported again, neither here nor with a later packet (D35). The clock of the episode does
    /// not move (D2).
    pub fn tick(&mut self, now: Instant) -> Vec<(String, Diagnostic)> {
        let late = inv_011_task_closure::late(&self.ledger, now);
        let late = late.into_iter().map(|(packet_id, finding)| (packet_id.to_owned(), finding)).collect();
        self.ledger.tick(now);
        late
    }

    fn check_ids(&self, facts: &PacketFacts<'_>, errors: &mut Vec<Diagnostic>) {
        let mut used = |kind, id: &str, what, pointer| {
            if self.ledger.has_seen(Fingerprint::of(kind, id)) {
                errors.push(
                    Diagnostic::error(Code::Id, format!("the {what} id `{id}` was used before in this episode"))
                        .at(pointer)
                        .label("used before")
                        .help(Code::Id.info().help),
                );
            }
        };
        used(Kind::Packet, &facts.header.packet_id, "packet", "/header/packet_id");
        if let PayloadFacts::TaskDirective(directive) = &facts.payload {
            used(Kind::Task, &directive.task_id, "task", "/payload/task_id");
        }
    }
}
