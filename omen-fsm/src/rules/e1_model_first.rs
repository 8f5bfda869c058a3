//! E1, as `episode.fsm.json` states it.

use omen_invariants::Ledger;
use omen_types::{Code, Diagnostic};

use super::transition::Transition;

pub(super) fn check(transition: &Transition<'_>) -> Option<Diagnostic> {
    (!has_belief(transition.context.ledger)).then(|| {
        Diagnostic::error(Code::E1, "cannot decide before the first BeliefUpdatePacket of the episode")
            .at("/header/packet_type")
            .label("no belief to decide on")
            .help(Code::E1.info().help)
    })
}

/// Whether a decision has a belief to rest on.
pub(super) fn has_belief(ledger: &Ledger) -> bool {
    ledger.believes()
}

#[cfg(test)]
mod tests {
    use omen_types::Code;
    use omen_types::PacketType::{BeliefUpdatePacket, DecisionPacket};

    use super::super::fixture::{Episode, packet};
    use crate::table::Node;

    #[test]
    fn a_decision_after_a_belief_passes() {
        let episode = Episode::at(Node::Model).accept(&packet(BeliefUpdatePacket, &[]));
        assert_eq!(episode.refused(&packet(DecisionPacket, &[])), []);
    }

    #[test]
    fn a_decision_without_a_belief_is_refused() {
        assert_eq!(Episode::at(Node::Model).refused(&packet(DecisionPacket, &[])), [Code::E1]);
    }
}
