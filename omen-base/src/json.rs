//! Parsing of unambiguous JSON.
//!
//! JSON parsers differ where the grammar leaves room: for a repeated key, some take the first value and some the last;
//! some round a long number and some keep it; some reject an unpaired surrogate or deep nesting. The value checked here
//! must be the one used elsewhere, so ambiguous texts are refused. Characters that line readers take for the end of a
//! line are rewritten ([`one_line`]).

mod lines;
mod members;
mod number;
pub mod strict;

use std::collections::BTreeSet;
use std::fmt;

use omen_schema::json::{JsonType, ScanError, Scanner};
use serde::de::{Deserialize, IgnoredAny};
use serde_json::{Map, Value};

use crate::foreign_text::bounded;
pub use lines::one_line;
use members::is_reserved;
pub use members::{Flaw, Member, items, members, members_noting};
pub use number::{Doubt, MAX_INTEGER};

/// Options of [`read`].
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Maximum nesting of arrays and objects.
    pub depth: usize,
    /// Whether all parsers must read every number alike.
    pub exact_numbers: bool,
}

/// Reason why a text is not unambiguous JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// The text ends too early.
    Truncated,
    /// The text is invalid JSON. Holds a message with the position.
    Syntax(String),
    /// A JSON value is followed by other text, which begins at this byte.
    Trailing(usize),
    /// An object contains a key twice.
    Repeated {
        /// Repeated key.
        key: String,
        /// JSON pointer of the object.
        at: String,
    },
    /// A key has a special meaning for the parser of this program.
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

/// Describes a JSON pointer as text.
pub fn place(pointer: &str) -> String {
    if pointer.is_empty() { "the outermost object".to_owned() } else { format!("`{}`", bounded(pointer)) }
}

/// Appends a step to a JSON pointer.
pub fn below(pointer: &str, step: &str) -> String {
    format!("{pointer}/{}", omen_types::pointer::escape(step))
}

/// Parses exactly one JSON value, surrounded only by JSON white space.
///
/// # Errors
/// The reason why readers of the text may differ or fail.
pub fn read(text: &str, how: Reading) -> Result<Value, Unread> {
    read_at(text, ValuePath::Outermost, how)
}

/// Same as [`read`], for the value of a member of the outermost object: errors give positions in that object.
///
/// # Errors
/// As for [`read`].
pub fn read_member(text: &str, key: &str, how: Reading) -> Result<Value, Unread> {
    read_at(text, ValuePath::Member(&ValuePath::Outermost, key), how)
}

fn read_at(text: &str, at: ValuePath<'_>, how: Reading) -> Result<Value, Unread> {
    let (mut scanner, mut reader) = (Scanner::new(text), ValueReader::new(how));
    let value = reader.value(&mut scanner, at, how.depth);
    if let Some(error) = scanner.error() {
        return Err(invalid(text, error));
    }
    if scanner.at() < text.len() {
        return Err(Unread::Trailing(scanner.at()));
    }
    reader.doubts.into_iter().next().map_or(Ok(value), Err)
}

/// Describes an error in the words of `serde_json`, which users know.
fn invalid(text: &str, found: ScanError) -> Unread {
    let grammar = error::<IgnoredAny>(text);
    // Only parsing a `Value` reveals invalid numbers and escapes, and only that has a depth limit.
    match grammar.or_else(|| if found == ScanError::Deep { None } else { error::<Value>(text) }) {
        Some(error) if error.is_eof() => Unread::Truncated,
        Some(error) => Unread::Syntax(bounded(&error.to_string())),
        None if found == ScanError::Deep => Unread::Deep,
        None => Unread::Syntax(found.to_string()),
    }
}

/// Returns the `serde_json` error in the first value of a text.
fn error<'t, T: Deserialize<'t>>(text: &'t str) -> Option<serde_json::Error> {
    T::deserialize(&mut serde_json::Deserializer::from_str(text)).err()
}

/// Path of a value, formatted only for errors.
#[derive(Clone, Copy)]
enum ValuePath<'p> {
    Outermost,
    Member(&'p ValuePath<'p>, &'p str),
    Item(&'p ValuePath<'p>, usize),
}

impl ValuePath<'_> {
    fn pointer(&self) -> String {
        match self {
            Self::Outermost => String::new(),
            Self::Member(object, key) => below(&object.pointer(), key),
            Self::Item(array, index) => below(&array.pointer(), &index.to_string()),
        }
    }
}

/// Reader of a value that records what other readers may interpret differently.
struct ValueReader {
    how: Reading,
    /// First doubt of each kind, in reading order.
    doubts: Vec<Unread>,
    /// Repeated keys of the outermost object.
    own: BTreeSet<String>,
}

impl ValueReader {
    fn new(how: Reading) -> Self {
        Self { how, doubts: Vec::new(), own: BTreeSet::new() }
    }

    /// Records a doubt unless one of its kind has been recorded: describing each of many doubts would take long.
    fn note(&mut self, is_such: fn(&Unread) -> bool, doubt: impl FnOnce() -> Unread) {
        if !self.doubts.iter().any(is_such) {
            self.doubts.push(doubt());
        }
    }

    fn value(&mut self, scanner: &mut Scanner<'_>, at: ValuePath<'_>, levels: usize) -> Value {
        match scanner.json_type() {
            JsonType::Object | JsonType::Array if levels == 0 => {
                self.note(|noted| *noted == Unread::Deep, || Unread::Deep);
                scanner.skip();
                Value::Null
            }
            JsonType::Object => {
                let mut members = Map::new();
                scanner.object(|scanner, key, _| {
                    if is_reserved(&key) {
                        let doubt = || Unread::Reserved { key: bounded(&key), at: at.pointer() };
                        self.note(|noted| matches!(noted, Unread::Reserved { .. }), doubt);
                    }
                    if members.contains_key(key.as_ref()) {
                        let doubt = || Unread::Repeated { key: bounded(&key), at: at.pointer() };
                        self.note(|noted| matches!(noted, Unread::Repeated { .. }), doubt);
                        if matches!(at, ValuePath::Outermost) {
                            self.own.insert(key.clone().into_owned());
                        }
                    }
                    let value = self.value(scanner, ValuePath::Member(&at, &key), levels - 1);
                    members.insert(key.into_owned(), value);
                });
                Value::Object(members)
            }
            JsonType::Array => {
                let mut items = Vec::new();
                scanner.array(|scanner, index| {
                    items.push(self.value(scanner, ValuePath::Item(&at, index), levels - 1));
                });
                Value::Array(items)
            }
            JsonType::Number if self.how.exact_numbers => {
                let span = scanner.scalar();
                let text = scanner.slice(&span);
                number::exact(text).map(Value::Number).unwrap_or_else(|why| {
                    let doubt = || Unread::Number { number: bounded(text), at: at.pointer(), why };
                    self.note(|noted| matches!(noted, Unread::Number { .. }), doubt);
                    Value::Null
                })
            }
            _ => scanner.scalar_value().unwrap_or_default(),
        }
    }
}
