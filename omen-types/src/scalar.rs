//! Traits and errors shared by all checked scalars.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize as _;
use serde::de::{Deserializer, Error, Unexpected, Visitor};

#[doc(hidden)]
pub mod invisible;

/// Error for a value that a checked scalar refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    name: &'static str,
    expects: &'static str,
    got: String,
}

impl Invalid {
    /// Creates the error for `got`, which is not a `name`; `expects` describes the accepted values.
    #[must_use]
    pub fn new(name: &'static str, expects: &'static str, got: String) -> Self {
        Self { name, expects, got }
    }

    /// Returns the scalar's name, such as `PacketId`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns a description of the accepted values.
    #[must_use]
    pub fn expects(&self) -> &'static str {
        self.expects
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short: String = self.got.chars().take(80).collect();
        write!(f, "invalid {} `{}`; expected {}", self.name, short.escape_debug(), self.expects)
    }
}

impl std::error::Error for Invalid {}

/// Restricts the traits of this module to the generated types.
pub(crate) mod sealed {
    /// Implemented only by the generated scalars. Other crates cannot name it.
    #[diagnostic::on_unimplemented(
        message = "SCHEMA: the checked scalars are those of the schema, and `{Self}` is not one",
        label = "not a scalar of the protocol",
        note = "use a scalar of the schema, such as `Text` or `TokenId`; its `new` checks the value"
    )]
    pub trait Scalar {}
}

/// Creation of a scalar from a checked value. This trait is private to the crate, so other crates can obtain only
/// scalars that passed their check.
pub(crate) trait FromChecked<Raw>: Sized {
    /// Wraps a value. INVARIANT: the type's own check accepts it.
    fn trusted(raw: Raw) -> Self;
}

/// Constant text that the check of `T` has accepted; `T::from` converts it to the scalar. Only `T::literal` creates one.
#[derive(Debug)]
pub struct TextLiteral<T> {
    text: &'static str,
    of: PhantomData<fn(T) -> T>,
}

impl<T> TextLiteral<T> {
    /// Wraps a text. INVARIANT: the check of `T` accepts it.
    pub(crate) const fn trusted(text: &'static str) -> Self {
        Self { text, of: PhantomData }
    }

    /// Returns the text.
    #[must_use]
    pub const fn get(&self) -> &'static str {
        self.text
    }
}

/// Constant number that the check of `T` has accepted; `T::from` converts it to the scalar. Only `T::literal` creates one.
#[derive(Debug)]
pub struct NumberLiteral<T> {
    number: f64,
    of: PhantomData<fn(T) -> T>,
}

impl<T> NumberLiteral<T> {
    /// Wraps a number. INVARIANT: the check of `T` accepts it.
    pub(crate) const fn trusted(number: f64) -> Self {
        Self { number, of: PhantomData }
    }

    /// Returns the number.
    #[must_use]
    pub const fn get(&self) -> f64 {
        self.number
    }
}

/// Checked string. Implemented by generated types only.
pub trait TextScalar: sealed::Scalar + Sized {
    /// Description of the accepted values.
    const EXPECTS: &'static str;

    /// Whether the text is for human readers, to whom a text without visible characters looks empty. Programs cannot
    /// create such a text; in a log, it is accepted, because the schema accepts it.
    const IS_FOR_READERS: bool = false;

    /// Returns whether a text is accepted in a packet.
    fn holds(text: &str) -> bool;
}

/// Integer within bounds. Implemented by generated types only.
pub trait IntegerScalar: sealed::Scalar + Sized {
    /// Smallest value.
    const MIN: u64;
    /// Largest value.
    const MAX: u64;
}

/// Integer constant as a type.
#[derive(Clone, Copy, Debug)]
pub enum Constant<const VALUE: u64> {}

/// Constant within the bounds of the integer `T`. Implemented by generated types only.
#[diagnostic::on_unimplemented(
    message = "SCHEMA: `{Self}` is out of bounds for a `{T}`",
    label = "out of bounds",
    note = "the bounds are those of the schema; `T::MIN` and `T::MAX` have them"
)]
pub trait Within<T> {}

/// Number within bounds. Implemented by generated types only.
pub trait NumberScalar: sealed::Scalar + Sized {
    /// Smallest value, if any.
    const MIN: Option<f64>;
    /// Largest value, if any.
    const MAX: Option<f64>;

    /// Returns whether a number is within the bounds.
    #[must_use]
    fn holds(value: f64) -> bool {
        Self::MIN.is_none_or(|min| value >= min) && Self::MAX.is_none_or(|max| value <= max)
    }
}

/// Returns an integer that JSON writes as a float, such as `1.0`, which JSON Schema accepts as an integer (D41).
#[must_use]
pub(crate) fn integral(value: f64) -> Option<u64> {
    // 2^53 is the first integer that a double cannot distinguish from its successor.
    if value.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&value) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "range checked above")]
        Some(value as u64)
    } else {
        None
    }
}

/// Value of a string enum.
pub(crate) trait TextEnum: Sized {
    /// Description of the accepted values.
    const EXPECTS: &'static str;

    fn from_text(text: &str) -> Option<Self>;
}

pub(crate) fn word<'de, T: TextEnum, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct WordVisitor<T>(PhantomData<T>);

    impl<T: TextEnum> Visitor<'_> for WordVisitor<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(T::EXPECTS)
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            T::from_text(text).ok_or_else(|| E::custom(T::EXPECTS))
        }
    }

    deserializer.deserialize_str(WordVisitor(PhantomData))
}

pub(crate) fn text<'de, T: TextScalar + FromChecked<String>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    if T::holds(&text) { Ok(T::trusted(text)) } else { Err(D::Error::custom(T::EXPECTS)) }
}

pub(crate) fn integer<'de, T: IntegerScalar + FromChecked<u64>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    struct IntegerVisitor<T>(PhantomData<T>);

    impl<T: IntegerScalar + FromChecked<u64>> Visitor<'_> for IntegerVisitor<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "an integer from {} to {}", T::MIN, T::MAX)
        }

        fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
            if (T::MIN..=T::MAX).contains(&value) {
                Ok(T::trusted(value))
            } else {
                Err(E::invalid_value(Unexpected::Unsigned(value), &self))
            }
        }

        fn visit_f64<E: Error>(self, value: f64) -> Result<T, E> {
            match integral(value) {
                Some(value) => self.visit_u64(value),
                None => Err(E::invalid_value(Unexpected::Float(value), &self)),
            }
        }
    }

    deserializer.deserialize_u64(IntegerVisitor(PhantomData))
}

/// Deserializes a number in its original notation: `1` stays `1`, and `1.0` stays `1.0`.
pub(crate) fn number<'de, T: NumberScalar + FromChecked<serde_json::Number>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let number = serde_json::Number::deserialize(deserializer)?;
    if number.as_f64().is_some_and(T::holds) {
        Ok(T::trusted(number))
    } else {
        Err(D::Error::custom("a number out of bounds"))
    }
}

/// Returns the value of a number if it is an integer, in any notation (D41).
pub(crate) fn whole(number: &serde_json::Number) -> Option<u64> {
    number.as_u64().or_else(|| number.as_f64().filter(|_| number.is_f64()).and_then(integral))
}
