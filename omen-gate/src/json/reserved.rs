//! A key that cannot be had.
//!
//! `serde_json` marks values that it passes on to itself with keys of its own. In a text that comes from outside such a
//! key would have what stands below it read once more, as another value than the one that was checked, and as deep as
//! it likes.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::Key;
use crate::bounded;

const PREFIX: &str = "$serde_json::private::";

pub(crate) fn is_reserved(key: &str) -> bool {
    key.starts_with(PREFIX)
}

/// Refuses a text with such a key anywhere in it. A text that is no JSON is for others to refuse.
///
/// # Errors
/// The key, in words.
pub(crate) fn refuse(text: &[u8]) -> Result<(), String> {
    // Nearly all texts have neither the key nor an escape that could stand for a part of it.
    let may_have = |part: &[u8]| text.windows(part.len()).any(|window| window == part);
    if !may_have(b"serde_json") && !may_have(b"\\u") {
        return Ok(());
    }
    match serde_json::from_slice::<Keys>(text) {
        Err(error) if error.is_data() => Err(bounded(&error.to_string())),
        _ => Ok(()),
    }
}

/// Any value, of which only the keys are looked at.
struct Keys;

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Keys {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        while let Some(Key(key)) = members.next_key::<Key<'_>>()? {
            if is_reserved(&key) {
                return Err(A::Error::custom(format_args!("the key `{}` is reserved", bounded(&key))));
            }
            members.next_value::<Self>()?;
        }
        Ok(self)
    }
}
