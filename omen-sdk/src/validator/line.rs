//! The first two stages of a check, JSON and schema: they depend on nothing but the line.

use std::borrow::Cow;

use omen_types::{PacketFacts, Rejected, parse};

use crate::lines::RawLine;

/// A line that was parsed.
#[derive(Debug)]
pub(super) struct Parsed<'t> {
    /// Its text, with bytes that are not UTF-8 replaced; `None` for a line that is too long to be kept.
    pub(super) text: Option<Cow<'t, str>>,
    /// The facts that rules check, or everything that is wrong with the line.
    pub(super) packet: Result<PacketFacts<'t>, Box<Rejected>>,
}

impl<'t> Parsed<'t> {
    /// Parses a line. Returns `None` if it is blank.
    pub(super) fn new(line: RawLine<'t>) -> Option<Self> {
        let bytes = match line {
            RawLine::Whole(bytes) => bytes,
            RawLine::TooLong => return Some(Self { text: None, packet: Err(Box::new(parse::too_long())) }),
        };
        if bytes.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            return None;
        }
        Some(match simdutf8::basic::from_utf8(bytes) {
            Ok(text) => Self { text: Some(Cow::Borrowed(text)), packet: PacketFacts::parse(text) },
            Err(_) => not_utf8(bytes),
        })
    }

    /// The episode that the line belongs to, as far as that is known.
    pub(super) fn correlation_id(&self) -> Option<&str> {
        match &self.packet {
            Ok(facts) => Some(&facts.header.correlation_id),
            Err(rejected) => rejected.claims.correlation_id.as_deref(),
        }
    }
}

#[cold]
fn not_utf8(bytes: &[u8]) -> Parsed<'_> {
    let mut rejected = match std::str::from_utf8(bytes) {
        Err(error) => parse::not_utf8(&error),
        // Not reached: both checks are of the same rule.
        Ok(text) => return Parsed { text: Some(Cow::Borrowed(text)), packet: PacketFacts::parse(text) },
    };
    // A replacement character takes three bytes, however many bytes it replaces.
    if let Some(span) = rejected.errors.first_mut().and_then(|error| error.span.as_mut()) {
        span.end = span.start + char::REPLACEMENT_CHARACTER.len_utf8();
    }
    Parsed { text: Some(String::from_utf8_lossy(bytes)), packet: Err(Box::new(rejected)) }
}
