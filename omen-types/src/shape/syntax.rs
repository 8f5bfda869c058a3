//! JSON syntax check.

use std::fmt;

use omen_schema::json::StringTracker;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::limits::MAX_DEPTH;

/// Returns the position at which brackets nest deeper than [`MAX_DEPTH`]; the text may be invalid.
pub(crate) fn too_deep(text: &str) -> Option<usize> {
    // Most texts have too few brackets, and counting them is many times faster.
    memchr::memchr2_iter(b'{', b'[', text.as_bytes()).nth(usize::from(MAX_DEPTH))?;
    let (mut depth, mut tracker) = (0_u8, StringTracker::default());
    text.bytes().position(|byte| {
        match byte {
            _ if !tracker.step(byte) => return false,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > MAX_DEPTH
    })
}

/// Checks that a text is one JSON value, with every string and number readable. The text must not be nested too deeply.
///
/// # Errors
/// The position and reason of a syntax error.
pub(crate) fn syntax(text: &str) -> serde_json::Result<()> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    Syntax.deserialize(&mut deserializer)?;
    deserializer.end()
}

/// Deserializes and discards any value. `IgnoredAny` would not read escapes and exponents, and a `Value` needs memory.
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
