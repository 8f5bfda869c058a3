//! First two stages of a check, JSON and schema, which depend only on the line.

use std::borrow::Cow;

use omen_types::{PacketFacts, Rejected, parse};
use prefetch_index::prefetch_index;

use crate::lines::{RawLine, whole};

/// Iterator over whole lines with their line ends.
pub(super) struct Lines<'t> {
    bytes: &'t [u8],
    limit: usize,
    /// Number of bytes that have been prefetched.
    fetched: usize,
}

impl<'t> Lines<'t> {
    /// Creates an iterator over lines of at most `limit` bytes each, without their line ends.
    pub(super) fn new(bytes: &'t [u8], limit: usize) -> Self {
        Self { bytes, limit, fetched: 0 }
    }

    /// Prefetches the next piece of memory if it will be needed soon: only a few hundred bytes at a time, because the
    /// processor stalls on many requests at once.
    #[inline]
    pub(super) fn fetch(&mut self) {
        if self.fetched < AHEAD {
            for _ in 0..AT_ONCE {
                prefetch_index(self.bytes, self.fetched);
                self.fetched += CACHE_LINE;
            }
        }
    }

    /// Returns the bytes of the remaining lines.
    pub(super) fn rest(&self) -> &'t [u8] {
        self.bytes
    }

    /// Returns the next line, without its line end.
    #[inline]
    pub(super) fn next(&mut self) -> Option<RawLine<'t>> {
        self.fetch();
        let end = memchr::memchr(b'\n', self.bytes)?;
        let (line, rest) = self.bytes.split_at(end);
        self.bytes = rest.get(1..).unwrap_or_default();
        self.fetched = self.fetched.saturating_sub(end + 1);
        Some(whole(line, self.limit))
    }
}

/// Prefetch distance in bytes: a few packets.
const AHEAD: usize = 24 * 1024;

/// Number of cache lines that are prefetched at a time.
const AT_ONCE: usize = 14;

/// Size of a cache line in bytes, at most that of common processors.
const CACHE_LINE: usize = 64;

#[derive(Debug, Default)]
pub(super) struct ParsedLine<'t> {
    /// Text of the line, with invalid UTF-8 replaced; `None` for a line that is too long to be kept.
    pub(super) text: Option<Cow<'t, str>>,
    /// Facts about the packet for the rules.
    pub(super) facts: Option<PacketFacts<'t>>,
    /// Errors of the line, if there are no facts.
    pub(super) rejected: Option<Box<Rejected>>,
}

impl<'t> ParsedLine<'t> {
    /// Parses a line. Returns `None` if it is blank.
    pub(super) fn new(line: RawLine<'t>) -> Option<Self> {
        let mut parsed = Self::default();
        parsed.read(line).then_some(parsed)
    }

    /// Parses a line into this value, because the facts are too large to be moved. Returns whether the line is not blank.
    #[inline]
    pub(super) fn read(&mut self, line: RawLine<'t>) -> bool {
        let bytes = match line {
            RawLine::Whole(bytes) => bytes,
            RawLine::TooLong => {
                *self = Self { rejected: Some(Box::new(parse::too_long())), ..Self::default() };
                return true;
            }
        };
        match simdutf8::basic::from_utf8(bytes) {
            Ok(text) => self.read_text(text),
            Err(_) => {
                *self = not_utf8(bytes);
                true
            }
        }
    }

    /// Parses the text of a line, like [`read`](Self::read).
    #[inline]
    fn read_text(&mut self, text: &'t str) -> bool {
        if text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            return false;
        }
        self.text = Some(Cow::Borrowed(text));
        self.rejected = PacketFacts::parse_into(text, &mut self.facts).err();
        true
    }

    /// Returns the correlation id of the line, if known.
    #[inline]
    pub(super) fn correlation_id(&self) -> Option<&str> {
        match (&self.facts, &self.rejected) {
            (Some(facts), _) => Some(&facts.header.correlation_id),
            (None, Some(rejected)) => rejected.claims.correlation_id.as_deref(),
            (None, None) => None,
        }
    }
}

#[cold]
fn not_utf8(bytes: &[u8]) -> ParsedLine<'_> {
    let mut rejected = match std::str::from_utf8(bytes) {
        Err(error) => parse::not_utf8(&error),
        // Unreachable, because both checks apply the same rule.
        Ok(text) => {
            let mut parsed = ParsedLine { text: Some(Cow::Borrowed(text)), ..ParsedLine::default() };
            parsed.rejected = PacketFacts::parse_into(text, &mut parsed.facts).err();
            return parsed;
        }
    };
    // A replacement character takes three bytes, regardless of what it replaces.
    if let Some(span) = rejected.errors.first_mut().and_then(|error| error.span.as_mut()) {
        span.end = span.start + char::REPLACEMENT_CHARACTER.len_utf8();
    }
    ParsedLine { text: Some(String::from_utf8_lossy(bytes)), facts: None, rejected: Some(Box::new(rejected)) }
}
