//! Parsers for single values that need no generated code.

use std::borrow::Cow;
use std::marker::PhantomData;

use wide::u8x32;

use super::{Cursor, Parse, ParseResult, Refusal, refused};
use crate::scalar::TextScalar;
use crate::time::{self, Instant};

/// Parses a definition and discards it.
pub(crate) struct Check<T>(PhantomData<T>);

impl<'t> Parse<'t> for bool {
    type Out = bool;

    #[inline(always)]
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<bool> {
        if cursor.eat(b"true") { Ok(true) } else { cursor.expect(b"false").map(|()| false) }
    }
}

/// Any string; it is kept.
pub(crate) struct Plain;

impl<'t> Parse<'t> for Plain {
    type Out = Cow<'t, str>;

    #[inline]
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<Cow<'t, str>> {
        cursor.string()?.text()
    }
}

/// Keeps only whether the string is empty, which conditionals need.
impl<'t> Parse<'t> for Check<Plain> {
    type Out = bool;

    #[inline]
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<bool> {
        Ok(!cursor.string()?.is_empty())
    }
}

/// A string or `null`; only whether it has any character is kept.
pub(crate) struct Nullable;

impl<'t> Parse<'t> for Nullable {
    type Out = bool;

    #[inline]
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<bool> {
        if cursor.eat(b"null") { Ok(false) } else { Check::<Plain>::parse(cursor) }
    }
}

/// A string with at least one character; it is kept.
pub(crate) struct NonEmptyText;

impl<'t> Parse<'t> for NonEmptyText {
    type Out = Cow<'t, str>;

    #[inline]
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<Cow<'t, str>> {
        let text = cursor.string()?;
        if text.is_empty() { refused() } else { text.text() }
    }
}

impl<'t> Parse<'t> for Check<NonEmptyText> {
    type Out = bool;

    #[inline]
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<bool> {
        if cursor.string()?.is_empty() { refused() } else { Ok(true) }
    }
}

/// A checked string; it is kept.
pub(crate) struct CheckedText<T>(PhantomData<T>);

impl<'t, T: TextScalar> Parse<'t> for CheckedText<T> {
    type Out = Cow<'t, str>;

    #[inline]
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<Cow<'t, str>> {
        let text = cursor.string()?.text()?;
        if T::holds(&text) { Ok(text) } else { refused() }
    }
}

/// A checked string; only whether it is empty is kept.
pub(crate) struct CheckedTextPresence<T>(PhantomData<T>);

impl<'t, T: TextScalar> Parse<'t> for CheckedTextPresence<T> {
    type Out = bool;

    #[inline]
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<bool> {
        CheckedText::<T>::parse(cursor).map(|text| !text.is_empty())
    }
}

/// Scalar whose texts have a pattern: a prefix followed by characters of a class.
pub(crate) trait PatternScalar: TextScalar {
    /// Opening quote and prefix.
    const START: &'static [u8];

    /// Returns a bit for each byte, set if the byte is in the class.
    fn class(bytes: u8x32) -> u32;
}

/// A string with a pattern; it is kept.
pub(crate) struct Pattern<T>(PhantomData<T>);

impl<'t, T: PatternScalar> Parse<'t> for Pattern<T> {
    type Out = Cow<'t, str>;

    #[inline]
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<Cow<'t, str>> {
        match pattern_end::<T>(cursor) {
            Some(end) => {
                let text = cursor.slice(cursor.at() + 1, end)?;
                cursor.go_to(end + 1);
                Ok(Cow::Borrowed(text))
            }
            None => CheckedText::<T>::parse(cursor),
        }
    }
}

impl<'t, T: PatternScalar> Parse<'t> for Check<Pattern<T>> {
    type Out = bool;

    #[inline]
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<bool> {
        match pattern_end::<T>(cursor) {
            Some(end) => {
                cursor.go_to(end + 1);
                Ok(true)
            }
            None => CheckedTextPresence::<T>::parse(cursor),
        }
    }
}

/// Returns the end of a string with a pattern if the rest after its prefix fits into a window. It then has no escapes.
#[inline(always)]
fn pattern_end<T: PatternScalar>(cursor: &Cursor<'_>) -> Option<usize> {
    if !cursor.rest().starts_with(T::START) {
        return None;
    }
    let from = cursor.at() + T::START.len();
    let outside = !T::class(u8x32::new(*cursor.window(from)?));
    let length = outside.trailing_zeros() as usize;
    (length > 0 && cursor.byte(from + length) == Some(b'"')).then_some(from + length)
}

impl<'t> Parse<'t> for Instant {
    type Out = Instant;

    #[inline]
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<Instant> {
        if let Some((instant, length)) = cursor.window(cursor.at()).and_then(time::parse_quoted) {
            cursor.step(length);
            return Ok(instant);
        }
        time::parse(&cursor.string()?.text()?).ok_or(Refusal)
    }
}
