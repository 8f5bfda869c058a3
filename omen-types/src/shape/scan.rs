//! A scanner over JSON text that is known to be valid.

use std::borrow::Cow;
use std::ops::Range;

use crate::limits::MAX_DEPTH;

/// Whether brackets nest deeper than [`MAX_DEPTH`]; the text need not be valid.
pub(crate) fn too_deep(text: &str) -> Option<usize> {
    // Most texts have too few brackets, and to count them is many times faster.
    if memchr::memchr2_iter(b'{', b'[', text.as_bytes()).nth(usize::from(MAX_DEPTH)).is_none() {
        return None;
    }
    let mut depth = 0_u32;
    let mut quoted = false;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if quoted {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => quoted = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => quoted = true,
            b'{' | b'[' => {
                depth += 1;
                if depth > u32::from(MAX_DEPTH) {
                    return Some(at);
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// The JSON type of a value, as its first byte shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonType {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl JsonType {
    pub(crate) fn words(self) -> &'static str {
        match self {
            JsonType::Null => "null",
            JsonType::Bool => "a boolean",
            JsonType::Number => "a number",
            JsonType::String => "a string",
            JsonType::Array => "an array",
            JsonType::Object => "an object",
        }
    }
}

/// Walks valid JSON text value by value, forwards only.
#[derive(Clone)]
pub(crate) struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    /// `text` must be one valid JSON value, with white space around it or not.
    pub(crate) fn new(text: &'t str) -> Self {
        let mut scanner = Self { text, at: 0 };
        scanner.space();
        scanner
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn slice(&self, span: &Range<usize>) -> &'t str {
        self.text.get(span.clone()).unwrap_or("")
    }

    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
    }

    /// Steps over a punctuation mark if it is next, and over white space after it.
    fn eat(&mut self, mark: u8) -> bool {
        let found = self.peek() == mark;
        if found {
            self.at += 1;
            self.space();
        }
        found
    }

    /// The type of the value that comes next.
    pub(crate) fn json_type(&self) -> JsonType {
        match self.peek() {
            b'{' => JsonType::Object,
            b'[' => JsonType::Array,
            b'"' => JsonType::String,
            b't' | b'f' => JsonType::Bool,
            b'n' => JsonType::Null,
            _ => JsonType::Number,
        }
    }

    /// Steps over a string, number, boolean or null; its span.
    pub(crate) fn scalar(&mut self) -> Range<usize> {
        let start = self.at;
        if self.peek() == b'"' {
            self.at += 1;
            loop {
                let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
                match memchr::memchr2(b'"', b'\\', rest) {
                    Some(at) if rest.get(at) == Some(&b'\\') => self.at += at + 2,
                    Some(at) => break self.at += at + 1,
                    None => break self.at = self.text.len(),
                }
            }
        } else {
            while !matches!(self.peek(), b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r' | 0) {
                self.at += 1;
            }
        }
        let span = start..self.at;
        self.space();
        span
    }

    /// Steps over a string; its text and span.
    pub(crate) fn string(&mut self) -> (Cow<'t, str>, Range<usize>) {
        let span = self.scalar();
        let inner = self.text.get(span.start + 1..span.end.saturating_sub(1)).unwrap_or("");
        let text = if memchr::memchr(b'\\', inner.as_bytes()).is_some() {
            Cow::Owned(serde_json::from_str(self.slice(&span)).unwrap_or_default())
        } else {
            Cow::Borrowed(inner)
        };
        (text, span)
    }

    /// Walks the members of an object: `member` must step over the value. Gives the span.
    pub(crate) fn object(&mut self, mut member: impl FnMut(&mut Self, Cow<'t, str>, Range<usize>)) -> Range<usize> {
        let start = self.at;
        self.eat(b'{');
        if self.peek() != b'}' {
            loop {
                let (key, span) = self.string();
                self.eat(b':');
                member(self, key, span);
                if !self.eat(b',') {
                    break;
                }
            }
        }
        self.close(start)
    }

    /// Walks the elements of an array: `element` must step over the value. Gives the span.
    pub(crate) fn array(&mut self, mut element: impl FnMut(&mut Self, usize)) -> Range<usize> {
        let start = self.at;
        self.eat(b'[');
        if self.peek() != b']' {
            for index in 0.. {
                element(self, index);
                if !self.eat(b',') {
                    break;
                }
            }
        }
        self.close(start)
    }

    /// Whether the array that comes next has an element.
    pub(crate) fn has_element(&self) -> bool {
        let mut ahead = self.clone();
        ahead.eat(b'[') && ahead.peek() != b']'
    }

    fn close(&mut self, start: usize) -> Range<usize> {
        self.at += 1;
        let span = start..self.at;
        self.space();
        span
    }

    /// Steps over any value; its span.
    pub(crate) fn skip(&mut self) -> Range<usize> {
        match self.json_type() {
            JsonType::Object => self.object(|scanner, _, _| {
                scanner.skip();
            }),
            JsonType::Array => self.array(|scanner, _| {
                scanner.skip();
            }),
            _ => self.scalar(),
        }
    }
}
