//! Parameters of a tool call.

use std::collections::BTreeMap;

use omen_types::OperationType;
use serde_json::Value;
use serde_json::value::RawValue;

/// Parameter that names the operation (D26).
pub const OPERATION: &str = "operation";

/// Returns the operation named by a value of [`OPERATION`], ignoring case; `None` if the value is a tool-specific word (D26).
#[must_use]
pub fn operation_named(word: &str) -> Option<OperationType> {
    word.to_lowercase().parse().ok()
}

/// Parameters of a tool call by name. Few of them are compared, so each remains text until then.
#[derive(Default)]
pub(crate) struct Params<'p>(BTreeMap<String, &'p RawValue>);

impl<'p> Params<'p> {
    /// Reads the parameters from a JSON object; without an object, there are none.
    pub(crate) fn read(text: Option<&'p str>) -> Self {
        // INVARIANT: the reader has checked that the text is a JSON object.
        Self(text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default())
    }

    pub(crate) fn get(&self, name: &str) -> Option<Value> {
        serde_json::from_str(self.0.get(name)?.get()).ok()
    }

    /// Returns the operation as text and parsed; `None` if it is a tool-specific word (D26).
    pub(crate) fn operation(&self) -> Option<(String, OperationType)> {
        let Some(Value::String(word)) = self.get(OPERATION) else { return None };
        let operation = operation_named(&word)?;
        Some((word, operation))
    }
}
