//! E5, as `episode.fsm.json` states it (also INV-009). The schema covers all of its requirements, so the schema
//! stage reports a violation with this code (D37), and nothing remains to be checked here.

#[cfg(test)]
mod tests {
    use omen_types::PacketType::EscalationPacket;
    use omen_types::{Code, PacketFacts};
    use serde_json::{Value, json};

    use super::super::fixture::{TestEpisode, packet};
    use crate::table::Node;

    #[test]
    fn a_whole_escalation_passes() {
        assert_eq!(TestEpisode::at(Node::DecideEscalate).refused(&packet(EscalationPacket, &[])), []);
    }

    #[test]
    fn an_escalation_without_options_or_next_step_is_refused() {
        for (member, value) in [("/payload/top_options", json!([])), ("/payload/recommended_next_step", Value::Null)] {
            let line = packet(EscalationPacket, &[(member, value)]).to_string();
            let errors = PacketFacts::parse(&line).err().map(|rejected| rejected.errors).unwrap_or_default();
            assert!(!errors.is_empty() && errors.iter().all(|error| error.also.contains(&Code::E5)), "{errors:?}");
        }
    }
}
