//! A packet that is ahead of the others of its episode, as the packets after it show (D83).

use std::num::NonZeroU64;

use omen_invariants::Ledger;
use omen_invariants::rules::time_in_order;
use omen_types::{Diagnostic, Instant, PacketFacts, PacketType};

use super::Machine;

/// An accepted packet that is ahead of those before and after it, with the finding on it.
///
/// It is reported with the first packet that returns to the time before it, which may be rejected for that very reason.
#[derive(Clone, Debug)]
pub struct Ahead {
    /// Its packet id.
    pub packet_id: Box<str>,
    /// Its type.
    pub packet_type: PacketType,
    /// Its line in the log, if it has one.
    pub line: Option<NonZeroU64>,
    /// The clock of the episode before it; none if it was the first packet.
    pub before: Option<Instant>,
    /// TIME, at its `created_at`.
    pub finding: Diagnostic,
}

impl Ahead {
    /// The packet that is ahead if `facts` returns to the time before it; none if it was reported.
    pub(super) fn before(facts: &PacketFacts<'_>, ledger: &Ledger) -> Option<Box<Self>> {
        let leap = ledger.leap(facts.header.created_at).filter(|leap| !leap.is_reported)?;
        let finding = time_in_order::ahead(leap, ledger.clock()?, facts.header.created_at);
        let (packet_id, packet_type, line, before) = (leap.packet_id.clone(), leap.packet_type, leap.line, leap.before);
        Some(Box::new(Self { packet_id, packet_type, line, before, finding }))
    }
}

impl Machine {
    /// Records that the packet that is ahead was reported, which [`accept`](Self::accept) does as well for the packet that shows it.
    pub fn report_leap(&mut self) {
        self.ledger.report_leap();
    }

    /// Sets the clock back to a time before a packet that is ahead. What the machine then finds does not follow from that packet.
    pub fn undo_leap(&mut self, before: Option<Instant>) {
        self.ledger.undo_leap(before);
    }
}
