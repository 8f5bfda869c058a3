//! Reports of what sessions owe, for the program that runs the gate.

use std::fmt;
use std::sync::Arc;

use omen_order::Owed;

/// Way in which a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionEnd {
    /// The client or the program closed the session.
    Closed,
    /// The session's server ended.
    Server,
    /// The session made no calls for the duration of `idle` in `[order]`.
    Idle,
    /// The gate stopped before the session ended; the next start has ended it.
    Lost,
}

impl SessionEnd {
    /// Returns the name used in the audit log.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Server => "server",
            Self::Idle => "idle",
            Self::Lost => "lost",
        }
    }
}

/// Scope within which a debt had to be settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DebtScope {
    /// Session, or a turn that is its own session.
    Session,
    /// Turn of a session.
    Turn,
}

/// Debt that was not settled in time (O-4).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum DebtReport<'r> {
    /// The deadline of a debt has passed. Holds the message about it.
    Overdue(&'r str),
    /// A session or a turn ended while it still owed something.
    Ended {
        /// Whether a session or a turn ended.
        scope: DebtScope,
        /// Name of the session or turn.
        name: &'r str,
        /// Way in which it ended.
        how: SessionEnd,
        /// Debts at its end.
        owed: &'r [Owed],
    },
}

/// Callback for debts that were not settled.
type ReportDebt = dyn Fn(&DebtReport<'_>) + Send + Sync;

/// Optional callback for debts.
#[derive(Clone, Default)]
pub(crate) struct Reporter(Option<Arc<ReportDebt>>);

impl Reporter {
    pub(crate) fn new(report: impl Fn(&DebtReport<'_>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(report)))
    }

    pub(super) fn report(&self, debt: &DebtReport<'_>) {
        if let Some(report) = &self.0 {
            report(debt);
        }
    }
}

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reporter").finish_non_exhaustive()
    }
}
