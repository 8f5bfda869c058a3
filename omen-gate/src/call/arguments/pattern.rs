//! Regular expressions, and regular languages that bound what other tests accept.

use std::fmt::{self, Write as _};

use regex::{Regex, RegexBuilder};
use serde_json::Value;

use super::types::ValueTypes;
use super::violation::RefusalReason;
use crate::base::bounded;

/// Regular expression that must match a whole text, in time linear in its length.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    text: String,
    whole: Regex,
}

/// Error compiling a regular expression.
#[derive(Debug)]
pub(crate) enum BadPattern {
    /// Syntax error as one line of text.
    Invalid(String),
    /// The compiled program is too large.
    Large,
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Result<Self, BadPattern> {
        // Compiled without anchors first: with them, `a)|(b` would be valid and match any text that begins with `a`.
        compile(text)?;
        // In mode `x`, the line feed ends a comment and is otherwise ignored; in other modes it would have to be matched.
        let whole = compile(&format!(r"\A(?:{text})\z")).or_else(|_| compile(&format!("\\A(?:{text}\n)\\z")))?;
        Ok(Self { text: text.to_owned(), whole })
    }

    /// Returns the source text anchored at both ends.
    pub(super) fn whole(&self) -> &str {
        self.whole.as_str()
    }

    pub(super) fn judge(&self, value: &Value) -> Result<(), RefusalReason> {
        let Value::String(text) = value else { return Err(RefusalReason::other_type(ValueTypes::STRING, value)) };
        if self.whole.is_match(text) {
            return Ok(());
        }
        Err(RefusalReason::new(
            "it does not match in full",
            format!("pass a text that `{}` matches in full", bounded(&self.text)),
        ))
    }
}

fn compile(text: &str) -> Result<Regex, BadPattern> {
    RegexBuilder::new(text).size_limit(MAX_SIZE).build().map_err(|error| match error {
        // The last line of the error states the reason; the lines before it draw the pattern.
        regex::Error::Syntax(why) => {
            BadPattern::Invalid(bounded(why.lines().last().unwrap_or_default().trim_start_matches("error: ")))
        }
        _ => BadPattern::Large,
    })
}

/// Compares the source texts.
impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "matches = '{}'", bounded(&self.text))
    }
}

/// Lower and upper bound, as regular languages, on the texts that a test accepts.
pub(super) struct TextBounds {
    /// Expression for texts that pass.
    pub(super) sure: String,
    /// Expression for texts that may pass; `None` if no others do.
    pub(super) possible: Option<String>,
}

/// Returns a regular-expression class of the characters that a test accepts.
pub(super) fn characters(is_in: impl Fn(char) -> bool) -> String {
    let mut class = String::from("[");
    let mut all = ('\0'..=char::MAX).filter(|c| is_in(*c)).peekable();
    while let Some(first) = all.next() {
        let mut last = first;
        while let Some(next) = all.next_if(|next| u32::from(*next) == u32::from(last) + 1) {
            last = next;
        }
        let _ = write!(class, r"\x{{{:x}}}-\x{{{:x}}}", u32::from(first), u32::from(last));
    }
    class + "]"
}

/// Maximum size of the compiled program in bytes.
const MAX_SIZE: usize = 1 << 20;
