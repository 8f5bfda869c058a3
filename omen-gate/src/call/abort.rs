//! Why a turn ends before its end.

use serde::Serialize;

use crate::base::{GateCode, StepId};
use crate::call::fault::FaultClass;

/// The turn ends here. What was done stays done and is reported; nothing more runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Abort {
    /// The turn has had all the failures that it may have (R2).
    #[error("the turn is aborted: failure budget exhausted after {failures} failed calls; the last one: {last}")]
    TooManyFailures {
        /// How many there were.
        failures: u32,
        /// The class of the last one.
        last: FaultClass,
    },
    /// The turn has had all the failures in a row that it may have (R2).
    #[error(
        "the turn is aborted: failure budget exhausted after {failures} failed calls in a row; the last one: {last}"
    )]
    TooManyInARow {
        /// How many there were.
        failures: u32,
        /// The class of the last one.
        last: FaultClass,
    },
    /// A step needs another one that was not done (R4).
    #[error("the turn is aborted: step `{step}` needs step `{dependency}`, which {missing}")]
    MissingDependency {
        /// The step that cannot run.
        step: StepId,
        /// What it needs.
        dependency: StepId,
        /// Why that is missing.
        missing: Missing,
    },
    /// A step began or ended that could not: the turn has no such step, or its time is past or not yet come (R4).
    #[error("the turn is aborted: step `{step}` is out of order: {why}")]
    OutOfOrder {
        /// The step.
        step: StepId,
        /// What is wrong.
        why: &'static str,
    },
}

/// Why a step was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// It was left out.
    #[error("was skipped")]
    Skipped,
    /// Its call failed.
    #[error("failed ({0})")]
    Failed(FaultClass),
    /// A rule did not let it through.
    #[error("was blocked by {0}")]
    Blocked(#[serde(serialize_with = "code")] GateCode),
    /// Its tool was called, and a rule holds back what came of it.
    #[error("was called, and its answer is withheld by {0}")]
    Withheld(#[serde(serialize_with = "code")] GateCode),
}

impl Abort {
    /// The rule that ends the turn.
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
