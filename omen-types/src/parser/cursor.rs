//! Position in a text with its cheapest operations, and the trait of all parsers.

use wide::u8x32;

/// Error for a text that does not match the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal;

pub(crate) type ParseResult<T> = Result<T, Refusal>;

/// Returns the refusal. Calling a cold function tells the compiler that the branch is unlikely.
#[cold]
#[inline(never)]
pub(crate) fn refused<T>() -> ParseResult<T> {
    Err(Refusal)
}

/// Parser for the values of one definition.
pub(crate) trait Parse<'t> {
    /// Part of the value to keep.
    type Out;

    /// Parses the value at the cursor, and moves the cursor after it.
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<Self::Out>;
}

/// Number of bytes that are compared at a time.
pub(super) const WINDOW: usize = 32;

/// Position in a text.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    at: usize,
    /// Whether a space follows the first colon. If so, a space is expected after every colon and comma, as written by
    /// Python's `json.dumps`.
    spaced: bool,
    /// Whether any string began like [`PLACEHOLDER`](crate::placeholder::PLACEHOLDER), or with an escape. Only
    /// then is it worthwhile to search for placeholders.
    marked: bool,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0, spaced: false, marked: false }
    }

    /// Returns whether a parsed string may be a placeholder.
    pub(crate) fn may_have_placeholder(&self) -> bool {
        self.marked
    }

    #[inline(always)]
    pub(super) fn mark(&mut self, is_marked: bool) {
        self.marked |= is_marked;
    }

    #[inline(always)]
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Moves to another position.
    pub(crate) fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    #[inline(always)]
    pub(super) fn step(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Skips white space. Returns whether the text ends there.
    pub(crate) fn ends(&mut self) -> bool {
        self.space();
        self.at >= self.text.len()
    }

    /// Returns the next byte; at the end of the text, returns 0, which is never valid in JSON.
    #[inline(always)]
    pub(crate) fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    #[inline(always)]
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    #[inline(always)]
    pub(super) fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// Returns the whole text.
    #[inline(always)]
    pub(super) fn all(&self) -> &'t str {
        self.text
    }

    /// Returns the text between two positions, which must be character boundaries.
    #[inline(always)]
    pub(super) fn slice(&self, from: usize, to: usize) -> ParseResult<&'t str> {
        self.text.get(from..to).ok_or(Refusal)
    }

    /// Returns the bytes starting at a position; `None` near the end of the text.
    #[inline(always)]
    pub(super) fn window(&self, at: usize) -> Option<&'t [u8; WINDOW]> {
        self.text.as_bytes().get(at..)?.first_chunk()
    }

    /// Skips a literal if it is next.
    #[inline(always)]
    pub(crate) fn eat<const N: usize>(&mut self, literal: &[u8; N]) -> bool {
        let found = self.rest().first_chunk::<N>() == Some(literal);
        if found {
            self.at += N;
        }
        found
    }

    /// Skips a predicted piece of text, in the format of this text, up to the value that follows.
    #[inline(always)]
    pub(crate) fn predict<const N: usize, const M: usize>(&mut self, compact: &[u8; N], spaced: &[u8; M]) -> bool {
        let found = if self.spaced { self.eat(spaced) } else { self.eat(compact) };
        if found {
            self.space();
        }
        found
    }

    /// Skips a literal that must be next.
    #[inline(always)]
    pub(crate) fn expect<const N: usize>(&mut self, literal: &[u8; N]) -> ParseResult<()> {
        if self.eat(literal) { Ok(()) } else { refused() }
    }

    /// Skips white space.
    #[inline(always)]
    pub(crate) fn space(&mut self) {
        if self.peek() <= b' ' {
            self.more_space();
        }
    }

    #[cold]
    #[inline(never)]
    fn more_space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
    }

    /// Detects the format in which the text is written.
    pub(super) fn note_form(&mut self) {
        self.spaced = self.peek() == b' ';
    }
}

/// Marks the bytes between two values, inclusive.
#[inline(always)]
pub(crate) fn between(bytes: u8x32, low: u8, high: u8) -> u8x32 {
    bytes.max(u8x32::splat(low)).min(u8x32::splat(high)).simd_eq(bytes)
}
