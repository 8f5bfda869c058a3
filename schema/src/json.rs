//! JSON reader shared by all crates: a scanner that checks the grammar and knows the span of every value.
//!
//! The scanner builds no tree, so a hostile text costs no memory. Texts that JSON readers interpret differently
//! (repeated keys, numbers that they round) do not violate the grammar; `omen-base` reports those.
//!
//! ```
//! use omen_schema::json::Scanner;
//!
//! let mut scanner = Scanner::new(r#"{"a": 1, "b": [2]}"#);
//! let mut members = Vec::new();
//! scanner.object(|scanner, key, _| members.push((key, scanner.skip())));
//! assert_eq!(members, [("a".into(), 6..7), ("b".into(), 14..17)]);
//! assert!(scanner.finish().is_ok());
//! ```

mod locate;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

pub use locate::locate;
use serde_json::Value;

/// Maximum nesting of arrays and objects that is scanned.
pub const DEEPEST: usize = 128;

/// Reason why a text was not scanned to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanError {
    /// The text is invalid JSON: description of the problem, and its byte position.
    Syntax(&'static str, usize),
    /// The nesting exceeds [`DEEPEST`].
    Deep,
}

impl fmt::Display for ScanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(what, at) => write!(f, "invalid JSON: {what} at byte {at}"),
            Self::Deep => write!(f, "arrays and objects are nested more than {DEEPEST} levels deep"),
        }
    }
}

/// Type of a JSON value, as its first byte shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonType {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number, or a byte with which no value begins.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl JsonType {
    /// Returns the type with its article, for messages.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

/// Forward-only scanner of one JSON value, which may have white space around it.
///
/// The first error moves the scanner to the end of the text, where nothing is left to scan. So a caller need not check
/// each step: [`error`](Self::error) or [`finish`](Self::finish) reports the error at the end.
#[derive(Clone, Debug)]
pub struct Scanner<'t> {
    text: &'t str,
    at: usize,
    /// Number of arrays and objects that may still be opened.
    levels: usize,
    error: Option<ScanError>,
}

impl<'t> Scanner<'t> {
    /// Creates a scanner at the beginning of a text.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        Self::within(text, 0..text.len())
    }

    /// Creates a scanner at a value within a text; the bytes after the range are ignored. Offsets are relative to the whole text.
    #[must_use]
    pub fn within(text: &'t str, range: Range<usize>) -> Self {
        let text = text.get(..range.end.min(text.len())).unwrap_or_default();
        let mut scanner = Self { text, at: range.start, levels: DEEPEST, error: None };
        scanner.space();
        scanner
    }

    /// Returns the offset of the next byte. Between two steps, this byte begins a value or is punctuation.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns the text of a span.
    #[must_use]
    pub fn slice(&self, span: &Range<usize>) -> &'t str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// Returns the error that ended the scan, if any.
    #[must_use]
    pub fn error(&self) -> Option<ScanError> {
        self.error
    }

    /// Ends the scan with an error, as for an invalid value that began at byte `at`.
    pub fn fail(&mut self, what: &'static str, at: usize) {
        self.stop(ScanError::Syntax(what, at));
    }

    /// Checks that nothing is left to scan.
    ///
    /// # Errors
    /// The error that ended the scan, or text after the value.
    pub fn finish(&mut self) -> Result<(), ScanError> {
        if self.at < self.text.len() {
            self.fail("unexpected text after the value", self.at);
        }
        self.error.map_or(Ok(()), Err)
    }

    /// Returns the type of the next value.
    #[must_use]
    pub fn json_type(&self) -> JsonType {
        match self.peek() {
            Some(b'{') => JsonType::Object,
            Some(b'[') => JsonType::Array,
            Some(b'"') => JsonType::String,
            Some(b't' | b'f') => JsonType::Bool,
            Some(b'n') => JsonType::Null,
            _ => JsonType::Number,
        }
    }

    /// Skips any value, and returns its span.
    pub fn skip(&mut self) -> Range<usize> {
        match self.json_type() {
            JsonType::Object => self.object(|scanner, _, _| _ = scanner.skip()),
            JsonType::Array => self.array(|scanner, _| _ = scanner.skip()),
            _ => self.scalar(),
        }
    }

    /// Skips a string, number, boolean or null, and returns its span.
    pub fn scalar(&mut self) -> Range<usize> {
        let start = self.at;
        match self.json_type() {
            JsonType::String => _ = self.quoted(),
            JsonType::Bool if self.peek() == Some(b't') => self.word("true"),
            JsonType::Bool => self.word("false"),
            JsonType::Null => self.word("null"),
            JsonType::Number => self.number(),
            JsonType::Array | JsonType::Object => self.wrong("expected a string, number, boolean or null"),
        }
        self.spaced(start)
    }

    /// Skips a string, number, boolean or null, and returns its value. Half of a surrogate pair and a number outside
    /// the range of a double have no value, and end the scan.
    pub fn scalar_value(&mut self) -> Option<Value> {
        let span = self.scalar();
        let value = serde_json::from_str(self.slice(&span)).ok();
        if value.is_none() {
            self.fail("a value that cannot be represented", span.start);
        }
        value
    }

    /// Skips a string, and returns its value and span.
    pub fn string(&mut self) -> (Cow<'t, str>, Range<usize>) {
        self.resolved("invalid escape in a string")
    }

    /// Walks the fields of an object, and returns its span. `member` receives each key with its span, and must skip the value.
    pub fn object(&mut self, mut member: impl FnMut(&mut Self, Cow<'t, str>, Range<usize>)) -> Range<usize> {
        if self.peek() != Some(b'{') {
            self.fail("expected an object", self.at);
        }
        self.bracketed(b'}', "expected `,` or `}`", |scanner| {
            if scanner.peek() != Some(b'"') {
                return scanner.wrong("expected a key");
            }
            let (key, span) = scanner.resolved("invalid escape in a key");
            if !scanner.eat(b':') {
                return scanner.wrong("expected `:`");
            }
            member(scanner, key, span);
        })
    }

    /// Walks the elements of an array, and returns its span. `element` receives the index of each, and must skip it.
    pub fn array(&mut self, mut element: impl FnMut(&mut Self, usize)) -> Range<usize> {
        if self.peek() != Some(b'[') {
            self.fail("expected an array", self.at);
        }
        let mut index = 0;
        self.bracketed(b']', "expected `,` or `]`", |scanner| {
            element(scanner, index);
            index += 1;
        })
    }

    /// Returns whether the next value is an array without elements.
    #[must_use]
    pub fn is_empty_array(&self) -> bool {
        let mut ahead = self.clone();
        ahead.eat(b'[') && ahead.peek() == Some(b']')
    }

    /// Skips a punctuation mark and the white space after it, if the mark is next.
    pub fn eat(&mut self, mark: u8) -> bool {
        let found = self.take(mark);
        self.space();
        found
    }

    fn bracketed(&mut self, close: u8, expected: &'static str, mut each: impl FnMut(&mut Self)) -> Range<usize> {
        let start = self.at;
        match self.levels.checked_sub(1) {
            Some(levels) => self.levels = levels,
            None => self.stop(ScanError::Deep),
        }
        // Opening bracket.
        self.at = self.text.len().min(self.at + 1);
        self.space();
        if !self.take(close) {
            loop {
                each(self);
                if self.take(close) {
                    break;
                }
                if !self.eat(b',') {
                    self.wrong(expected);
                    break;
                }
            }
        }
        self.levels += 1;
        self.spaced(start)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Returns the span that begins at `start` and ends before the white space that follows.
    fn spaced(&mut self, start: usize) -> Range<usize> {
        let span = start..self.at;
        self.space();
        span
    }

    fn wrong(&mut self, what: &'static str) {
        self.fail(if self.at >= self.text.len() { "unexpected end" } else { what }, self.at);
    }

    fn stop(&mut self, error: ScanError) {
        self.error.get_or_insert(error);
        self.at = self.text.len();
    }

    fn resolved(&mut self, invalid: &'static str) -> (Cow<'t, str>, Range<usize>) {
        let start = self.at;
        let is_escaped = self.quoted();
        let span = self.spaced(start);
        if !is_escaped {
            return (Cow::Borrowed(self.slice(&(start + 1..span.end.saturating_sub(1)))), span);
        }
        let value = serde_json::from_str(self.slice(&span)).unwrap_or_else(|_| {
            self.fail(invalid, start);
            String::new()
        });
        (Cow::Owned(value), span)
    }

    /// Skips a string, and returns whether any character in it is escaped.
    fn quoted(&mut self) -> bool {
        self.at += 1;
        let mut is_escaped = false;
        loop {
            let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
            let plain = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1F)).unwrap_or(rest.len());
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return is_escaped;
                }
                Some(b'\\') => is_escaped = true,
                _ => {
                    self.wrong("control character in a string");
                    return is_escaped;
                }
            }
            self.at += 1;
            match self.peek() {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
                Some(b'u') => {
                    self.at += 1;
                    for _ in 0..4 {
                        if !self.peek().is_some_and(|digit| digit.is_ascii_hexdigit()) {
                            self.wrong("invalid escape");
                            return is_escaped;
                        }
                        self.at += 1;
                    }
                }
                _ => {
                    self.wrong("invalid escape");
                    return is_escaped;
                }
            }
        }
    }

    fn number(&mut self) {
        if !matches!(self.peek(), Some(b'-' | b'0'..=b'9')) {
            return self.wrong("expected a value");
        }
        self.take(b'-');
        if !self.take(b'0') {
            self.digits();
        }
        if self.take(b'.') {
            self.digits();
        }
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'+') || self.take(b'-');
            self.digits();
        }
    }

    fn digits(&mut self) {
        let start = self.at;
        while self.peek().is_some_and(|digit| digit.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start {
            self.wrong("expected a digit");
        }
    }

    fn word(&mut self, word: &str) {
        if self.text.get(self.at..).is_some_and(|rest| rest.starts_with(word)) {
            self.at += word.len();
        } else {
            self.wrong("expected a value");
        }
    }
}

/// Tracker of the strings in a JSON text, which processes it byte by byte. The text may be invalid.
#[derive(Clone, Copy, Debug, Default)]
pub struct StringTracker {
    in_string: bool,
    is_escaped: bool,
}

impl StringTracker {
    /// Processes the next byte, and returns whether it is outside strings. Quotation marks are part of their string.
    pub fn step(&mut self, byte: u8) -> bool {
        let was_inside = self.in_string;
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' => self.is_escaped = was_inside,
            b'"' => self.in_string = !was_inside,
            _ => {}
        }
        !was_inside && !self.in_string
    }

    /// Returns whether the next byte is inside a string or ends it.
    #[must_use]
    pub fn in_string(&self) -> bool {
        self.in_string
    }
}
