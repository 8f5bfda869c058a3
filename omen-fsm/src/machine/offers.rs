//! What the machine would take next.

use omen_types::{Instant, PacketType};

use super::Machine;
use crate::rules::unmet_of_loop;
use crate::table::{Event, LOOP_CLOSED_BY, LOOP_NODE, NodeSet, Obligation};

impl Machine {
    /// The events that some packet can make happen now, as far as table and sequence rules go: what the
    /// table has a row for, less what open directives (E6), the verification loop (E3) and tokens (E4)
    /// forbid. What an invariant says depends on the packet.
    pub fn offers(&self, now: Instant) -> impl Iterator<Item = Event> {
        self.nodes.legal().filter(move |event| self.is_open_to(*event, now))
    }

    fn is_open_to(&self, event: Event, now: Instant) -> bool {
        let in_loop = self.nodes == NodeSet::of(LOOP_NODE);
        let open = !self.ledger.open().is_empty();
        match event.packet_type() {
            // D20: not while a directive is open; D22: not while the loop lacks something.
            Some(PacketType::BeliefUpdatePacket) if self.leaves(event) => {
                let lacking = in_loop && event == LOOP_CLOSED_BY && !unmet_of_loop(&self.ledger).is_empty();
                !open && !lacking
            }
            // D22: the plan comes first. D10, D18: a write needs a live token.
            Some(PacketType::TaskDirectivePacket) => {
                let planned = !in_loop || self.ledger.verification().met & Obligation::Plan.bit() != 0;
                planned && (event != Event::DirectWrite || self.ledger.tokens().any_live(now))
            }
            // D20: a result names an open directive.
            Some(PacketType::TaskResultPacket) => open,
            // D59: an episode over budget does not close.
            None => self.finish().is_empty(),
            _ => true,
        }
    }

    /// Whether an event leads out of where the episode is.
    fn leaves(&self, event: Event) -> bool {
        self.nodes.after(event) != self.nodes
    }
}
