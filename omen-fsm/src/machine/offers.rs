//! Packets that the machine would accept next.

use omen_types::Instant;

use super::Machine;
use crate::rules::refusals;
use crate::table::Event;

impl Machine {
    /// Returns the events that some packet can cause now, as far as the table and E1–E7 permit. The invariants depend
    /// on the individual packet.
    pub fn offers(&self, now: Instant) -> impl Iterator<Item = Event> {
        self.nodes.legal().filter(move |event| match event.packet_type() {
            Some(_) => refusals::may_pass(self.nodes, *event, &self.ledger, now),
            // The close is not a packet. An episode that is over budget does not close (D59).
            None => self.may_end(),
        })
    }
}
