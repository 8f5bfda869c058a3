//! Texts of a form.

use std::fmt;

use regex::{Regex, RegexBuilder};
use serde_json::Value;

use super::broken::Why;
use super::types::Types;
use crate::base::bounded;

/// A regular expression that the whole of a text has to match. Matching takes time linear in the text.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    text: String,
    whole: Regex,
}

/// Why a regular expression cannot be used.
#[derive(Debug)]
pub(crate) enum BadPattern {
    /// It is invalid: why, in one line.
    Invalid(String),
    /// It is too large when it is compiled.
    Large,
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Result<Self, BadPattern> {
        // By itself first: with the anchors around it, `a)|(b` would be valid, and match what merely begins with an `a`.
        compile(text)?;
        // The line feed ends a comment of the mode `x`, in which it means nothing; elsewhere it would have to be matched.
        let whole = compile(&format!(r"\A(?:{text})\z")).or_else(|_| compile(&format!("\\A(?:{text}\n)\\z")))?;
        Ok(Self { text: text.to_owned(), whole })
    }

    pub(super) fn judge(&self, value: &Value) -> Result<(), Why> {
        let Value::String(text) = value else { return Err(Why::other_type(Types::STRING, value)) };
        if self.whole.is_match(text) {
            return Ok(());
        }
        Err(Why::new(
            "it does not match as a whole",
            format!("pass a text that `{}` matches as a whole", bounded(&self.text)),
        ))
    }
}

fn compile(text: &str) -> Result<Regex, BadPattern> {
    RegexBuilder::new(text).size_limit(MAX_SIZE).build().map_err(|error| match error {
        // The last line of such an error says what is wrong; those before draw the pattern.
        regex::Error::Syntax(why) => {
            BadPattern::Invalid(bounded(why.lines().last().unwrap_or_default().trim_start_matches("error: ")))
        }
        _ => BadPattern::Large,
    })
}

/// Two are the same if they are written the same.
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

/// How large a pattern may get, in bytes of its program.
const MAX_SIZE: usize = 1 << 20;
