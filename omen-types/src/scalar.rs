//! What all checked scalars share: the traits that generated ones implement, and their error.

use std::fmt;

/// A value that a checked scalar does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    name: &'static str,
    expects: &'static str,
    got: String,
}

impl Invalid {
    #[doc(hidden)]
    #[must_use]
    pub fn new(name: &'static str, expects: &'static str, got: String) -> Self {
        Self { name, expects, got }
    }

    /// The scalar's name, such as `PacketId`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it takes, in words.
    #[must_use]
    pub fn expects(&self) -> &'static str {
        self.expects
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short: String = self.got.chars().take(80).collect();
        write!(f, "`{}` is no {}: expected {}", short.escape_debug(), self.name, self.expects)
    }
}

impl std::error::Error for Invalid {}

/// A string with a check. Implemented by generated types only.
pub trait TextScalar: Sized {
    /// What it takes, in words.
    const EXPECTS: &'static str;

    /// Whether a text is one.
    fn holds(text: &str) -> bool;

    /// Takes a text that was checked already.
    #[doc(hidden)]
    fn trusted(text: String) -> Self;
}

/// An integer within bounds. Implemented by generated types only.
pub trait IntegerScalar: Sized {
    /// Smallest value.
    const MIN: u64;
    /// Largest value.
    const MAX: u64;

    /// Takes a value that was checked already.
    #[doc(hidden)]
    fn trusted(value: u64) -> Self;
}

/// A number within bounds. Implemented by generated types only.
pub trait NumberScalar: Sized {
    /// Smallest value, if there is one.
    const MIN: Option<f64>;
    /// Largest value, if there is one.
    const MAX: Option<f64>;

    /// Takes a value that was checked already.
    #[doc(hidden)]
    fn trusted(value: serde_json::Number) -> Self;

    /// Whether a number is within the bounds.
    #[must_use]
    fn holds(value: f64) -> bool {
        Self::MIN.is_none_or(|min| value >= min) && Self::MAX.is_none_or(|max| value <= max)
    }
}

/// An integer that JSON wrote as a float, such as `1.0`: JSON Schema takes it as one (D41).
#[must_use]
pub(crate) fn integral(value: f64) -> Option<u64> {
    // 2^53 is the first integer whose neighbour a double cannot tell from it.
    if value.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&value) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "range checked above")]
        Some(value as u64)
    } else {
        None
    }
}
