//! Strings.

use std::borrow::Cow;

use wide::u8x32;

use super::cursor::WINDOW;
use super::{Cursor, ParseResult, Refusal};
use crate::placeholder::FIRST_BYTE;

/// String as written between its quotes.
///
/// All fields are words: a single-byte field would be copied together with seven other bytes, which stalls the processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawText<'t> {
    text: &'t str,
    /// Position of the first escape, or a position after the end if there is none.
    escape: usize,
}

impl<'t> RawText<'t> {
    #[inline(always)]
    pub(crate) fn is_empty(self) -> bool {
        self.text.is_empty()
    }

    /// Returns the string if it is written without an escape.
    #[inline(always)]
    pub(crate) fn plain(self) -> Option<&'t str> {
        if self.escape < self.text.len() { None } else { Some(self.text) }
    }

    /// Returns the string with its escapes resolved.
    #[inline(always)]
    pub(crate) fn text(self) -> ParseResult<Cow<'t, str>> {
        match self.plain() {
            Some(text) => Ok(Cow::Borrowed(text)),
            None => self.unescaped().map(Cow::Owned),
        }
    }

    #[cold]
    fn unescaped(self) -> ParseResult<String> {
        serde_json::from_str(&format!("\"{}\"", self.text)).map_err(|_| Refusal)
    }
}

impl<'t> Cursor<'t> {
    #[inline(always)]
    pub(crate) fn string(&mut self) -> ParseResult<RawText<'t>> {
        let from = self.at();
        self.expect(b"\"")?;
        let end = self.event(self.at());
        if self.byte(end) == Some(b'"') {
            self.mark(self.byte(from + 1) == Some(FIRST_BYTE));
            self.go_to(end + 1);
            return Ok(RawText { text: self.slice(from + 1, end)?, escape: usize::MAX });
        }
        self.escaped_string(from + 1, end)
    }

    /// Parses a string with an escape or an invalid character at `at`.
    #[cold]
    fn escaped_string(&mut self, from: usize, mut at: usize) -> ParseResult<RawText<'t>> {
        let escape = at - from;
        self.mark(escape == 0);
        loop {
            match self.byte(at).ok_or(Refusal)? {
                b'"' => break,
                b'\\' => at = self.event(self.after_escape(at)?),
                _ => return Err(Refusal),
            }
        }
        self.go_to(at + 1);
        Ok(RawText { text: self.slice(from, at)?, escape })
    }

    /// Returns the position of the first quote, backslash or control character from `at` on, or the end of the text if
    /// there is none.
    #[inline(always)]
    fn event(&self, mut at: usize) -> usize {
        while let Some(window) = self.window(at) {
            let found = ends_or_escapes(window);
            if found != 0 {
                return at + found.trailing_zeros() as usize;
            }
            at += WINDOW;
        }
        self.last_event(at)
    }

    /// Like [`event`](Self::event), but less than a window before the end of the text.
    #[inline(never)]
    fn last_event(&self, mut at: usize) -> usize {
        let text = self.all().as_bytes();
        if let Some(window) = text.last_chunk() {
            let from = text.len() - WINDOW;
            // INVARIANT: `at` is after `from`, and at most at the end.
            let found = u64::from(ends_or_escapes(window)) >> (at - from).min(WINDOW);
            return if found == 0 { text.len() } else { at + found.trailing_zeros() as usize };
        }
        while self.byte(at).is_some_and(|byte| byte != b'"' && byte != b'\\' && byte > 0x1f) {
            at += 1;
        }
        at
    }

    /// Returns the position after the escape at `at`. A surrogate must be part of a pair.
    fn after_escape(&self, at: usize) -> ParseResult<usize> {
        match self.byte(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
            Some(b'u') => match self.hex(at + 2)? {
                0xd800..=0xdbff => {
                    let is_pair = self.byte(at + 6) == Some(b'\\')
                        && self.byte(at + 7) == Some(b'u')
                        && (0xdc00..=0xdfff).contains(&self.hex(at + 8)?);
                    if is_pair { Ok(at + 12) } else { Err(Refusal) }
                }
                0xdc00..=0xdfff => Err(Refusal),
                _ => Ok(at + 6),
            },
            _ => Err(Refusal),
        }
    }

    /// Parses four hexadecimal digits.
    fn hex(&self, at: usize) -> ParseResult<u32> {
        let mut value = 0;
        for at in at..at + 4 {
            let digit = self.byte(at).and_then(|byte| char::from(byte).to_digit(16)).ok_or(Refusal)?;
            value = value * 16 + digit;
        }
        Ok(value)
    }
}

/// Returns a bit for each byte that may end a string, begins an escape, or is a control character.
#[inline(always)]
fn ends_or_escapes(window: &[u8; WINDOW]) -> u32 {
    let bytes = u8x32::new(*window);
    let control = bytes.min(u8x32::splat(0x1f)).simd_eq(bytes);
    let found = bytes.simd_eq(u8x32::splat(b'"')) | bytes.simd_eq(u8x32::splat(b'\\')) | control;
    found.to_bitmask()
}

/// Parsed form of a string that still shows whether it is empty.
pub(crate) trait NonEmpty {
    fn non_empty(&self) -> bool;
}

impl NonEmpty for bool {
    #[inline]
    fn non_empty(&self) -> bool {
        *self
    }
}

impl NonEmpty for Cow<'_, str> {
    #[inline]
    fn non_empty(&self) -> bool {
        !self.is_empty()
    }
}
