//! Readers: how one JSON value of a schema definition is read strictly, keeping only what a purpose
//! needs.
//!
//! The generated code has three readers for a definition, all made from the same model and all
//! equally strict: the *owned* one builds the public type, the *facts* one borrows and keeps the few
//! members that rules check, the *check* one keeps nothing. Strict means: JSON Schema's verdict,
//! and no repeated key anywhere (D42). A reader only accepts or refuses; [`crate::shape`] lists the
//! errors with their places.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};

use crate::scalar::{IntegerScalar, NumberScalar, TextScalar, Trusted, integral};
use crate::time::{self, Instant, Timestamp};

pub(crate) mod free;

/// Reads one value of a definition.
pub(crate) trait Read<'de> {
    /// What is kept of it.
    type Out;

    /// Reads it.
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self::Out, D::Error>;
}

/// A reader as a serde seed.
pub(crate) struct Seed<R: ?Sized>(PhantomData<fn() -> R>);

impl<R: ?Sized> Seed<R> {
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<'de, R: Read<'de> + ?Sized> DeserializeSeed<'de> for Seed<R> {
    type Value = R::Out;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<R::Out, D::Error> {
        R::read(deserializer)
    }
}

/// Reads a definition and keeps nothing that costs.
pub(crate) struct Check<T>(PhantomData<T>);

/// The member names of a closed object.
pub(crate) trait Key: Sized + Copy + 'static {
    /// The names, in schema order.
    const NAMES: &'static [&'static str];
    /// The members, in schema order.
    const ALL: &'static [Self];

    fn of(name: &str) -> Option<Self>;
}

/// Reads a member's name. Writers mostly keep schema order, so the one that would come next is
/// compared first: one comparison instead of several.
pub(crate) struct KeySeed<K> {
    next: usize,
    key: PhantomData<fn() -> K>,
}

impl<K> KeySeed<K> {
    /// `next` is the position in schema order that is the likeliest.
    #[inline]
    pub(crate) const fn new(next: usize) -> Self {
        Self { next, key: PhantomData }
    }
}

impl<'de, K: Key> DeserializeSeed<'de> for KeySeed<K> {
    type Value = K;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<K, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<K: Key> Visitor<'_> for KeySeed<K> {
    type Value = K;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one of the members {}", K::NAMES.join(", "))
    }

    #[inline]
    fn visit_str<E: Error>(self, name: &str) -> Result<K, E> {
        match (K::NAMES.get(self.next), K::ALL.get(self.next)) {
            (Some(likely), Some(key)) if *likely == name => Ok(*key),
            _ => K::of(name).ok_or_else(|| unknown(name)),
        }
    }
}

#[cold]
pub(crate) fn unknown<E: Error>(name: &str) -> E {
    E::custom(format_args!("unknown member `{name}`"))
}

/// Notes in `seen` that a member is there; fails if it was there before.
#[inline]
pub(crate) fn once<E: Error>(seen: &mut u64, bit: u64) -> Result<(), E> {
    if *seen & bit != 0 {
        return Err(E::custom("a member is repeated"));
    }
    *seen |= bit;
    Ok(())
}

/// Fails unless all required members are there.
#[inline]
pub(crate) fn need<E: Error>(seen: u64, required: u64, names: &[&str]) -> Result<(), E> {
    if seen & required == required {
        return Ok(());
    }
    let first = (required & !seen).trailing_zeros() as usize;
    Err(E::custom(format_args!("member `{}` is missing", names.get(first).unwrap_or(&"?"))))
}

/// The value of a member that [`need`] has vouched for.
#[inline]
pub(crate) fn must<T, E: Error>(value: Option<T>) -> Result<T, E> {
    value.ok_or_else(|| E::custom("a member is missing"))
}

macro_rules! visitor {
    (
        $(#[$meta:meta])* $reader:ty [$($generics:tt)*] => $out:ty, $ask:ident, $expects:expr;
        $($body:tt)*
    ) => {
        $(#[$meta])*
        impl<'de, $($generics)*> Read<'de> for $reader {
            type Out = $out;

            #[inline]
            fn read<D: Deserializer<'de>>(deserializer: D) -> Result<$out, D::Error> {
                deserializer.$ask(Seed::<$reader>::new())
            }
        }

        impl<'de, $($generics)*> Visitor<'de> for Seed<$reader> {
            type Value = $out;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($expects)
            }

            $($body)*
        }
    };
}

visitor! { bool [] => bool, deserialize_bool, "true or false";
    #[inline]
    fn visit_bool<E>(self, value: bool) -> Result<bool, E> {
        Ok(value)
    }
}

visitor! { String [] => String, deserialize_str, "a string";
    #[inline]
    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }
    #[inline]
    fn visit_string<E>(self, text: String) -> Result<String, E> {
        Ok(text)
    }
}

/// Any string, borrowed where it has no escapes.
pub(crate) struct Borrowed<T>(PhantomData<T>);

visitor! { Borrowed<String> [] => Cow<'de, str>, deserialize_str, "a string";
    #[inline]
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(text))
    }
    fn visit_str<E>(self, text: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

// Keeps of a string whether it has any character: conditionals ask for that.
visitor! { Check<String> [] => bool, deserialize_str, "a string";
    #[inline]
    fn visit_str<E>(self, text: &str) -> Result<bool, E> {
        Ok(!text.is_empty())
    }
}

/// A string or `null`.
pub(crate) struct Nullable<R>(PhantomData<R>);

visitor! { Nullable<String> [] => Option<String>, deserialize_any, "a string or null";
    fn visit_unit<E>(self) -> Result<Option<String>, E> {
        Ok(None)
    }
    fn visit_str<E>(self, text: &str) -> Result<Option<String>, E> {
        Ok(Some(text.to_owned()))
    }
}

visitor! { Nullable<Check<String>> [] => Option<bool>, deserialize_any, "a string or null";
    #[inline]
    fn visit_unit<E>(self) -> Result<Option<bool>, E> {
        Ok(None)
    }
    #[inline]
    fn visit_str<E>(self, text: &str) -> Result<Option<bool>, E> {
        Ok(Some(!text.is_empty()))
    }
}

/// A checked string, as its owned type.
pub(crate) struct OwnedText<T>(PhantomData<T>);

visitor! { OwnedText<T> [T: TextScalar + Trusted<String>] => T, deserialize_str, T::EXPECTS;
    #[inline]
    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        if T::holds(text) { Ok(T::trusted(text.to_owned())) } else { Err(E::custom(T::EXPECTS)) }
    }
}

/// A checked string, borrowed where it has no escapes.
pub(crate) struct BorrowedText<T>(PhantomData<T>);

visitor! { BorrowedText<T> [T: TextScalar] => Cow<'de, str>, deserialize_str, T::EXPECTS;
    #[inline]
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Cow<'de, str>, E> {
        if T::holds(text) { Ok(Cow::Borrowed(text)) } else { Err(E::custom(T::EXPECTS)) }
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Cow<'de, str>, E> {
        if T::holds(text) { Ok(Cow::Owned(text.to_owned())) } else { Err(E::custom(T::EXPECTS)) }
    }
}

/// A checked string, of which only its being non-empty is kept.
pub(crate) struct CheckText<T>(PhantomData<T>);

visitor! { CheckText<T> [T: TextScalar] => bool, deserialize_str, T::EXPECTS;
    #[inline]
    fn visit_str<E: Error>(self, text: &str) -> Result<bool, E> {
        if T::holds(text) { Ok(!text.is_empty()) } else { Err(E::custom(T::EXPECTS)) }
    }
}

visitor! { Timestamp [] => Timestamp, deserialize_str, time::EXPECTS;
    fn visit_str<E: Error>(self, text: &str) -> Result<Timestamp, E> {
        match time::parse(text) {
            Some(instant) => Ok(Timestamp::trusted(text.to_owned(), instant)),
            None => Err(E::custom(time::EXPECTS)),
        }
    }
}

deserialize!(Timestamp, Timestamp);

visitor! { Instant [] => Instant, deserialize_str, time::EXPECTS;
    #[inline]
    fn visit_str<E: Error>(self, text: &str) -> Result<Instant, E> {
        time::parse(text).ok_or_else(|| E::custom(time::EXPECTS))
    }
}

/// An integer within bounds.
pub(crate) struct Integer<T>(PhantomData<T>);

visitor! { Integer<T> [T: IntegerScalar + Trusted<u64>] => T, deserialize_u64, "an integer within bounds";
    #[inline]
    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        if (T::MIN..=T::MAX).contains(&value) {
            Ok(T::trusted(value))
        } else {
            Err(E::custom("an integer out of bounds"))
        }
    }
    fn visit_f64<E: Error>(self, value: f64) -> Result<T, E> {
        match integral(value) {
            Some(value) => self.visit_u64(value),
            None => Err(E::custom("not an integer within bounds")),
        }
    }
}

/// A number within bounds, kept as it was written: `1` stays `1`, and `1.0` stays `1.0`.
pub(crate) struct Number<T>(PhantomData<T>);

visitor! { Number<T> [T: NumberScalar + Trusted<serde_json::Number>] => T, deserialize_f64, "a number within bounds";
    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        bounded(value.into())
    }
    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        bounded(value.into())
    }
    fn visit_f64<E: Error>(self, value: f64) -> Result<T, E> {
        bounded(serde_json::Number::from_f64(value).ok_or_else(|| E::custom("not a finite number"))?)
    }
}

fn bounded<T: NumberScalar + Trusted<serde_json::Number>, E: Error>(number: serde_json::Number) -> Result<T, E> {
    if number.as_f64().is_some_and(T::holds) {
        Ok(T::trusted(number))
    } else {
        Err(E::custom("a number out of bounds"))
    }
}

/// A number within bounds, not kept.
pub(crate) struct CheckNumber<T>(PhantomData<T>);

visitor! { CheckNumber<T> [T: NumberScalar] => (), deserialize_f64, "a number within bounds";
    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "bounds are small; the nearest double decides as JSON readers do")]
    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.visit_f64(value as f64)
    }
    #[expect(clippy::cast_precision_loss, reason = "as above")]
    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.visit_f64(value as f64)
    }
    #[inline]
    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        if T::holds(value) { Ok(()) } else { Err(E::custom("a number out of bounds")) }
    }
}

/// What an array's elements go into.
pub(crate) trait Collect<T>: Default {
    fn take(&mut self, element: T);
}

impl<T> Collect<T> for Vec<T> {
    #[inline]
    fn take(&mut self, element: T) {
        self.push(element);
    }
}

/// Keeps nothing of the elements; the array's length is known anyway.
impl<T> Collect<T> for () {
    #[inline]
    fn take(&mut self, _: T) {}
}

/// An array with so many elements, read by `R`, gathered in `C`; gives the gathering and the length.
pub(crate) struct Array<R, C, const MIN: usize, const MAX: usize>(PhantomData<(R, C)>);

visitor! { Array<R, C, MIN, MAX> [R: Read<'de>, C: Collect<R::Out>, const MIN: usize, const MAX: usize] => (C, usize), deserialize_seq, "an array";
    #[inline]
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(C, usize), A::Error> {
        let (mut all, mut count) = (C::default(), 0);
        while let Some(element) = seq.next_element_seed(Seed::<R>::new())? {
            all.take(element);
            count += 1;
        }
        if (MIN..=MAX).contains(&count) { Ok((all, count)) } else { Err(A::Error::custom("an array with too few or too many elements")) }
    }
}

/// Whether what a reader kept of a string says that it has any character.
pub(crate) trait NonEmpty {
    fn non_empty(&self) -> bool;
}

impl NonEmpty for bool {
    #[inline]
    fn non_empty(&self) -> bool {
        *self
    }
}

impl NonEmpty for String {
    fn non_empty(&self) -> bool {
        !self.is_empty()
    }
}

/// Keeps the text of a value, unread.
pub(crate) struct RawValueReader;

impl<'de> Read<'de> for RawValueReader {
    type Out = &'de serde_json::value::RawValue;

    #[inline]
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self::Out, D::Error> {
        serde::Deserialize::deserialize(deserializer)
    }
}
