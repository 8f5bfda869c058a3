//! Literals that are checked while the program is compiled.

use omen_types::scalar::{NumberScalar as _, TextScalar as _};
use omen_types::serde_json::Number;
use omen_types::{Text, UnitInterval};

/// A [`Text`] from a constant string; an empty one does not compile (INV-001).
///
/// ```
/// let summary = omen_invariants::text!("drain pool 7");
/// assert_eq!(summary.as_str(), "drain pool 7");
/// ```
///
/// ```compile_fail,E0080
/// let summary = omen_invariants::text!("");
/// ```
#[macro_export]
macro_rules! text {
    ($text:expr $(,)?) => {{
        // Constants are not hygienic: a plainer name could be the one that is passed.
        const __OMEN_TEXT: &str = $text;
        const _: () = ::core::assert!(
            !__OMEN_TEXT.is_empty(),
            "INV-001: this text is empty; the envelope needs at least one character here"
        );
        $crate::facts::__text_of(__OMEN_TEXT)
    }};
}

/// A [`UnitInterval`] from a constant number; one outside 0 to 1 does not compile (INV-001).
///
/// ```
/// let confidence = omen_invariants::unit!(0.8);
/// assert_eq!(confidence.get(), 0.8);
/// ```
///
/// ```compile_fail,E0080
/// let confidence = omen_invariants::unit!(1.8);
/// ```
#[macro_export]
macro_rules! unit {
    ($number:expr $(,)?) => {{
        const __OMEN_NUMBER: f64 = $number as f64;
        const _: () =
            ::core::assert!($crate::facts::within_unit(__OMEN_NUMBER), "INV-001: this number is not within 0 and 1");
        $crate::facts::__unit_of(__OMEN_NUMBER)
    }};
}

/// INVARIANT: only [`text!`](crate::text) calls this, with a text that is not empty.
#[must_use]
pub fn __text_of(text: &'static str) -> Text {
    Text::trusted(text.to_owned())
}

/// INVARIANT: only [`unit!`](crate::unit) calls this, with a number that [`within_unit`] takes.
#[must_use]
pub fn __unit_of(number: f64) -> UnitInterval {
    // A number within bounds is finite, and so is JSON.
    UnitInterval::trusted(Number::from_f64(number).unwrap_or_else(|| Number::from(0)))
}

/// Whether a number is within the bounds that the schema has for a [`UnitInterval`]; NaN is not.
#[must_use]
pub const fn within_unit(number: f64) -> bool {
    use omen_types::scalar::NumberScalar;
    let above = match <UnitInterval as NumberScalar>::MIN {
        Some(min) => number >= min,
        None => true,
    };
    let below = match <UnitInterval as NumberScalar>::MAX {
        Some(max) => number <= max,
        None => true,
    };
    above && below
}
