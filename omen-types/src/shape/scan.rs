//! Scanner for valid JSON text.

use std::borrow::Cow;
use std::ops::Range;

use crate::limits::MAX_DEPTH;

/// Returns the position at which brackets nest deeper than [`MAX_DEPTH`], if any; the text need not be valid.
pub(crate) fn too_deep(text: &str) -> Option<usize> {
    // Most texts have too few brackets, and counting them is many times faster.
    memchr::memchr2_iter(b'{', b'[', text.as_bytes()).nth(usize::from(MAX_DEPTH))?;
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

/// JSON type of a value, as its first byte shows it.
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
    /// Creates a scanner. `text` must be one valid JSON value, with or without white space around it.
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

    /// Skips a punctuation mark if it is next, and white space after it.
    fn eat(&mut self, mark: u8) -> bool {
        let found = self.peek() == mark;
        if found {
            self.at += 1;
            self.space();
        }
        found
    }

    /// Returns the type of the next value.
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

    /// Skips the characters of a string, from its opening quote. Returns whether it has escapes.
    fn quoted(&mut self) -> bool {
        self.at += 1;
        let mut is_escaped = false;
        loop {
            let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
            match memchr::memchr2(b'"', b'\\', rest) {
                Some(at) if rest.get(at) == Some(&b'\\') => {
                    is_escaped = true;
                    self.at += at + 2;
                }
                Some(at) => {
                    self.at += at + 1;
                    return is_escaped;
                }
                None => {
                    self.at = self.text.len();
                    return is_escaped;
                }
            }
        }
    }

    /// Skips a string, number, boolean or null. Returns its span.
    pub(crate) fn scalar(&mut self) -> Range<usize> {
        let start = self.at;
        if self.peek() == b'"' {
            self.quoted();
        } else {
            while !matches!(self.peek(), b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r' | 0) {
                self.at += 1;
            }
        }
        let span = start..self.at;
        self.space();
        span
    }

    /// Parses a string. Returns its text and span.
    pub(crate) fn string(&mut self) -> (Cow<'t, str>, Range<usize>) {
        let start = self.at;
        let is_escaped = self.quoted();
        let span = start..self.at;
        self.space();
        let text = if is_escaped {
            Cow::Owned(serde_json::from_str(self.slice(&span)).unwrap_or_default())
        } else {
            Cow::Borrowed(self.slice(&(start + 1..span.end.saturating_sub(1))))
        };
        (text, span)
    }

    /// Walks the members of an object: `member` must skip the value. Returns the span of the object.
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

    /// Walks the elements of an array: `element` must skip the value. Returns the span of the array.
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

    /// Returns whether the next value, an array, has an element.
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

    /// Skips any value. Returns its span.
    pub(crate) fn skip(&mut self) -> Range<usize> {
        if !matches!(self.peek(), b'{' | b'[') {
            return self.scalar();
        }
        let start = self.at;
        let mut open = 0_usize;
        loop {
            match self.peek() {
                b'"' => {
                    self.quoted();
                    continue;
                }
                b'{' | b'[' => open += 1,
                b'}' | b']' => open = open.saturating_sub(1),
                // End of a text that is not valid after all.
                0 => break,
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                break;
            }
        }
        let span = start..self.at;
        self.space();
        span
    }

    /// Moves to the value of the first member with this name in the next object. Returns whether it exists.
    pub(crate) fn find(&mut self, name: &str) -> bool {
        if !self.eat(b'{') || self.peek() == b'}' {
            return false;
        }
        loop {
            let (key, _) = self.string();
            self.eat(b':');
            if key == name {
                return true;
            }
            self.skip();
            if !self.eat(b',') {
                return false;
            }
        }
    }
}
