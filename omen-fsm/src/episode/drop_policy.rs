//! Drop policy of an episode, and the report that it could not be followed (D54).

use std::fmt;
use std::sync::Arc;

use omen_types::CorrelationId;

use super::errors::Refusal;

/// Drop policy: what an episode writes if it is dropped before it has closed. See [`Setup::on_drop`](super::Setup::on_drop).
///
/// These packets claim only that the program dropped the episode. Running tasks are stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnDrop {
    /// Closes open directives as CANCELLED and goes to `Review` by the shortest legal path: belief updates and a
    /// decision to CANCEL. If the table has no such path, the episode ends in its current state with an alert: INFO if
    /// the log may end there, otherwise (in a verification loop) CRITICAL, which leads to safe mode. If the episode is
    /// over budget, it also ends in safe mode (INV-005).
    #[default]
    Cancel,
    /// Halts the episode in safe mode, which layer 1 must clear.
    Halt,
    /// Closes open directives as CANCELLED and escalates to a human. If the table has no path to an escalation, does
    /// the same as [`OnDrop::Cancel`].
    Escalate,
    /// Writes nothing: the program will resume the episode from its log. Until then, the end of the log may be illegal.
    Leave,
}

/// Dropped episode whose last packets could not be written.
#[derive(Clone, Debug)]
pub struct Lost {
    /// Correlation id of the episode.
    pub correlation_id: CorrelationId,
    /// Reason for the failure.
    pub why: Arc<Refusal>,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write the end of the dropped episode `{}`: {}", self.correlation_id, self.why)
    }
}

impl std::error::Error for Lost {}

/// Callback for a dropped episode whose last packets could not be written.
pub(crate) type LostHook = Box<dyn FnOnce(&Lost) + Send + Sync>;
