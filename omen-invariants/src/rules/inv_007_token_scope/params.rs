//! The parameters of a tool call.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

/// The parameters of a tool call by name. Few of them are compared with anything, so each is kept as text until it is.
#[derive(Default)]
pub(super) struct Params<'p>(BTreeMap<String, &'p RawValue>);

impl<'p> Params<'p> {
    /// The parameters in a JSON object; none without one.
    pub(super) fn read(text: Option<&'p str>) -> Self {
        // INVARIANT: the reader has checked the text, so it parses as an object.
        Self(text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default())
    }

    pub(super) fn get(&self, name: &str) -> Option<Value> {
        serde_json::from_str(self.0.get(name)?.get()).ok()
    }
}
