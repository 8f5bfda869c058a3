//! INV-008, as `rules.json` states it. It is shared with E3 of the state machine, which reports it (D37). The ledger's own
//! part is here: which packets a closing belief update may name as evidence (D22).

use omen_types::BeliefUpdatePayloadFacts;

use crate::ledger::Ledger;

/// Whether a belief update names at least one piece of evidence of the running loop.
#[must_use]
pub fn cites_evidence(ledger: &Ledger, belief: &BeliefUpdatePayloadFacts<'_>) -> bool {
    belief.evidence_integration.iter().flatten().any(|packet_id| ledger.is_loop_evidence(packet_id))
}

#[cfg(test)]
mod tests {
    use omen_types::PacketType::{BeliefUpdatePacket, DecisionPacket, ObservationPacket};
    use omen_types::{PacketFacts, PayloadFacts};
    use serde_json::json;

    use super::super::fixture::{Episode, packet};
    use super::cites_evidence;
    use crate::ledger::Update;

    /// Whether a belief update that names a packet cites evidence, after one observation before a loop and one in it.
    fn cites(packet_id: &str) -> bool {
        let seen = |id: &str| packet(ObservationPacket, &[("/header/packet_id", id.into())]);
        let episode = Episode::default()
            .accept(&seen("pkt_before"), Update::default())
            .accept(&packet(DecisionPacket, &[]), Update { opens_loop: true, ..Update::default() })
            .accept(&seen("pkt_inside"), Update { is_evidence: true, ..Update::default() });
        let belief = packet(BeliefUpdatePacket, &[("/payload/evidence_integration", json!([packet_id]))]).to_string();
        let facts = PacketFacts::parse(&belief).ok();
        facts.is_some_and(|facts| match &facts.payload {
            PayloadFacts::BeliefUpdate(belief) => cites_evidence(episode.ledger(), belief),
            _ => false,
        })
    }

    #[test]
    fn what_was_seen_in_the_loop_is_evidence() {
        assert!(cites("pkt_inside"));
    }

    #[test]
    fn what_was_seen_before_is_not() {
        assert!(!cites("pkt_before") && !cites("pkt_none"));
    }
}
