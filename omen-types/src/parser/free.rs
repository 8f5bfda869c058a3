//! Free-form JSON, in which only repeated keys (D42) and nesting deeper than [`MAX_DEPTH`] are refused.
//!
//! `DEPTH` is the nesting level of the value if it is an array or object; codegen derives it from the schema.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::text::RawText;
use super::{Cursor, Parse, ParseResult, refused};
use crate::limits::MAX_DEPTH;

/// Any value; it is discarded.
pub(crate) struct AnyValue<const DEPTH: u8>;
/// Any value; only whether it differs from `null` is kept.
pub(crate) struct HasValue<const DEPTH: u8>;
/// An object; it is discarded.
pub(crate) struct FreeObject<const MIN: usize, const DEPTH: u8>;
/// An object; its text is kept.
pub(crate) struct FreeText<const MIN: usize, const DEPTH: u8>;

impl<'t, const DEPTH: u8> Parse<'t> for AnyValue<DEPTH> {
    type Out = ();

    #[inline]
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<()> {
        cursor.value(DEPTH)
    }
}

impl<'t, const DEPTH: u8> Parse<'t> for HasValue<DEPTH> {
    type Out = bool;

    #[inline]
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<bool> {
        let has_value = cursor.peek() != b'n';
        cursor.value(DEPTH)?;
        Ok(has_value)
    }
}

impl<'t, const MIN: usize, const DEPTH: u8> Parse<'t> for FreeObject<MIN, DEPTH> {
    type Out = ();

    #[inline]
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<()> {
        if cursor.object(DEPTH)? >= MIN { Ok(()) } else { refused() }
    }
}

impl<'t, const MIN: usize, const DEPTH: u8> Parse<'t> for FreeText<MIN, DEPTH> {
    type Out = &'t str;

    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<&'t str> {
        let from = cursor.at();
        FreeObject::<MIN, DEPTH>::parse(cursor)?;
        cursor.slice(from, cursor.at())
    }
}

impl<'t> Cursor<'t> {
    /// Skips any value.
    pub(super) fn value(&mut self, depth: u8) -> ParseResult<()> {
        match self.peek() {
            b'"' => self.string().map(drop),
            b'{' => self.object(depth).map(drop),
            b'[' => self.array(depth),
            b't' => self.expect(b"true"),
            b'f' => self.expect(b"false"),
            b'n' => self.expect(b"null"),
            _ => self.any_number(),
        }
    }

    /// Skips an object. Returns the number of its fields.
    fn object(&mut self, depth: u8) -> ParseResult<usize> {
        let inner = inside(depth)?;
        self.expect(b"{")?;
        self.space();
        let mut keys = Keys::default();
        if self.eat(b"}") {
            return Ok(0);
        }
        loop {
            keys.add_raw(self.string()?)?;
            self.colon()?;
            // Most values are strings. The processor would rarely predict a jump that depends on the type.
            if self.peek() == b'"' {
                self.string()?;
            } else {
                self.value(inner)?;
            }
            self.space();
            if !self.eat(b",") {
                break;
            }
            self.space();
        }
        self.expect(b"}")?;
        Ok(keys.count())
    }

    fn array(&mut self, depth: u8) -> ParseResult<()> {
        let inner = inside(depth)?;
        self.expect(b"[")?;
        self.space();
        if self.eat(b"]") {
            return Ok(());
        }
        loop {
            self.value(inner)?;
            self.space();
            if !self.eat(b",") {
                break;
            }
            self.space();
        }
        self.expect(b"]")
    }
}

/// Returns the nesting level inside an array or object.
#[inline(always)]
fn inside(depth: u8) -> ParseResult<u8> {
    if depth > MAX_DEPTH { refused() } else { Ok(depth + 1) }
}

/// Keys of one object, kept to detect repeated ones: a short list, and a tree for the rest.
#[derive(Default)]
pub(crate) struct Keys<'t> {
    /// A bit for each key, derived from the key's length and ends: a key with an unused bit is new.
    traits: u64,
    few: [&'t str; 8],
    count: usize,
    /// Keys that do not fit into the list, or that contain an escape.
    others: BTreeSet<Cow<'t, str>>,
}

impl<'t> Keys<'t> {
    /// Adds a key as written; fails if it is repeated.
    #[inline(always)]
    fn add_raw(&mut self, key: RawText<'t>) -> ParseResult<()> {
        if let Some(plain) = key.plain()
            && let bit = traits(plain)
            && self.traits & bit == 0
            && let Some(place) = self.few.get_mut(self.count)
        {
            *place = plain;
            self.count += 1;
            self.traits |= bit;
            return Ok(());
        }
        self.add(key.text()?)
    }

    /// Adds a key; fails if it is repeated.
    pub(crate) fn add(&mut self, key: Cow<'t, str>) -> ParseResult<()> {
        if self.insert(key) { Ok(()) } else { refused() }
    }

    /// Adds a key. Returns whether it is new.
    #[inline(never)]
    pub(crate) fn insert(&mut self, key: Cow<'t, str>) -> bool {
        let few = self.few.get(..self.count).unwrap_or(&self.few);
        if few.contains(&&*key) || self.others.contains(&key) {
            return false;
        }
        self.traits |= traits(&key);
        match (key, self.few.get_mut(self.count)) {
            (Cow::Borrowed(key), Some(place)) => {
                *place = key;
                self.count += 1;
            }
            (key, _) => _ = self.others.insert(key),
        }
        true
    }

    fn count(&self) -> usize {
        self.count + self.others.len()
    }
}

/// Returns one of 64 bits, always the same bit for equal keys.
#[inline(always)]
fn traits(key: &str) -> u64 {
    let (first, last) = match key.as_bytes() {
        [] => (0, 0),
        [only] => (*only, *only),
        [first, .., last] => (*first, *last),
    };
    let mixed = key.len() as u64 * 7 + u64::from(first) * 3 + u64::from(last) * 13;
    1 << (mixed & 63)
}
