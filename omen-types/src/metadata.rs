//! Fields of a packet that begin with `_`: allowed at its top level and not checked by any rule (D38).

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::scalar::Invalid;

/// A packet's metadata: fields whose names begin with `_`.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "schemars",
    derive(schemars::JsonSchema),
    schemars(with = "Map<String, Value>", extend("patternProperties" = { "^_": true }, "additionalProperties" = false))
)]
pub struct Metadata(Map<String, Value>);

impl Metadata {
    /// Creates empty metadata.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces a field, and returns its previous value.
    ///
    /// # Errors
    /// If the name does not begin with `_`.
    pub fn insert(&mut self, name: impl Into<String>, value: Value) -> Result<Option<Value>, Invalid> {
        let name = name.into();
        if is_name(&name) { Ok(self.0.insert(name, value)) } else { Err(Invalid::new("metadata name", EXPECTS, name)) }
    }

    /// Returns the fields.
    #[must_use]
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }
}

impl TryFrom<Map<String, Value>> for Metadata {
    type Error = Invalid;

    /// Accepts only fields whose names begin with `_`.
    fn try_from(members: Map<String, Value>) -> Result<Self, Invalid> {
        match members.keys().find(|name| !is_name(name)) {
            Some(name) => Err(Invalid::new("metadata name", EXPECTS, name.clone())),
            None => Ok(Self(members)),
        }
    }
}

impl Serialize for Metadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// Returns whether a field with this name is metadata.
pub(crate) fn is_name(name: &str) -> bool {
    name.starts_with('_')
}

const EXPECTS: &str = "a name that begins with `_`";
