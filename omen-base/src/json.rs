//! Parsing of unambiguous JSON.
//!
//! JSON parsers differ where the grammar leaves room: of a repeated key, some take the first value and some the last;
//! some round a long number, and some keep it. The value checked here must be the one that runs elsewhere, so ambiguous
//! texts are refused.

mod number;
pub mod strict;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::bounded::bounded;
pub use number::Doubt;

/// Options of [`read`].
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Deepest nesting of arrays and objects.
    pub depth: usize,
    /// Whether every number must be one that all parsers read alike.
    pub exact_numbers: bool,
}

/// Reason why a text is not unambiguous JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// The text ends too early.
    Truncated,
    /// The text is invalid JSON; message with the position.
    Syntax(String),
    /// A JSON value is followed by other text, which begins at this byte.
    Trailing(usize),
    /// An object has a key twice.
    Repeated {
        /// Repeated key.
        key: String,
        /// JSON pointer of the object.
        at: String,
    },
    /// A key has a special meaning to the parser of this program.
    Reserved {
        /// Reserved key.
        key: String,
        /// JSON pointer of the object.
        at: String,
    },
    /// The nesting exceeds the limit.
    Deep,
    /// Parsers read a number differently.
    Number {
        /// Text of the number.
        number: String,
        /// JSON pointer of the number.
        at: String,
        /// Difference between parsers.
        why: Doubt,
    },
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("unexpected end of JSON"),
            Self::Syntax(what) => write!(f, "not valid JSON: {what}"),
            Self::Trailing(at) => write!(f, "unexpected text after the JSON value at byte {at}"),
            Self::Repeated { key, at } => write!(f, "duplicate field `{key}` in {}", place(at)),
            Self::Reserved { key, at } => write!(f, "the key `{key}` in {} is reserved", place(at)),
            Self::Deep => f.write_str("arrays and objects are nested too deeply"),
            Self::Number { number, at, why } => write!(f, "the number `{number}` at {} {why}", place(at)),
        }
    }
}

/// Describes a JSON pointer in words.
pub fn place(pointer: &str) -> String {
    if pointer.is_empty() { "the outermost object".to_owned() } else { format!("`{}`", bounded(pointer)) }
}

/// Appends a step to a JSON pointer.
pub fn below(pointer: &str, step: &str) -> String {
    format!("{pointer}/{}", omen_types::pointer::escape(step))
}

/// Parses exactly one JSON value, surrounded by JSON white space at most.
pub fn read(text: &str, how: Reading) -> Result<Value, Unread> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let raw = match values.next() {
        Some(Ok(raw)) => raw,
        Some(Err(error)) => return Err(syntax(&error)),
        None => return Err(Unread::Truncated),
    };
    let rest = text.get(values.byte_offset()..).unwrap_or_default();
    let blank = |c| matches!(c, ' ' | '\t' | '\n' | '\r');
    if let Some(at) = rest.find(|c| !blank(c)) {
        return Err(Unread::Trailing(values.byte_offset() + at));
    }
    value(raw, how, how.depth, "")
}

fn value(raw: &RawValue, how: Reading, levels: usize, at: &str) -> Result<Value, Unread> {
    let text = raw.get();
    match text.as_bytes().first() {
        Some(b'{' | b'[') if levels == 0 => Err(Unread::Deep),
        Some(b'{') => {
            let Members(members) = parse(text)?;
            let mut seen = BTreeSet::new();
            if let Some((key, _)) = members.iter().find(|(key, _)| !seen.insert(key)) {
                return Err(Unread::Repeated { key: bounded(key), at: at.to_owned() });
            }
            if let Some((key, _)) = members.iter().find(|(key, _)| is_reserved(key)) {
                return Err(Unread::Reserved { key: bounded(key), at: at.to_owned() });
            }
            let each = |(key, raw): (Cow<'_, str>, &RawValue)| {
                let value = value(raw, how, levels - 1, &below(at, &key))?;
                Ok((key.into_owned(), value))
            };
            Ok(Value::Object(members.into_iter().map(each).collect::<Result<Map<_, _>, _>>()?))
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = parse(text)?;
            let each = |(index, raw): (usize, &RawValue)| value(raw, how, levels - 1, &format!("{at}/{index}"));
            Ok(Value::Array(items.into_iter().enumerate().map(each).collect::<Result<_, _>>()?))
        }
        Some(b'-' | b'0'..=b'9') if how.exact_numbers => number::exact(text)
            .map(Value::Number)
            .map_err(|why| Unread::Number { number: bounded(text), at: at.to_owned(), why }),
        _ => parse(text),
    }
}

fn parse<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, Unread> {
    serde_json::from_str(text).map_err(|error| syntax(&error))
}

fn syntax(error: &serde_json::Error) -> Unread {
    if error.is_eof() { Unread::Truncated } else { Unread::Syntax(bounded(&error.to_string())) }
}

/// Members of an object in source order, with repeated keys.
struct Members<'t>(Vec<(Cow<'t, str>, &'t RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((Key(key), value)) = map.next_entry()? {
                    members.push((key, value));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(MembersVisitor)
    }
}

/// Key of a member, borrowed unless it has escapes.
#[derive(Deserialize)]
struct Key<'t>(#[serde(borrow)] Cow<'t, str>);

/// Whether `serde_json` uses a key to pass values to itself. In a foreign text, such a key would make it parse the value below again: to
/// another value than the one that was checked, and without the depth limit.
fn is_reserved(key: &str) -> bool {
    key.starts_with("$serde_json::private::")
}
