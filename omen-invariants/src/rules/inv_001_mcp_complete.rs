//! INV-001: the MCP envelope is complete.
//!
//! The schemas require a whole envelope on every packet (D29), so the schema stage sees what is
//! missing; on the four consequential types its findings carry this rule's code.

use omen_types::PacketType;

/// Whether the rule is about packets of a type: those that commit the agent to something.
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
