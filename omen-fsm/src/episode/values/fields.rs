//! Free-form JSON objects.

use omen_types::serde_json::{Map, Value};

/// A free-form JSON object with at least one member, as observations and tools take it. The macro
/// [`fields!`](crate::fields) writes one out.
#[derive(Clone, Debug, PartialEq)]
pub struct Fields(Map<String, Value>);

impl Fields {
    /// Takes an object; none if it is empty or no object at all.
    #[must_use]
    pub fn new(value: Value) -> Option<Self> {
        match value {
            Value::Object(map) if !map.is_empty() => Some(Self(map)),
            _ => None,
        }
    }

    /// The members.
    #[must_use]
    pub fn into_map(self) -> Map<String, Value> {
        self.0
    }

    /// From the macro, which writes an object with a member. Anything else becomes the member `value`, so that whoever
    /// calls this gets an object with a member, too.
    #[doc(hidden)]
    #[must_use]
    pub fn __written(value: Value) -> Self {
        match value {
            Value::Object(map) if !map.is_empty() => Self(map),
            other => Self(Map::from_iter([("value".to_owned(), other)])),
        }
    }
}

/// Writes a free-form JSON object out: `fields!({ "pool": 40 })`. It needs at least one member.
#[macro_export]
macro_rules! fields {
    ({ $($member:tt)+ }) => {
        $crate::episode::Fields::__written($crate::__json!({ $($member)+ }))
    };
    ({}) => {
        ::core::compile_error!("SCHEMA: an object of `fields!` has at least one member")
    };
}
