//! Reasons for aborting a turn.

use serde::Serialize;

use crate::base::{GateCode, StepId};
use crate::call::fault::FaultClass;

/// Reason why a turn is aborted. Finished calls keep their effects and are reported; nothing more runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Abort {
    /// The turn reached its failure limit (R2).
    #[error("the turn is aborted: failure budget exhausted after {failures} failed calls; the last one: {last}")]
    TooManyFailures {
        /// Number of failures in the turn.
        failures: u32,
        /// Class of the last failure.
        last: FaultClass,
    },
    /// The turn reached its limit of consecutive failures (R2).
    #[error(
        "the turn is aborted: failure budget exhausted after {failures} failed calls in a row; the last one: {last}"
    )]
    TooManyInARow {
        /// Number of consecutive failures.
        failures: u32,
        /// Class of the last failure.
        last: FaultClass,
    },
    /// A step depends on another step that was not completed (R4).
    #[error("the turn is aborted: step `{step}` needs step `{dependency}`, which {missing}")]
    MissingDependency {
        /// Step that cannot run.
        step: StepId,
        /// Step that it depends on.
        dependency: StepId,
        /// Reason why the dependency is missing.
        missing: Missing,
    },
    /// A step began or ended out of order: the turn has no such step, or the step is finished or not yet ready (R4).
    #[error("the turn is aborted: step `{step}` is out of order: {why}")]
    OutOfOrder {
        /// Affected step.
        step: StepId,
        /// Description of the error.
        why: &'static str,
    },
}

/// Reason why a step was not completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// The step was skipped.
    #[error("was skipped")]
    Skipped,
    /// The call of the step failed.
    #[error("failed ({0})")]
    Failed(FaultClass),
    /// A rule blocked the step.
    #[error("was blocked by {0}")]
    Blocked(#[serde(serialize_with = "code")] GateCode),
    /// The tool was called, but a rule withholds its answer.
    #[error("was called, and its answer is withheld by {0}")]
    Withheld(#[serde(serialize_with = "code")] GateCode),
}

impl Abort {
    /// Returns the rule that ends the turn.
    #[must_use]
    pub fn code(&self) -> GateCode {
        match self {
            Self::TooManyFailures { .. } | Self::TooManyInARow { .. } => GateCode::R2,
            Self::MissingDependency { .. } | Self::OutOfOrder { .. } => GateCode::R4,
        }
    }
}

fn code<S: serde::Serializer>(code: &GateCode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(code.as_str())
}
