//! Protocol SDK for AI agents: a typed API in which illegal moves do not compile, a validator for the logs of any
//! agent, and, with the feature `gate`, the gate between an agent and its tools.
//!
//! ```
//! use omen::finding::{Code, Finding};
//! use omen::validator::{Validator, ValidatorOptions};
//!
//! // One line of a log: a packet without a payload.
//! let line = br#"{"header": {"packet_id": "pkt_1"}}"#;
//! let mut findings: Vec<Finding> = Vec::new();
//! let mut validator = Validator::new(ValidatorOptions::default());
//! let Ok(()) = validator.feed(line, &mut findings); // A vector cannot fail.
//! let Ok(summary) = validator.finish(&mut findings);
//! assert_eq!((summary.accepted, summary.rejected), (0, 1));
//! assert!(findings.iter().all(|finding| finding.diagnostic.code == Code::Schema));
//! ```
//!
//! The example checks a log. To write an agent, start with [`guide`]:
//!
//! | Module | Contains |
//! |---|---|
//! | [`guide`] | a tutorial: from an empty file to an agent |
//! | [`prelude`] | the names that an agent needs every day |
//! | [`episode`] | the typed API: states, moves, errors |
//! | [`facts`] | the parts of an envelope |
//! | [`packet`], [`builder`] | packets as they appear in a log, with a builder for each |
//! | [`log_file`] | a log in a file, with one writer |
//! | `log` | with the feature `nats`: a log on a server |
//! | `schemars` | with the feature `schemars`: JSON Schemas of the types in [`packet`], for the structured output of a model |
//! | [`validator`], [`finding`] | the validator for logs, and what it reports |
//! | [`render`] | findings as JSON and, with the feature `render`, for people |
//! | `input` | with the feature `input`: logs as stored in files, compressed or not, on lines or in an array |
//! | [`lines`] | a stream of bytes, split into lines in bounded memory |
//!
//! [`Machine`] checks packets one by one, for an agent that sends them over its own connection.
//!
//! Architecture invariant: this crate has no rules. It combines the checks of lower crates and formats their findings.

pub mod finding;
#[doc = include_str!("guide.md")]
pub mod guide {}
#[cfg(feature = "input")]
pub mod input;
pub mod lines;
#[cfg(feature = "nats")]
pub mod log;
pub mod log_file;
pub mod prelude;
pub mod render;
pub mod validator;

pub use omen_fsm::episode;
#[doc(inline)]
pub use omen_fsm::{Machine, PackedMachine, Verdict};
#[cfg(feature = "gate")]
pub use omen_gate as gate;
pub use omen_invariants::facts;
pub use omen_types::{builder, packet};

// rustc names a type by its shortest path: `omen::Episode`, not `omen::episode::Episode`. So every type that a compile
// error may name is also exported at the root. Programs import the prelude, and other names from their modules.
#[doc(no_inline)]
pub use finding::{Code, Diagnostic, Finding, Severity, Stage};
#[doc(no_inline)]
pub use omen_fsm::episode::explain::*;
#[doc(no_inline)]
pub use omen_fsm::episode::*;
#[doc(no_inline)]
pub use omen_fsm::{fields, number};
#[doc(no_inline)]
pub use omen_invariants::facts::*;
#[doc(no_inline)]
pub use omen_invariants::{scope, text, tool, unit};
#[cfg(feature = "schemars")]
pub use omen_types::schemars;
#[doc(no_inline)]
pub use omen_types::serde_json::json;
#[doc(no_inline)]
pub use omen_types::{
    AlertType, BackoffFactor, CorrelationId, DecisionOutcome, ErrorDetails, EscalationTrigger, Instant, Invalid,
    ObservationType, OnFailure, OperationType, ResultStatus, TaskClass, Text, Timestamp, TokenId, ToolSafetyClass,
    VerificationMethod, VerificationRequirement,
};
#[doc(no_inline)]
pub use validator::{Level, Levels, ParallelValidator, Sink, Summary, Validator, ValidatorOptions};
