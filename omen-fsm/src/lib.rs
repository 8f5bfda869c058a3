//! The state machine of an episode: the transition table, the runtime machine, rules E1–E7.
//!
//! ```
//! use omen_fsm::{Event, Machine, Node};
//! use omen_types::PacketFacts;
//!
//! let log = omen_schema::example("valid/read-only.jsonl").unwrap_or_default();
//! let mut machine = Machine::default();
//! for line in log.lines() {
//!     let facts = PacketFacts::parse(line)?;
//!     let verdict = machine.judge(&facts, None);
//!     assert!(verdict.errors().next().is_none());
//!     machine.accept(&facts, &verdict);
//! }
//! assert!(machine.nodes().contains(Node::Review));
//! # Ok::<(), Box<omen_types::Rejected>>(())
//! ```
//!
//! [`episode`] is the typed API on top of it.
//!
//! Architecture invariant: states, events and rows are generated from `episode.fsm.json`, and so is the list of
//! states in which a move is legal. A move to a type with parameters names that type; the walk compares it with the
//! node that the machine reaches.
//! Architecture invariant: no files, and no output format other than the packets' own JSON.

pub mod episode;
mod help;
mod machine;
mod rules;
mod table;

pub use machine::{Ahead, Machine, PackedMachine, Verdict};
pub use rules::{check_alone, misplaced};
pub use table::*;

/// Fingerprint of all schema files, and thus of all tables and texts in this crate: a 128-bit SipHash, which does not
/// protect against intentional changes.
pub const SCHEMA_FINGERPRINT: [u8; 16] = *include_bytes!(concat!(env!("OUT_DIR"), "/schema_fingerprint"));

#[doc(hidden)]
pub use omen_types::serde_json as __json;
