//! INV-001, as `rules.json` states it. The schemas require a complete envelope in every packet (D29), so the
//! schema stage reports missing fields; for the four consequential types, its findings have this code.

use omen_types::PacketType;

/// Returns whether the rule applies to packets of a type, that is, whether they commit the agent to something.
#[must_use]
pub fn is_consequential(packet_type: PacketType) -> bool {
    matches!(
        packet_type,
        PacketType::DecisionPacket
            | PacketType::TaskDirectivePacket
            | PacketType::ToolAuthorizationToken
            | PacketType::EscalationPacket
    )
}

#[cfg(test)]
mod tests {
    use omen_types::{Code, PacketType};
    use serde_json::Value;

    use super::super::fixture::{also, packet};
    use super::is_consequential;

    #[test]
    fn a_whole_envelope_passes() {
        for packet_type in PacketType::ALL {
            assert_eq!(also(&packet(*packet_type, &[])), [], "{packet_type}");
        }
    }

    #[test]
    fn a_consequential_packet_without_stakes_is_refused() {
        for packet_type in PacketType::ALL {
            let found = also(&packet(*packet_type, &[("/mcp/stakes", Value::Null)]));
            assert_eq!(found.contains(&Code::Inv001), is_consequential(*packet_type), "{packet_type}");
        }
    }
}
