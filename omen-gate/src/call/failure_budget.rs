//! R2: how many failures a turn may have.

use crate::call::abort::Abort;
use crate::call::fault::{Fault, FaultClass};

/// The bounds of a failure budget. The documents' figures, 3 and 2, are the most that there can be; a
/// configuration may only be stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetLimits {
    failures: u32,
    in_a_row: u32,
}

impl BudgetLimits {
    /// The most failures that a turn may have (R2).
    pub const MAX_FAILURES: u32 = 3;
    /// The most failures that a turn may have in a row (R2).
    pub const MAX_IN_A_ROW: u32 = 2;

    /// Bounds for failures in all and in a row, each at least 1; what is looser than the documents' is brought down
    /// to theirs.
    #[must_use]
    pub fn new(failures: u32, in_a_row: u32) -> Self {
        Self { failures: failures.clamp(1, Self::MAX_FAILURES), in_a_row: in_a_row.clamp(1, Self::MAX_IN_A_ROW) }
    }

    /// How many failures a turn may have.
    #[must_use]
    pub fn failures(self) -> u32 {
        self.failures
    }

    /// How many it may have in a row.
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

/// The failures of one turn. Every fault counts, of whatever class.
///
/// A turn with a spent budget makes no further call, so that there are never more failures than the budget
/// says. It may still end in good order if nothing more is to be called.
#[derive(Debug)]
pub struct FailureBudget {
    limits: BudgetLimits,
    failures: u32,
    in_a_row: u32,
    last: Option<FaultClass>,
}

impl FailureBudget {
    /// The budget of a new turn.
    #[must_use]
    pub fn new(limits: BudgetLimits) -> Self {
        Self { limits, failures: 0, in_a_row: 0, last: None }
    }

    /// The budget of a turn that began before a restart.
    pub(crate) fn resumed(limits: BudgetLimits, failures: u32, in_a_row: u32, last: FaultClass) -> Self {
        Self { limits, failures, in_a_row, last: Some(last) }
    }

    /// Asks for leave to make a call. The budget is held until the call's end is reported, so a turn makes one
    /// call at a time.
    ///
    /// # Errors
    /// If the budget is spent. It stays so.
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

    /// How many failures there were.
    #[must_use]
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// How many there were since the last success.
    #[must_use]
    pub fn in_a_row(&self) -> u32 {
        self.in_a_row
    }
}

/// A call that the budget gave leave for. If it is dropped without a word, as when a call is cancelled, that is
/// a failure.
#[derive(Debug)]
#[must_use = "dropping it counts as a failure"]
pub struct Attempt<'b> {
    budget: &'b mut FailureBudget,
    open: bool,
}

impl Attempt<'_> {
    /// The call succeeded.
    pub fn success(mut self) {
        self.open = false;
        self.budget.in_a_row = 0;
    }

    /// The call failed.
    pub fn failure(mut self, fault: &Fault) {
        self.count(fault.class());
    }

    /// There was no call: a rule blocked it before it came to the tool. Nothing is counted.
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
