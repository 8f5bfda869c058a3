//! JSON syntax check.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// Checks that a text is one JSON value in which every string and number can be read. The text must not be nested too deep.
///
/// # Errors
/// The position and reason of a syntax error.
pub(crate) fn syntax(text: &str) -> serde_json::Result<()> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    Syntax.deserialize(&mut deserializer)?;
    deserializer.end()
}

/// Deserializes any value and discards it. `IgnoredAny` skips escapes and exponents unread, and a `Value` needs memory.
struct Syntax;

impl<'de> DeserializeSeed<'de> for Syntax {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Syntax {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(Syntax)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry_seed(Syntax, Syntax)?.is_some() {}
        Ok(())
    }
}
