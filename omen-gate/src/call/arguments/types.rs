//! Sets of JSON types.

use std::fmt;

use serde_json::Value;

/// Set of JSON types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ValueTypes(u8);

impl ValueTypes {
    pub(super) const STRING: Self = Self(1);
    pub(super) const NUMBER: Self = Self(2);
    pub(super) const BOOLEAN: Self = Self(4);
    pub(super) const ARRAY: Self = Self(8);
    pub(super) const OBJECT: Self = Self(16);
    pub(super) const NULL: Self = Self(32);
    pub(super) const NONE: Self = Self(0);

    /// Returns the intersection of two sets.
    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the union of two sets.
    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn is_none(self) -> bool {
        self.0 == 0
    }

    pub(super) fn from_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(_) => Self::NUMBER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// Returns the type with a JSON Schema name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "number" | "integer" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => return None,
        })
    }
}

/// Writes the set as text: `a string or an array`.
impl fmt::Display for ValueTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [
            (Self::STRING, "a string"),
            (Self::NUMBER, "a number"),
            (Self::BOOLEAN, "a boolean"),
            (Self::ARRAY, "an array"),
            (Self::OBJECT, "an object"),
            (Self::NULL, "null"),
        ];
        let names: Vec<_> =
            all.iter().filter(|(types, _)| !self.and(*types).is_none()).map(|(_, name)| *name).collect();
        f.write_str(&names.join(" or "))
    }
}
