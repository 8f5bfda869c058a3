//! Input of a rule.

use omen_types::{Instant, PacketFacts};

use crate::ledger::Ledger;

/// Input of a rule: a packet, its episode so far, and the time.
#[derive(Clone, Copy, Debug)]
pub struct Context<'c> {
    /// Packet to check.
    pub facts: &'c PacketFacts<'c>,
    /// Episode before the packet.
    pub ledger: &'c Ledger,
    /// Clock of the episode at this packet (D2).
    pub now: Instant,
}

impl<'c> Context<'c> {
    /// Creates a context with the episode's own clock, or with a fixed time.
    #[must_use]
    pub fn new(facts: &'c PacketFacts<'c>, ledger: &'c Ledger, fixed: Option<Instant>) -> Self {
        let now = fixed.unwrap_or_else(|| ledger.clock_at(facts.header.created_at));
        Self { facts, ledger, now }
    }
}
