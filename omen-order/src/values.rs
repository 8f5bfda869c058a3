//! Values of calls as rules compare them: tests with three results, members that are equal, sums.
//!
//! Arguments and answers are read once. What remains of them is whether they fit a test, keys that stand for members,
//! and numbers that are added.

mod member;
mod sum;

use std::fmt;

use serde_json::Value;

pub use member::{Key, Secret};
pub(crate) use member::{MemberValue, equal, key_of, plain};
pub(crate) use sum::{Amount, amount};

/// Result of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// Does not fit.
    No,
    /// Cannot be decided.
    Unknown,
    /// Fits.
    Yes,
}

impl Fit {
    /// Result of a test that must hold together with another one.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.min(other)
    }

    /// Result of a test of which one of two must hold.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        self.max(other)
    }
}

/// Test of the arguments or the answer of a call.
pub trait ValueTest: fmt::Debug + Send + Sync {
    /// Tests a value.
    fn judge(&self, value: &Value) -> Fit;

    /// Tests a value as a log has it, parts of which may be hidden: those are unknown.
    fn judge_recorded(&self, value: &Value) -> Fit {
        self.judge(value)
    }

    /// Text that identifies the test: equal for equal tests, in this process and in later ones.
    fn content(&self) -> String;

    /// Whether the test may query the file system.
    fn may_block(&self) -> bool {
        false
    }

    /// The test itself, for the crate that defines it: it gives [`prove`](crate::prove) representative values.
    fn as_any(&self) -> Option<&dyn std::any::Any> {
        None
    }
}
