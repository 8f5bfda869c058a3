//! Reasons why a request or a step of a turn ended early.

use crate::base::{Blocked, GateCode};
use crate::call::{Abort, Fault, Ran};

/// Reason why a request ended early. Effects of the tool remain and are recorded in the audit log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Stopped {
    /// A rule refused the request.
    #[error(transparent)]
    Blocked(#[from] Blocked),
    /// A grant was revoked or expired while the tool ran: the call was cancelled, and any answer is withheld (G2).
    #[error("{0}; the call was cancelled, but what the tool already did is not undone")]
    BrokenOff(Blocked),
    /// The tool was called and failed (R3).
    #[error("R3: {0}")]
    Failed(#[from] Fault),
    /// The tool was called, but its outcome cannot be recorded: its answer is withheld, and its effects remain (A1).
    #[error("{why}; the tool was called anyway, and its answer is withheld")]
    Unrecorded {
        /// Whether the tool ran, as far as its answer or fault shows.
        ran: Ran,
        /// Reason why the outcome cannot be recorded.
        why: Blocked,
    },
    /// The turn is aborted (R2, R4).
    #[error("{code}: {why}", code = .why.code())]
    Aborted {
        /// Reason for the abort.
        why: Abort,
        /// Whether the tool ran: a step on which another one depends may have run and still count as missing.
        ran: Ran,
    },
}

impl Stopped {
    /// Returns the rule that stopped the request.
    #[must_use]
    pub fn code(&self) -> GateCode {
        match self {
            Self::Blocked(why) | Self::BrokenOff(why) | Self::Unrecorded { why, .. } => why.code,
            Self::Failed(_) => GateCode::R3,
            Self::Aborted { why, .. } => why.code(),
        }
    }

    /// Returns the reason without text from a client, a model or a tool.
    #[must_use]
    pub fn unquoted(&self) -> String {
        let of = |why: &Blocked| format!("{}: {}", why.code, why.unquoted());
        match self {
            Self::Blocked(why) => of(why),
            Self::BrokenOff(why) => {
                format!("{}; the call was cancelled, but what the tool already did is not undone", of(why))
            }
            Self::Failed(fault) => format!("R3: {}", fault.unquoted()),
            Self::Unrecorded { why, .. } => {
                format!("{}; the tool was called anyway, and its answer is withheld", of(why))
            }
            // The text contains only step names and fault classes.
            Self::Aborted { .. } => self.to_string(),
        }
    }

    /// Returns what to do next; empty if that is not known.
    #[must_use]
    pub fn help(&self) -> &str {
        match self {
            Self::Blocked(why) | Self::BrokenOff(why) | Self::Unrecorded { why, .. } => &why.help,
            Self::Failed(fault) if fault.class().is_retryable() => "try again later",
            Self::Failed(_) => "check what it did before calling it again",
            Self::Aborted { .. } => "start another turn",
        }
    }

    /// Returns whether the tool ran.
    #[must_use]
    pub fn ran(&self) -> Ran {
        match self {
            Self::Failed(fault) => fault.class().ran(),
            Self::Unrecorded { ran, .. } | Self::Aborted { ran, .. } => *ran,
            Self::BrokenOff(_) => Ran::Unknown,
            Self::Blocked(_) => Ran::No,
        }
    }
}

impl From<Abort> for Stopped {
    fn from(why: Abort) -> Self {
        Self::Aborted { why, ran: Ran::No }
    }
}
