//! Envelope of future packets.

use std::sync::Arc;

use omen_invariants::facts::MayAsk;
use omen_invariants::rules::inv_004_live_evidence;
use omen_types::{McpEnvelope, Packet, PacketType};

use super::core::Core;

impl Core {
    /// Sets another envelope for future packets.
    pub(crate) fn under(&mut self, envelope: &impl MayAsk) {
        self.take_envelope(envelope.mcp().clone());
    }

    fn take_envelope(&mut self, mcp: McpEnvelope) {
        self.mcp = Arc::new(mcp);
        if inv_004_live_evidence::is_borne_out(&self.mcp) {
            self.grounded = Arc::clone(&self.mcp);
        }
    }

    /// Returns the envelope of a packet. After a hypothesis, a packet that makes a claim takes its status and evidence
    /// from the latest envelope that has evidence; a packet that seeks certainty carries the hypothesis itself (D31).
    pub(super) fn envelope_of(&self, packet_type: PacketType) -> McpEnvelope {
        let mut mcp = McpEnvelope::clone(&self.mcp);
        // A decision has its own envelope; ACT on a hypothesis is refused.
        let asks = inv_004_live_evidence::can_ask(packet_type, self.machine.ledger());
        if !asks && !inv_004_live_evidence::is_borne_out(&mcp) {
            mcp.epistemics = self.grounded.epistemics.clone();
            mcp.evidence = self.grounded.evidence.clone();
        }
        mcp
    }

    /// Adopts the envelope of a sent packet for future packets. The status of an observation applies only to that observation.
    pub(crate) fn adopt(&mut self, packet: &Packet) {
        let mut mcp = packet.mcp().clone();
        if matches!(packet, Packet::Observation(_)) {
            let own = std::mem::replace(&mut mcp.epistemics.status, self.mcp.epistemics.status);
            if mcp != *self.mcp {
                // The status for later packets is unknown. The less certain of the two is safe, unless the evidence
                // does not support it. The schema lists the most certain status first.
                mcp.epistemics.status = own.max(mcp.epistemics.status);
                if !inv_004_live_evidence::is_borne_out(&mcp) {
                    mcp.epistemics.status = own;
                }
            }
        }
        // An accepted envelope without evidence (D31) does not apply to later packets, unless a decision carries it.
        let holds = matches!(packet, Packet::Decision(_)) || inv_004_live_evidence::is_borne_out(&mcp);
        if holds && mcp != *self.mcp {
            // The envelope of another program may leave less space for records than they need.
            self.take_envelope(omen_types::fit::envelope(mcp));
        }
    }
}
