//! A place in a text, and the steps that cost next to nothing.

use super::{Parsed, Refused, refused};

/// How many bytes are compared together.
pub(super) const WINDOW: usize = 32;

/// A place in a text.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    at: usize,
    /// Whether a space stood after the first colon. Then one is expected after every colon and comma, as Python's
    /// `json.dumps` writes them.
    spaced: bool,
    /// Whether a string began as [`PLACEHOLDER`](crate::packet::placeholder::PLACEHOLDER) does, or with an escape. Then it is worth
    /// looking for one.
    marked: bool,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0, spaced: false, marked: false }
    }

    /// Whether a string that was read may be a placeholder.
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

    /// Goes to another place.
    pub(crate) fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    #[inline(always)]
    pub(super) fn step(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Steps over white space. Whether nothing else is left.
    pub(crate) fn ends(&mut self) -> bool {
        self.space();
        self.at >= self.text.len()
    }

    /// The next byte; at the end 0, which is nowhere in JSON.
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

    /// The whole text.
    #[inline(always)]
    pub(super) fn all(&self) -> &'t str {
        self.text
    }

    /// The text from a place up to another one. Both must be on a boundary of characters.
    #[inline(always)]
    pub(super) fn slice(&self, from: usize, to: usize) -> Parsed<&'t str> {
        self.text.get(from..to).ok_or(Refused)
    }

    /// The bytes from a place on; none near the end of the text.
    #[inline(always)]
    pub(super) fn window(&self, at: usize) -> Option<&'t [u8; WINDOW]> {
        self.text.as_bytes().get(at..)?.first_chunk()
    }

    /// Steps over a literal if it is next.
    #[inline(always)]
    pub(crate) fn eat<const N: usize>(&mut self, literal: &[u8; N]) -> bool {
        let found = self.rest().first_chunk::<N>() == Some(literal);
        if found {
            self.at += N;
        }
        found
    }

    /// Steps over a predicted piece of text, in the form that this text has, up to the value behind it.
    #[inline(always)]
    pub(crate) fn predict<const N: usize, const M: usize>(&mut self, compact: &[u8; N], spaced: &[u8; M]) -> bool {
        let found = if self.spaced { self.eat(spaced) } else { self.eat(compact) };
        if found {
            self.space();
        }
        found
    }

    /// Steps over a literal that must be next.
    #[inline(always)]
    pub(crate) fn expect<const N: usize>(&mut self, literal: &[u8; N]) -> Parsed<()> {
        if self.eat(literal) { Ok(()) } else { refused() }
    }

    /// Steps over white space.
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

    /// Notes in which form the text is written.
    pub(super) fn note_form(&mut self) {
        self.spaced = self.peek() == b' ';
    }
}
