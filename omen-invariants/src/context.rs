//! What a rule is given.

use omen_types::{Instant, PacketFacts};

use crate::ledger::Ledger;

/// What a rule is given: a packet, the episode so far, and the time.
#[derive(Clone, Copy, Debug)]
pub struct Context<'c> {
    /// The packet under check.
    pub facts: &'c PacketFacts<'c>,
    /// The episode before it.
    pub ledger: &'c Ledger,
    /// The episode's clock at this packet (D2).
    pub now: Instant,
}

impl<'c> Context<'c> {
    /// With the episode's own clock, or a fixed one.
    #[must_use]
    pub fn new(facts: &'c PacketFacts<'c>, ledger: &'c Ledger, fixed: Option<Instant>) -> Self {
        let now = fixed.unwrap_or_else(|| ledger.clock_at(facts.header.created_at));
        Self { facts, ledger, now }
    }
}
