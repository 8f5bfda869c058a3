//! Lookup of a word in a small set, without reading it character by character.

use wide::u8x32;

use super::cursor::WINDOW;
use super::{Cursor, ParseResult, Refusal};

/// Table of the values of an enum, or the field names of an object, as written with their quotes. A perfect hash of a
/// few bytes, which codegen computes, yields the only candidate; one comparison confirms it.
pub(crate) struct Words<E: 'static, const SLOTS: usize> {
    /// Mask that selects the hashed bytes from the first eight after the quote.
    mask: u64,
    factor: u64,
    slots: [Word<E>; SLOTS],
}

#[derive(Clone, Copy)]
struct Word<E> {
    quoted: [u8; WINDOW],
    /// A bit for each byte after the end of the word.
    beyond: u32,
    length: usize,
    value: E,
}

impl<E: Copy, const SLOTS: usize> Words<E, SLOTS> {
    /// Creates a table. `SLOTS` is a power of two greater than 1. The hash is the product of `factor` and the bytes
    /// that `mask` selects from the first eight; its highest bits are the slot.
    #[expect(clippy::indexing_slicing, reason = "runs while compiling, where a place that is not there is an error")]
    #[expect(clippy::cast_possible_truncation, reason = "a slot is below 256")]
    pub(crate) const fn new<const N: usize>(mask: u64, factor: u64, words: [(&'static str, E); N]) -> Self {
        // An empty slot holds the first word: the comparison then refuses every other word.
        let mut slots = [Word::new(words[0].0, words[0].1); SLOTS];
        let mut at = 0;
        while at < N {
            let word = Word::new(words[at].0, words[at].1);
            let quoted = word.quoted;
            let first = [quoted[1], quoted[2], quoted[3], quoted[4], quoted[5], quoted[6], quoted[7], quoted[8]];
            slots[Self::slot(mask, factor, u64::from_le_bytes(first)) as usize] = word;
            at += 1;
        }
        Self { mask, factor, slots }
    }

    #[inline(always)]
    const fn slot(mask: u64, factor: u64, first: u64) -> u64 {
        (first & mask).wrapping_mul(factor) >> (64 - SLOTS.trailing_zeros())
    }
}

impl<E: Copy> Word<E> {
    /// INVARIANT: codegen refuses values that do not fit into the window including their quotes.
    #[expect(clippy::indexing_slicing, reason = "runs while compiling, where a place that is not there is an error")]
    const fn new(text: &str, value: E) -> Self {
        let text = text.as_bytes();
        let mut quoted = [0; WINDOW];
        quoted[0] = b'"';
        let mut at = 0;
        while at < text.len() {
            quoted[at + 1] = text[at];
            at += 1;
        }
        quoted[text.len() + 1] = b'"';
        let length = text.len() + 2;
        let beyond = if length == WINDOW { 0 } else { u32::MAX << length };
        Self { quoted, beyond, length, value }
    }
}

impl<'t> Cursor<'t> {
    /// Parses one of the words; `from_text` looks up a word with an escape or near the end of the text.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a slot is below 256")]
    pub(crate) fn word<E: Copy, const SLOTS: usize>(
        &mut self,
        words: &'static Words<E, SLOTS>,
        from_text: fn(&str) -> Option<E>,
    ) -> ParseResult<E> {
        if let Some(window) = self.window(self.at())
            && let Some(first) = window.get(1..).and_then(<[u8]>::first_chunk)
            && let Some(word) =
                words.slots.get(Words::<E, SLOTS>::slot(words.mask, words.factor, u64::from_le_bytes(*first)) as usize)
        {
            let equal = u8x32::new(*window).simd_eq(u8x32::new(word.quoted)).to_bitmask();
            if equal | word.beyond == u32::MAX {
                self.step(word.length);
                return Ok(word.value);
            }
        }
        self.other_word(from_text)
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn other_word<E>(&mut self, from_text: fn(&str) -> Option<E>) -> ParseResult<E> {
        from_text(&self.string()?.text()?).ok_or(Refusal)
    }
}
