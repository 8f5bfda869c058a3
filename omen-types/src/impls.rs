//! Implementations shared by all generated types of one kind: checked scalars, string enums, objects.
//!
//! These are macros because each type needs its own implementation; the differences between types are generated.

/// Implements deserialization of a scalar, including its check.
macro_rules! deserialize {
    ($name:ty, $read:ident) => {
        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::scalar::$read(deserializer)
            }
        }
    };
}

/// Implements the shape of a closed object.
macro_rules! object {
    ($name:ident, $shape:expr) => {
        impl $crate::shape::HasShape for $name {
            fn shape() -> &'static $crate::shape::Shape {
                &$shape
            }
        }
    };
}

/// Implements the conversion from a packet of any type into one of a given type.
macro_rules! packet_of_type {
    ($name:ident, $variant:ident) => {
        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                match Packet::deserialize(deserializer)? {
                    Packet::$variant(packet) => Ok(packet),
                    other => Err(::serde::de::Error::custom(format_args!(
                        "expected `{}`, found `{}`",
                        Self::TYPE,
                        other.packet_type()
                    ))),
                }
            }
        }
    };
}

/// Implements a string enum; its function `from_text` returns the value for a text.
macro_rules! text_enum {
    ($name:ident, $wire:literal, $expects:literal) => {
        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::scalar::Invalid;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::from_text(text).ok_or_else(|| $crate::scalar::Invalid::new($wire, $expects, text.to_owned()))
            }
        }

        impl $crate::scalar::TextEnum for $name {
            const EXPECTS: &'static str = $expects;

            fn from_text(text: &str) -> Option<Self> {
                Self::from_text(text)
            }
        }

        deserialize!($name, word);
    };
}

/// Implements a checked string; `TextScalar` defines its check.
macro_rules! text_scalar {
    ($name:ident, $wire:literal) => {
        impl $name {
            /// Checks a text and wraps it.
            ///
            /// # Errors
            /// If the text does not pass the check.
            pub fn new(text: impl Into<String>) -> Result<Self, $crate::scalar::Invalid> {
                let text = text.into();
                if !<Self as $crate::scalar::TextScalar>::holds(&text) {
                    let expects = <Self as $crate::scalar::TextScalar>::EXPECTS;
                    return Err($crate::scalar::Invalid::new($wire, expects, text));
                }
                if <Self as $crate::scalar::TextScalar>::IS_FOR_READERS && !$crate::scalar::invisible::is_visible(&text)
                {
                    return Err($crate::scalar::Invalid::new($wire, "a string with a visible character", text));
                }
                Ok(Self(text))
            }

            /// Returns the text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl $crate::scalar::sealed::Scalar for $name {}

        impl $crate::scalar::FromChecked<String> for $name {
            #[inline]
            fn trusted(text: String) -> Self {
                Self(text)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> String {
                value.0
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::scalar::Invalid;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::new(text)
            }
        }

        impl TryFrom<&str> for $name {
            type Error = $crate::scalar::Invalid;

            fn try_from(text: &str) -> Result<Self, Self::Error> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::scalar::Invalid;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                Self::new(text)
            }
        }

        deserialize!($name, text);
    };
}

/// Defines infallible functions of a checked string that must only be non-empty.
macro_rules! non_empty_text {
    ($name:ident) => {
        impl $name {
            /// Checks a constant text; `None` if it has no visible character. In a `const`, the check runs at compile time.
            #[must_use]
            pub const fn literal(text: &'static str) -> Option<$crate::scalar::TextLiteral<Self>> {
                if $crate::scalar::invisible::is_visible(text) {
                    Some($crate::scalar::TextLiteral::trusted(text))
                } else {
                    None
                }
            }

            /// Returns the text with a prefix.
            #[must_use]
            pub fn prefixed(&self, before: &str) -> Self {
                Self(format!("{before}{}", self.0))
            }

            /// Returns the text with a suffix.
            #[must_use]
            pub fn suffixed(&self, after: &str) -> Self {
                Self(format!("{}{after}", self.0))
            }
        }

        impl From<$crate::scalar::TextLiteral<Self>> for $name {
            fn from(literal: $crate::scalar::TextLiteral<Self>) -> Self {
                Self(literal.get().to_owned())
            }
        }
    };
}

/// Implements an integer within bounds, which `IntegerScalar` defines.
macro_rules! integer_scalar {
    ($name:ident, $wire:literal, $expects:literal) => {
        impl $name {
            /// Smallest value.
            pub const MIN: Self = Self(<Self as $crate::scalar::IntegerScalar>::MIN);
            /// Largest value.
            pub const MAX: Self = Self(<Self as $crate::scalar::IntegerScalar>::MAX);

            /// Checks a value and wraps it.
            ///
            /// # Errors
            /// If it is out of bounds.
            pub fn new(value: u64) -> Result<Self, $crate::scalar::Invalid> {
                if (Self::MIN.0..=Self::MAX.0).contains(&value) {
                    Ok(Self(value))
                } else {
                    Err($crate::scalar::Invalid::new($wire, $expects, value.to_string()))
                }
            }

            /// Returns the value.
            #[must_use]
            #[inline]
            pub const fn get(self) -> u64 {
                self.0
            }
        }

        impl $crate::scalar::sealed::Scalar for $name {}

        impl $crate::scalar::FromChecked<u64> for $name {
            #[inline]
            fn trusted(value: u64) -> Self {
                Self(value)
            }
        }

        impl From<$name> for u64 {
            fn from(value: $name) -> u64 {
                value.0
            }
        }

        impl TryFrom<u64> for $name {
            type Error = $crate::scalar::Invalid;

            fn try_from(value: u64) -> Result<Self, Self::Error> {
                Self::new(value)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                self.0.fmt(f)
            }
        }

        deserialize!($name, integer);
    };
}

/// Defines constants of an integer with few values. Each value is listed, so `cargo check` detects one that is out of bounds.
macro_rules! few_integers {
    ($name:ident, $($value:literal)*) => {
        impl $name {
            /// Returns a constant value; a value that is out of bounds does not compile.
            #[must_use]
            pub const fn of<const VALUE: u64>() -> Self
            where
                $crate::scalar::Constant<VALUE>: $crate::scalar::Within<Self>,
            {
                Self(VALUE)
            }
        }

        $(impl $crate::scalar::Within<$name> for $crate::scalar::Constant<$value> {})*
    };
}

/// Defines constants of an integer with many values. The bounds are checked by `cargo build`, where a constant is used.
macro_rules! many_integers {
    ($name:ident, $wire:literal, $expects:literal) => {
        impl $name {
            /// Returns a constant value; a value that is out of bounds does not compile.
            #[must_use]
            pub const fn of<const VALUE: u64>() -> Self {
                const {
                    assert!(
                        VALUE >= Self::MIN.0 && VALUE <= Self::MAX.0,
                        concat!("SCHEMA: a `", $wire, "` is ", $expects)
                    )
                };
                Self(VALUE)
            }
        }
    };
}

/// Implements a number within bounds, which `NumberScalar` defines.
macro_rules! number_scalar {
    ($name:ident, $wire:literal, $expects:literal) => {
        impl $name {
            /// Checks a value and wraps it.
            ///
            /// # Errors
            /// If it is out of bounds or not finite.
            pub fn new(value: f64) -> Result<Self, $crate::scalar::Invalid> {
                match ::serde_json::Number::from_f64(value) {
                    Some(number) if <Self as $crate::scalar::NumberScalar>::holds(value) => Ok(Self(number)),
                    _ => Err($crate::scalar::Invalid::new($wire, $expects, value.to_string())),
                }
            }

            /// Returns the value as the nearest double.
            #[must_use]
            pub fn get(&self) -> f64 {
                self.0.as_f64().unwrap_or(f64::NAN)
            }
        }

        impl $crate::scalar::sealed::Scalar for $name {}

        impl $crate::scalar::FromChecked<::serde_json::Number> for $name {
            fn trusted(value: ::serde_json::Number) -> Self {
                Self(value)
            }
        }

        impl TryFrom<f64> for $name {
            type Error = $crate::scalar::Invalid;

            fn try_from(value: f64) -> Result<Self, Self::Error> {
                Self::new(value)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                self.0.fmt(f)
            }
        }

        deserialize!($name, number);
    };
}
