//! OMEN for agents and auditors: the typed API, in which an illegal move does not compile, the validator that
//! judges anybody's log, and the command `omen`.
//!
//! ```
//! use omen::finding::{Code, Finding};
//! use omen::validator::{Validator, ValidatorOptions};
//!
//! // One line of a log: a packet without payload.
//! let line = br#"{"header": {"packet_id": "pkt_1"}}"#;
//! let mut findings: Vec<Finding> = Vec::new();
//! let mut validator = Validator::new(ValidatorOptions::default());
//! let Ok(()) = validator.feed(line, &mut findings); // A vector cannot fail.
//! let Ok(summary) = validator.finish(&mut findings);
//! assert_eq!((summary.accepted, summary.rejected), (0, 1));
//! assert!(findings.iter().all(|finding| finding.diagnostic.code == Code::Schema));
//! ```
//!
//! [`guide`] leads from an empty file to an agent whose illegal moves do not compile. [`episode`] is the
//! typed API, [`packet`] the packets as they stand in a log, with a builder for each; [`Machine`] judges them one by one,
//! for an agent that sends them over a wire of its own. [`validator`] judges logs, [`finding`] is
//! what it reports, [`render`] shows it to people and programs, and [`prelude`] brings in what an agent's author
//! types daily. [`gate`] stands between an agent and its tools; [`log_file`] writes an episode to a file that
//! nobody else writes; [`lines`] splits any stream into lines, in bounded memory.
//!
//! The example judges a log; an agent is written as [`guide`] shows.
//!
//! Architecture invariant: nothing here judges a packet; it brings the judges of the crates to the
//! left together and shows what they say.

pub mod finding;
pub mod guide;
pub mod lines;
pub mod log_file;
pub mod prelude;
pub mod render;
pub mod validator;

pub use omen_fsm::episode;
#[doc(inline)]
pub use omen_fsm::{Machine, Verdict};
#[cfg(feature = "gate")]
pub use omen_gate as gate;
pub use omen_invariants::facts;
pub use omen_types::{builder, packet};

// Compile errors name a type by its shortest path: `omen::Episode`, not `omen::episode::Episode`. So what they name is
// at the root, too. Programs import the prelude, and the rest from its module.
#[doc(no_inline)]
pub use finding::{Code, Diagnostic, Finding, Severity, Stage};
#[doc(no_inline)]
pub use omen_fsm::episode::explain::*;
#[doc(no_inline)]
pub use omen_fsm::episode::*;
#[doc(no_inline)]
pub use omen_fsm::fields;
#[doc(no_inline)]
pub use omen_invariants::facts::*;
#[doc(no_inline)]
pub use omen_invariants::{scope, text, tool, unit};
#[doc(no_inline)]
pub use omen_types::serde_json::json;
#[doc(no_inline)]
pub use omen_types::{
    AlertType, BackoffFactor, CorrelationId, DecisionOutcome, ErrorDetails, EscalationTrigger, Instant, Invalid,
    ObservationType, OnFailure, OperationType, ResultStatus, TaskClass, Text, Timestamp, TokenId, ToolSafetyClass,
    VerificationMethod, VerificationRequirement,
};
#[doc(no_inline)]
pub use validator::{Level, Levels, Sink, Summary, Validator, ValidatorOptions};
