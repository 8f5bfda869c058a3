//! Values of calls as rules compare them: tests with three results, equality of members, sums.
//!
//! Arguments and answers are read once. The result of each test, keys for members, and numbers to add up are kept.

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
    /// Returns the result of two tests that must both hold.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.min(other)
    }

    /// Returns the result of two tests of which one must hold.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        self.max(other)
    }
}

/// Test of the arguments or the answer of a call.
pub trait ValueTest: fmt::Debug + Send + Sync {
    /// Tests a value.
    fn judge(&self, value: &Value) -> Fit;

    /// Tests a value from a log. Parts may be hidden, and are unknown.
    fn judge_recorded(&self, value: &Value) -> Fit {
        self.judge(value)
    }

    /// Returns a text that identifies the test: equal for equal tests, in this process and in later ones.
    fn content(&self) -> String;

    /// Returns whether the test may query the file system.
    fn may_block(&self) -> bool {
        false
    }

    /// Returns the test itself, for the crate that defines it, which gives [`prove`](crate::prove) representative values.
    fn as_any(&self) -> Option<&dyn std::any::Any> {
        None
    }
}
