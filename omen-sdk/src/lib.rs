//! OMEN for agents and auditors: packets, the validator, renderers, and the command `omen`.
//!
//! ```
//! use omen::prelude::*;
//!
//! // One line of a log: a packet without payload.
//! let line = br#"{"header": {"packet_id": "pkt_1"}}"#;
//! let mut findings: Vec<Finding> = Vec::new();
//! let mut validator = Validator::new(Options::default());
//! validator.feed(line, &mut findings);
//! let summary = validator.finish(&mut findings);
//! assert_eq!((summary.accepted, summary.rejected), (0, 1));
//! assert!(findings.iter().all(|finding| finding.diagnostic.code == Code::Schema));
//! ```
//!
//! [`validator`] judges logs, [`finding`] is what it reports, [`render`] shows it to people and
//! programs, [`prelude`] brings in what most programs need, the packet types among it.
//!
//! Architecture invariant: nothing here judges a packet; it brings the judges of the crates to the
//! left together and shows what they say.

pub mod finding;
pub mod prelude;
pub mod render;
pub mod validator;

pub use finding::{Finding, Stage};
pub use omen_types::{Code, Diagnostic, Instant, Severity};
pub use validator::{Options, Sink, Summary, Validator};

/// The code of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
