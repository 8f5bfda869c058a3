//! OMEN packets: types, builders, strict parsing.
//!
//! ```
//! use omen_types::{Checked, Packet};
//!
//! let line = r#"{"header": {"packet_id": "pkt_1"}}"#;
//! let rejected = line.parse::<Packet>().unwrap_err();
//! assert!(rejected.errors.iter().any(|error| error.message.contains("`mcp`")));
//! assert_eq!(rejected.claims.packet_id.as_deref(), Some("pkt_1"));
//! ```
//!
//! Everything in [`packet`] is generated from the schema files at build time: a struct with a builder for every object,
//! an enum for every list of values, a checked newtype for every scalar. Omitting a required field in a builder is a
//! compile error. The structs are `#[non_exhaustive]`, so that a new optional field in a schema breaks no program.
//! Where a schema has conditionals, each case has its own [builder] whose type requires the fields. Constraints that
//! types do not express (lengths of arrays, conditionals in the plain `builder()`) are checked when a value is built,
//! and by [`Checked::check`] after a change, with the findings of the parser.
//!
//! Architecture invariant: this crate handles single packets only; it has no state, and no rule across packets.
//! Architecture invariant: the parser, the walk that explains errors, and the JSON Schemas give the same verdict on every text;
//! the referee test compares them.

#[macro_use]
mod impls;

pub mod code;
pub mod diagnostic;
#[doc(hidden)]
pub mod fit;
pub mod limits;
pub mod metadata;
pub mod packet;
mod parser;
pub mod placeholder;
pub mod scalar;
#[doc(hidden)]
pub mod shape;
pub mod time;

pub use code::{Code, RuleInfo, Stage};
pub use diagnostic::{Diagnostic, Edit, Severity};
pub use metadata::Metadata;
#[doc(hidden)]
pub use omen_schema::{pointer, suggest};
pub use packet::*;
pub use parse::{Checked, Claims, Rejected};
pub use scalar::Invalid;
pub use time::{Instant, Span};

/// Re-export of the crate with the trait [`schemars::JsonSchema`], which every type of [`packet`] implements.
#[cfg(feature = "schemars")]
pub use schemars;
/// Re-export of the crate with the JSON values in packets.
pub use serde_json;
