//! What most programs need: `use omen::prelude::*;`.
//!
//! The typed API, what the envelope says, and the validator. The packets themselves, as they stand in a
//! log, are in [`omen::packet`](crate::packet).

pub use omen_fsm::episode::explain::*;
pub use omen_fsm::episode::*;
pub use omen_fsm::fields;
pub use omen_invariants::facts::*;
pub use omen_invariants::{scope, text, tool, unit};
pub use omen_types::serde_json::json;
pub use omen_types::{
    AlertType, BackoffFactor, Code, CorrelationId, DecisionOutcome, Diagnostic, ErrorDetails, EscalationTrigger,
    Instant, Invalid, ObservationType, OnFailure, OperationType, ResultStatus, Severity, TaskClass, Text, Timestamp,
    TokenId, ToolSafetyClass, VerificationMethod, VerificationRequirement,
};

pub use crate::finding::{Finding, Stage};
pub use crate::validator::{Level, Levels, Options, Sink, Summary, Validator};
