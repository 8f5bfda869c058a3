//! R2: a turn's failure budget.

use crate::call::abort::Abort;
use crate::call::fault::{Fault, FaultClass};

/// Bounds of a failure budget. The protocol's values, 3 and 2, are maxima; a configuration can only be stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetLimits {
    failures: u32,
    in_a_row: u32,
}

impl BudgetLimits {
    /// Maximum number of failures in a turn (R2).
    pub const MAX_FAILURES: u32 = 3;
    /// Maximum number of consecutive failures in a turn (R2).
    pub const MAX_IN_A_ROW: u32 = 2;

    /// Creates bounds for total and consecutive failures. Values are clamped to
    /// 1..=[`MAX_FAILURES`](Self::MAX_FAILURES) and 1..=[`MAX_IN_A_ROW`](Self::MAX_IN_A_ROW).
    #[must_use]
    pub fn new(failures: u32, in_a_row: u32) -> Self {
        Self { failures: failures.clamp(1, Self::MAX_FAILURES), in_a_row: in_a_row.clamp(1, Self::MAX_IN_A_ROW) }
    }

    /// Returns the maximum number of failures in a turn.
    #[must_use]
    pub fn failures(self) -> u32 {
        self.failures
    }

    /// Returns the maximum number of consecutive failures.
    #[must_use]
    pub fn in_a_row(self) -> u32 {
        self.in_a_row
    }
}

impl Default for BudgetLimits {
    fn default() -> Self {
        Self::new(Self::MAX_FAILURES, Self::MAX_IN_A_ROW)
    }
}

/// Failures of one turn. Faults of every class count.
///
/// A turn with a spent budget makes no further calls, so failures never exceed the budget. The turn may still end
/// normally if it needs no more calls.
#[derive(Debug)]
pub struct FailureBudget {
    limits: BudgetLimits,
    failures: u32,
    in_a_row: u32,
    last: Option<FaultClass>,
}

impl FailureBudget {
    /// Creates the budget of a new turn.
    #[must_use]
    pub fn new(limits: BudgetLimits) -> Self {
        Self { limits, failures: 0, in_a_row: 0, last: None }
    }

    /// Restores the budget of a turn that began before a restart.
    pub(crate) fn resumed(limits: BudgetLimits, failures: u32, in_a_row: u32, last: FaultClass) -> Self {
        Self { limits, failures, in_a_row, last: Some(last) }
    }

    /// Reserves the budget for one call until the end of the call is reported, so a turn makes one call at a time.
    ///
    /// # Errors
    /// If the budget is spent. It stays spent for the rest of the turn.
    pub fn attempt(&mut self) -> Result<Attempt<'_>, Abort> {
        match self.last {
            Some(last) if self.failures >= self.limits.failures => {
                Err(Abort::TooManyFailures { failures: self.failures, last })
            }
            Some(last) if self.in_a_row >= self.limits.in_a_row => {
                Err(Abort::TooManyInARow { failures: self.in_a_row, last })
            }
            _ => Ok(Attempt { budget: self, open: true }),
        }
    }

    /// Returns the number of failures so far.
    #[must_use]
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// Returns the number of failures since the last success.
    #[must_use]
    pub fn in_a_row(&self) -> u32 {
        self.in_a_row
    }
}

/// Call within the budget. Dropping it without a report, e.g. because the call is cancelled, counts as a failure.
#[derive(Debug)]
#[must_use = "dropping it counts as a failure"]
pub struct Attempt<'b> {
    budget: &'b mut FailureBudget,
    open: bool,
}

impl Attempt<'_> {
    /// Reports that the call succeeded.
    pub fn success(mut self) {
        self.open = false;
        self.budget.in_a_row = 0;
    }

    /// Reports that the call failed.
    pub fn failure(mut self, fault: &Fault) {
        self.count(fault.class());
    }

    /// Reports that a rule blocked the call before it reached the tool. Nothing is counted.
    pub fn unused(mut self) {
        self.open = false;
    }

    fn count(&mut self, class: FaultClass) {
        self.open = false;
        self.budget.failures += 1;
        self.budget.in_a_row += 1;
        self.budget.last = Some(class);
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if self.open {
            self.count(FaultClass::Cancelled);
        }
    }
}
