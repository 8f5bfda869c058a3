//! Free-form JSON: anything goes but a repeated key (D42) and nesting deeper than [`MAX_DEPTH`].
//!
//! `DEPTH` is the nesting level of the value if it is an array or object; codegen knows it from the place in the schema.

use std::borrow::Cow;
use std::collections::HashSet;

use smallvec::SmallVec;

use super::{Cursor, Parse, Parsed, Refused};
use crate::limits::MAX_DEPTH;

/// Any value, not kept.
pub(crate) struct AnyValue<const DEPTH: u8>;
/// An object, not kept.
pub(crate) struct FreeObject<const MIN: usize, const DEPTH: u8>;
/// An object, kept as its text.
pub(crate) struct FreeText<const MIN: usize, const DEPTH: u8>;

impl<'t, const DEPTH: u8> Parse<'t> for AnyValue<DEPTH> {
    type Out = ();

    #[inline]
    fn parse(cursor: &mut Cursor<'t>) -> Parsed<()> {
        cursor.value(DEPTH)
    }
}

impl<'t, const MIN: usize, const DEPTH: u8> Parse<'t> for FreeObject<MIN, DEPTH> {
    type Out = ();

    #[inline]
    fn parse(cursor: &mut Cursor<'t>) -> Parsed<()> {
        if cursor.object(DEPTH)? >= MIN { Ok(()) } else { Err(Refused) }
    }
}

impl<'t, const MIN: usize, const DEPTH: u8> Parse<'t> for FreeText<MIN, DEPTH> {
    type Out = &'t str;

    fn parse(cursor: &mut Cursor<'t>) -> Parsed<&'t str> {
        let from = cursor.at();
        FreeObject::<MIN, DEPTH>::parse(cursor)?;
        cursor.slice(from, cursor.at())
    }
}

impl<'t> Cursor<'t> {
    /// Steps over any value.
    pub(super) fn value(&mut self, depth: u8) -> Parsed<()> {
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

    /// Steps over an object; how many members it has.
    fn object(&mut self, depth: u8) -> Parsed<usize> {
        let inner = inside(depth)?;
        self.expect(b"{")?;
        self.space();
        let mut keys = Keys::default();
        if self.eat(b"}") {
            return Ok(0);
        }
        loop {
            keys.add(self.string()?.text()?)?;
            self.colon()?;
            self.value(inner)?;
            self.space();
            if !self.eat(b",") {
                break;
            }
            self.space();
        }
        self.expect(b"}")?;
        Ok(keys.count())
    }

    fn array(&mut self, depth: u8) -> Parsed<()> {
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

/// The nesting level inside an array or object at a level.
#[inline(always)]
fn inside(depth: u8) -> Parsed<u8> {
    if depth > MAX_DEPTH { Err(Refused) } else { Ok(depth + 1) }
}

/// The keys of one object, to find a repeated one: a short list, and a set once it is long.
#[derive(Default)]
pub(crate) struct Keys<'t> {
    few: SmallVec<[Cow<'t, str>; 8]>,
    many: Option<HashSet<Cow<'t, str>>>,
}

/// The list is searched from end to end up to this length.
const FEW: usize = 32;

impl<'t> Keys<'t> {
    /// Adds a key; fails if it is there.
    #[inline]
    pub(crate) fn add(&mut self, key: Cow<'t, str>) -> Parsed<()> {
        if self.insert(key) { Ok(()) } else { Err(Refused) }
    }

    /// Whether the key is new.
    #[inline]
    pub(crate) fn insert(&mut self, key: Cow<'t, str>) -> bool {
        if self.few.contains(&key) {
            return false;
        }
        if self.few.len() < FEW {
            self.few.push(key);
            return true;
        }
        self.many.get_or_insert_default().insert(key)
    }

    fn count(&self) -> usize {
        self.few.len() + self.many.as_ref().map_or(0, |many| many.len())
    }
}
