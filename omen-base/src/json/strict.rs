//! Objects without repeated keys, at any depth (D58).
//!
//! Of a repeated key, some parsers take the first value and some the last. The meaning of such an object depends on the
//! parser, so it is refused. Keys are compared with their escapes resolved.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::{Key, below, is_reserved, place};
use crate::bounded::bounded;

/// Reason why a text is not an unambiguous object.
#[derive(Clone, Debug, PartialEq)]
pub enum Unread {
    /// A key is repeated.
    Doubled(Doubled),
    /// The text is not an object, or uses a reserved key. The message is bounded.
    Other(String),
}

/// Object in which a key is repeated, at any depth.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubled {
    /// First repeated key and its position, in words; bounded.
    pub why: String,
    /// Object with the last value of each key.
    frame: Map<String, Value>,
    /// Repeated keys of the object itself.
    own: BTreeSet<String>,
}

impl Doubled {
    /// Member of the object, if its key occurs once.
    pub fn once(&self, key: &str) -> Option<&Value> {
        self.frame.get(key).filter(|_| !self.own.contains(key))
    }

    /// Whether the object has a key, once or repeated.
    pub fn has(&self, key: &str) -> bool {
        self.frame.contains_key(key)
    }
}

/// Parses an object.
pub fn read(text: &[u8]) -> Result<Map<String, Value>, Unread> {
    let mut doubled = None;
    let mut own = BTreeSet::new();
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let seed = Seed { at: ValuePath::Outermost, doubled: &mut doubled, own: Some(&mut own) };
    let read = seed.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    match (read, doubled) {
        (Err(error), _) => Err(Unread::Other(bounded(&error.to_string()))),
        (Ok(Value::Object(frame)), Some(why)) => Err(Unread::Doubled(Doubled { why, frame, own })),
        (Ok(Value::Object(frame)), None) => Ok(frame),
        (Ok(_), _) => Err(Unread::Other("expected an object".to_owned())),
    }
}

/// Path of a value. It is formatted only for errors.
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

/// Deserializer of any value that records the first repeated key.
struct Seed<'s> {
    at: ValuePath<'s>,
    doubled: &'s mut Option<String>,
    /// Collects the repeated keys of this object itself.
    own: Option<&'s mut BTreeSet<String>>,
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        loop {
            let at = ValuePath::Item(&self.at, values.len());
            match items.next_element_seed(Seed { at, doubled: &mut *self.doubled, own: None })? {
                Some(value) => values.push(value),
                None => return Ok(Value::Array(values)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(Key(key)) = members.next_key::<Key<'_>>()? {
            if is_reserved(&key) {
                return Err(A::Error::custom(format_args!("the key `{}` is reserved", bounded(&key))));
            }
            if map.contains_key(key.as_ref()) {
                let at = self.at.pointer();
                self.doubled.get_or_insert_with(|| format!("duplicate field `{}` in {}", bounded(&key), place(&at)));
                if let Some(own) = &mut self.own {
                    own.insert(key.as_ref().to_owned());
                }
            }
            let at = ValuePath::Member(&self.at, &key);
            let value = members.next_value_seed(Seed { at, doubled: &mut *self.doubled, own: None })?;
            map.insert(key.into_owned(), value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use serde_json::Value;

    use super::{Unread, read};

    /// Asserts the error, and the repeated keys of the object itself.
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
