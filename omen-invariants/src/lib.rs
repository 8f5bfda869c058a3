//! The ledger of an episode, and the invariants INV-001 to INV-012.
//!
//! [`Ledger`] is what has to be remembered of an episode to judge its next packet: plain data, no
//! packet kept. Each rule is a module of [`rules`] that looks at the ledger and one packet's facts
//! and says what is wrong. A packet that breaks a rule leaves no trace in the ledger (D1). What of the
//! rules can be said of types is in [`facts`]: there the compiler judges.
//!
//! ```
//! use omen_invariants::{Context, Ledger, rules};
//! # use omen_types::PacketFacts;
//! # let log = omen_schema::example("valid/read-only.jsonl").unwrap_or_default();
//! # for line in log.lines() {
//! let facts = PacketFacts::parse(line)?;
//! let ledger = Ledger::default();
//! let context = Context::new(&facts, &ledger, None);
//! let mut findings = Vec::new();
//! rules::check(&context, &mut findings);
//! # }
//! # Ok::<(), Box<omen_types::Rejected>>(())
//! ```
//!
//! Architecture invariant: no state of the machine is known here, and no clock is read: time is the
//! log's own (D2).

pub mod derived;
pub mod facts;
pub mod ledger;
pub mod rules;

pub use ledger::Ledger;

use omen_types::{Instant, PacketFacts};

/// What a rule looks at: a packet, the episode so far, and the time.
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
