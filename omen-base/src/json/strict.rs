//! Objects without repeated keys, at any depth (D58).
//!
//! For a repeated key, some parsers take the first value and some the last. The meaning of such an object depends on
//! the parser, so it is refused. Keys are compared with their escapes resolved.

use std::collections::BTreeSet;

use omen_schema::json::{DEEPEST, Scanner};
use serde_json::{Map, Value};

use super::{Reading, ValuePath, ValueReader};
use crate::foreign_text::bounded;
use crate::json;

/// Reason why a text is not an unambiguous object.
#[derive(Clone, Debug, PartialEq)]
pub enum Unread {
    /// A key is repeated.
    Doubled(Doubled),
    /// The text is not an object, or uses a reserved key. The message is bounded.
    Other(String),
}

/// Object that contains a repeated key, at any depth.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubled {
    /// First repeated key and its position, as bounded text.
    pub why: String,
    /// Object with the last value of each key.
    frame: Map<String, Value>,
    /// Repeated keys of the object itself.
    own: BTreeSet<String>,
}

impl Doubled {
    /// Returns a member of the object if its key occurs once.
    pub fn once(&self, key: &str) -> Option<&Value> {
        self.frame.get(key).filter(|_| !self.own.contains(key))
    }

    /// Returns whether the object has a key, once or repeated.
    pub fn has(&self, key: &str) -> bool {
        self.frame.contains_key(key)
    }
}

/// Parses an object.
///
/// # Errors
/// If a key is repeated, or readers of the text may differ for any other reason.
pub fn read(text: &[u8]) -> Result<Map<String, Value>, Unread> {
    let invalid = || {
        let error = serde_json::from_slice::<Value>(text).err();
        Unread::Other(
            error.map_or_else(|| "a value cannot be represented".to_owned(), |error| bounded(&error.to_string())),
        )
    };
    let text = std::str::from_utf8(text).map_err(|_| invalid())?;
    let (mut scanner, mut reader) = (Scanner::new(text), ValueReader::new(ANY));
    let value = reader.value(&mut scanner, ValuePath::Outermost, ANY.depth);
    scanner.finish().map_err(|_| invalid())?;
    let mut repeated = None;
    for doubt in reader.doubts {
        match doubt {
            json::Unread::Repeated { .. } => repeated = Some(doubt.to_string()),
            json::Unread::Deep => return Err(invalid()),
            doubt => return Err(Unread::Other(doubt.to_string())),
        }
    }
    match (value, repeated) {
        (Value::Object(frame), Some(why)) => Err(Unread::Doubled(Doubled { why, frame, own: reader.own })),
        (Value::Object(frame), None) => Ok(frame),
        (_, _) => Err(Unread::Other("expected an object".to_owned())),
    }
}

/// Limits of `serde_json`, which limits the depth and rounds numbers.
const ANY: Reading = Reading { depth: DEEPEST - 1, exact_numbers: false };

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use serde_json::Value;

    use super::{Unread, read};

    /// Asserts the error and the repeated keys of the object itself.
    #[track_caller]
    fn doubled(text: &str, why: &str, own: &[&str]) {
        let Err(Unread::Doubled(doubled)) = read(text.as_bytes()) else { panic!("{text}") };
        assert_eq!(doubled.why, why, "{text}");
        assert_eq!(doubled.own.iter().map(String::as_str).collect::<Vec<_>>(), own, "{text}");
        assert!(own.iter().all(|key| doubled.has(key) && doubled.once(key).is_none()), "{text}");
    }

    #[test]
    fn a_key_is_repeated_at_any_depth_and_in_any_spelling() {
        doubled(r#"{"a":1,"b":2,"a":1}"#, "duplicate field `a` in the outermost object", &["a"]);
        doubled(r#"{"a":1,"\u0061":2}"#, "duplicate field `a` in the outermost object", &["a"]);
        doubled(r#"{"é":1,"\u00e9":1}"#, "duplicate field `é` in the outermost object", &["é"]);
        doubled(r#"{"😀":1,"\ud83d\uDE00":1}"#, "duplicate field `😀` in the outermost object", &["😀"]);
        doubled(r#"{"a/b":[0,{"":{},"":{}}]}"#, "duplicate field `` in `/a~1b/1`", &[]);
        // The error names the first repetition.
        doubled(r#"{"x":{"y":1,"y":2},"z":1,"z":2}"#, "duplicate field `y` in `/x`", &["z"]);
    }

    #[test]
    fn other_objects_are_read_as_ever() {
        let text = r#"{"a":[{"a":1},{"a":2}],"b":{"a":-1.5e3,"c":[true,null,"\u0061",18446744073709551615,-9]}}"#;
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(read(text.as_bytes()).map(Value::Object), Ok(value));
        for text in ["[]", "1", "", "{", "{}{}", r#"{"a":1,}"#, r#"{"a":1,"a":}"#, "{\"a\":\"\u{1}\"}"] {
            assert!(matches!(read(text.as_bytes()), Err(Unread::Other(_))), "{text}");
        }
    }
}
