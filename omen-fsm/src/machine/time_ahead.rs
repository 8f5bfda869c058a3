//! Packet whose time is ahead of the others in its episode, as later packets show (D83).

use std::num::NonZeroU64;

use omen_invariants::Ledger;
use omen_invariants::rules::time_in_order;
use omen_types::{Diagnostic, Instant, PacketFacts, PacketType};

/// Accepted packet whose time is ahead of the packets before and after it, with the finding on it.
///
/// It is reported with the first packet that returns to an earlier time, which may be rejected for that very reason.
#[derive(Clone, Debug)]
pub struct Ahead {
    /// Packet id.
    pub packet_id: Box<str>,
    /// Packet type.
    pub packet_type: PacketType,
    /// Line in the log, if known.
    pub line: Option<NonZeroU64>,
    /// Clock of the episode before the packet; `None` for the first packet.
    pub before: Option<Instant>,
    /// Finding TIME, at the packet's `created_at`.
    pub finding: Diagnostic,
}

impl Ahead {
    /// Returns the packet that is ahead, if `facts` has a time before it; `None` if that packet was already reported.
    pub(super) fn before(facts: &PacketFacts<'_>, ledger: &Ledger) -> Option<Box<Self>> {
        let leap = ledger.leap(facts.header.created_at).filter(|leap| !leap.is_reported)?;
        let finding = time_in_order::ahead(leap, ledger.clock()?, facts.header.created_at);
        let (packet_id, packet_type, line, before) = (leap.packet_id.clone(), leap.packet_type, leap.line, leap.before);
        Some(Box::new(Self { packet_id, packet_type, line, before, finding }))
    }
}
