//! E1, as `episode.fsm.json` states it.

use omen_invariants::Ledger;
use omen_types::{Code, Diagnostic};

use super::route;
use super::transition::Transition;
use crate::help::e1 as help;

pub(super) fn check(transition: &Transition<'_>) -> Option<Diagnostic> {
    (!has_belief(transition.context.ledger)).then(|| {
        let Transition { context, event, nodes, .. } = transition;
        let help = route::to(*nodes, *event, context.ledger).filter(|events| !events.is_empty());
        Diagnostic::error(Code::E1, "cannot decide before a BeliefUpdatePacket of the episode was accepted")
            .at("/header/packet_type")
            .label("no belief to decide on")
            .help(match help {
                Some(events) => help::first(route::words(&events), route::names(&events)),
                None => Code::E1.info().help.to_owned(),
            })
    })
}

/// Returns whether a decision has a belief as its basis.
pub(super) fn has_belief(ledger: &Ledger) -> bool {
    ledger.believes()
}

#[cfg(test)]
mod tests {
    use omen_types::Code;
    use omen_types::PacketType::{BeliefUpdatePacket, DecisionPacket};

    use super::super::fixture::{TestEpisode, packet};
    use crate::table::Node;

    #[test]
    fn a_decision_after_a_belief_passes() {
        let episode = TestEpisode::at(Node::Model).accept(&packet(BeliefUpdatePacket, &[]));
        assert_eq!(episode.refused(&packet(DecisionPacket, &[])), []);
    }

    #[test]
    fn a_decision_without_a_belief_is_refused() {
        assert_eq!(TestEpisode::at(Node::Model).refused(&packet(DecisionPacket, &[])), [Code::E1]);
    }
}
