//! Which envelope the packets to come are sent in.

use std::sync::Arc;

use omen_invariants::facts::MayAsk;
use omen_invariants::rules::inv_004_live_evidence;
use omen_types::{McpEnvelope, Packet, PacketType};

use super::core::Core;
use crate::table::{LOOP_NODE, NodeSet};

impl Core {
    /// Takes another envelope for the packets to come.
    pub(crate) fn under(&mut self, envelope: &impl MayAsk) {
        self.take_envelope(envelope.mcp().clone());
    }

    fn take_envelope(&mut self, mcp: McpEnvelope) {
        self.mcp = Arc::new(mcp);
        if inv_004_live_evidence::is_borne_out(&self.mcp) {
            self.grounded = Arc::clone(&self.mcp);
        }
    }

    /// The envelope of a packet. After a hypothesis, what claims something takes status and evidence from the latest
    /// envelope that has evidence; what asks for certainty goes in the hypothesis itself (D31).
    pub(super) fn envelope_of(&self, packet_type: PacketType) -> McpEnvelope {
        let mut mcp = McpEnvelope::clone(&self.mcp);
        let asks = match packet_type {
            PacketType::TaskDirectivePacket => self.machine.nodes() == NodeSet::of(LOOP_NODE),
            // A decision brings the envelope that is meant for it; to ACT on a hypothesis is refused.
            PacketType::DecisionPacket
            | PacketType::VerificationPlanPacket
            | PacketType::EscalationPacket
            | PacketType::IntegrityAlertPacket => true,
            _ => false,
        };
        if !asks && !inv_004_live_evidence::is_borne_out(&mcp) {
            mcp.epistemics = self.grounded.epistemics.clone();
            mcp.evidence = self.grounded.evidence.clone();
        }
        mcp
    }

    /// Takes the envelope of a packet that was sent for that of the packets to come. An observation says of itself
    /// how it is known, which is nothing that the envelope would say of the next packet.
    pub(crate) fn adopt(&mut self, packet: &Packet) {
        let mut mcp = packet.mcp().clone();
        if matches!(packet, Packet::Observation(_)) {
            let own = std::mem::replace(&mut mcp.epistemics.status, self.mcp.epistemics.status);
            if mcp != *self.mcp {
                // Another envelope, whose own status nobody has said: the less certain is safe to say, unless the
                // evidence does not bear that. The schema lists the surest first.
                mcp.epistemics.status = own.max(mcp.epistemics.status);
                if !inv_004_live_evidence::is_borne_out(&mcp) {
                    mcp.epistemics.status = own;
                }
            }
        }
        // What is not refused for want of evidence (D31) says nothing of the packets to come, but for a decision.
        let holds = matches!(packet, Packet::Decision(_)) || inv_004_live_evidence::is_borne_out(&mcp);
        if holds && mcp != *self.mcp {
            // Another program may have left less room than records need.
            self.take_envelope(omen_types::fit::envelope(mcp));
        }
    }
}
