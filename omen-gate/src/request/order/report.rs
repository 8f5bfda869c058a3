//! Reports of what sessions owe, to the program that runs the gate.

use std::fmt;
use std::sync::Arc;

use omen_order::Owed;

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionEnd {
    /// The client or the program closed it.
    Closed,
    /// Its server ended.
    Server,
    /// It made no calls for as long as `idle` in `[order]` says.
    Idle,
    /// The gate was stopped before its end; the next start has ended it.
    Lost,
}

impl SessionEnd {
    /// Name in the audit log.
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

/// What a debt was to be settled within.
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
    /// A session or a turn has ended that owed something.
    Ended {
        /// Whether it is a session or a turn.
        scope: DebtScope,
        /// Name of the session or turn.
        name: &'r str,
        /// How it ended.
        how: SessionEnd,
        /// What it owed.
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
