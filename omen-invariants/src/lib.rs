//! The ledger of an episode, and the invariants INV-001 to INV-012.
//!
//! [`Ledger`] holds what must be remembered about an episode to judge its next packet: plain data, no packets. Each rule is a
//! module of [`rules`], which checks one packet's facts against the ledger and reports findings. A packet that violates a rule
//! leaves no trace in the ledger (D1). The rules that the compiler can check are the traits in [`facts`].
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
//! Architecture invariant: this crate knows no states of the machine and reads no clock: time is the log's own (D2).

mod context;
pub mod derived;
pub mod facts;
mod help;
pub mod ledger;
mod params;
pub mod rules;

pub use context::Context;
pub use ledger::Ledger;
