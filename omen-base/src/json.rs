//! JSON that can be read in one way only.
//!
//! Readers of JSON differ where its grammar leaves them room: of a repeated key some take the first value,
//! some the last; a long number is rounded by one and kept by another. What is checked here must be what
//! runs elsewhere, so such texts are refused.

mod number;
mod reserved;
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

/// How a text is read.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// How deep arrays and objects may stand within each other.
    pub depth: usize,
    /// Whether a number has to be one that every reader takes for the same.
    pub exact_numbers: bool,
}

/// Why a text cannot be read in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It breaks off.
    Truncated,
    /// It is invalid JSON: what is wrong, and where in the text.
    Syntax(String),
    /// A JSON value with something after it, which begins at this byte.
    Trailing(usize),
    /// An object has a key twice.
    Repeated {
        /// The key.
        key: String,
        /// The object: a JSON pointer.
        at: String,
    },
    /// A key that readers of this program give a meaning of its own.
    Reserved {
        /// The key.
        key: String,
        /// The object: a JSON pointer.
        at: String,
    },
    /// More levels than are allowed.
    Deep,
    /// A number that readers take for different ones.
    Number {
        /// The number.
        number: String,
        /// Where: a JSON pointer.
        at: String,
        /// What readers do with it.
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

/// A JSON pointer in words.
pub fn place(pointer: &str) -> String {
    if pointer.is_empty() { "the outermost object".to_owned() } else { format!("`{}`", bounded(pointer)) }
}

/// A JSON pointer, one step on.
pub fn below(pointer: &str, step: &str) -> String {
    format!("{pointer}/{}", omen_types::pointer::escape(step))
}

/// Reads exactly one JSON value, with JSON's own white space around it at most.
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
            if let Some((key, _)) = members.iter().find(|(key, _)| reserved::is_reserved(key)) {
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

/// The members of an object as they are written, repeated ones included.
struct Members<'t>(Vec<(Cow<'t, str>, &'t RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;

        impl<'de> Visitor<'de> for Each {
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

        deserializer.deserialize_map(Each)
    }
}

/// A key, borrowed unless it has escapes.
#[derive(Deserialize)]
struct Key<'t>(#[serde(borrow)] Cow<'t, str>);
