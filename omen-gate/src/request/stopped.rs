//! Why a request, or a step of a turn, did not go all the way.

use crate::base::{Blocked, GateCode};
use crate::call::{Abort, Fault, Ran};

/// What ended a request before its end. What was done stays done, and is in the audit log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Stopped {
    /// A rule did not let it through.
    #[error(transparent)]
    Blocked(#[from] Blocked),
    /// A grant was revoked or expired while the tool ran (G2): the call was broken off, and any answer is withheld.
    #[error("{0}; the call was cancelled, and what the tool did before remains")]
    BrokenOff(Blocked),
    /// The tool was called and failed (R3).
    #[error("R3: {0}")]
    Failed(#[from] Fault),
    /// The tool was called, and what came of it cannot be recorded (A1): its answer is withheld, and what it did is done.
    #[error("{why}; the tool was called anyway, and its answer is withheld")]
    Unrecorded {
        /// Whether it ran, as far as its answer or its fault shows.
        ran: Ran,
        /// Why it cannot be recorded.
        why: Blocked,
    },
    /// The turn is at its end (R2, R4).
    #[error("{code}: {why}", code = .why.code())]
    Aborted {
        /// Why.
        why: Abort,
        /// Whether the tool ran: the step that another one needs may have run, and is missing all the same.
        ran: Ran,
    },
}

impl Stopped {
    /// The rule that it refers to.
    #[must_use]
    pub fn code(&self) -> GateCode {
        match self {
            Self::Blocked(why) | Self::BrokenOff(why) | Self::Unrecorded { why, .. } => why.code,
            Self::Failed(_) => GateCode::R3,
            Self::Aborted { why, .. } => why.code(),
        }
    }

    /// Why, without what a client, a model or a tool has written.
    #[must_use]
    pub fn unquoted(&self) -> String {
        let of = |why: &Blocked| format!("{}: {}", why.code, why.unquoted());
        match self {
            Self::Blocked(why) => of(why),
            Self::BrokenOff(why) => {
                format!("{}; the call was cancelled, and what the tool did before remains", of(why))
            }
            Self::Failed(fault) => format!("R3: {}", fault.unquoted()),
            Self::Unrecorded { why, .. } => {
                format!("{}; the tool was called anyway, and its answer is withheld", of(why))
            }
            // It names steps and classes of faults.
            Self::Aborted { .. } => self.to_string(),
        }
    }

    /// Whether the tool ran.
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
