//! Deserialization of a JSON value from any format, in which a repeated key is an error (D42); `serde_json::Value`
//! keeps the last value instead.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

use crate::limits::MAX_DEPTH;

/// Deserializes a value that is nested no deeper than [`MAX_DEPTH`].
pub(super) fn value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    Unique { levels: MAX_DEPTH }.deserialize(deserializer)
}

#[derive(Clone, Copy)]
struct Unique {
    /// Remaining levels of arrays and objects.
    levels: u8,
}

impl Unique {
    fn inner<E: Error>(self) -> Result<Self, E> {
        let levels = self.levels.checked_sub(1).ok_or_else(|| {
            E::custom(format_args!("nested deeper than {MAX_DEPTH} levels; flatten the data, or refer to it"))
        })?;
        Ok(Self { levels })
    }
}

impl<'de> DeserializeSeed<'de> for Unique {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without repeated keys")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let inner = self.inner()?;
        let mut all = Vec::new();
        while let Some(element) = seq.next_element_seed(inner)? {
            all.push(element);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let inner = self.inner()?;
        let mut all = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            match all.entry(key) {
                Entry::Vacant(entry) => drop(entry.insert(map.next_value_seed(inner)?)),
                Entry::Occupied(entry) => {
                    return Err(A::Error::custom(format_args!("the key `{}` is repeated", entry.key())));
                }
            }
        }
        Ok(Value::Object(all))
    }
}
