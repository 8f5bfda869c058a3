//! The parameters of a tool call.

use std::collections::BTreeMap;

use omen_types::OperationType;
use serde_json::Value;
use serde_json::value::RawValue;

/// The parameter that names the operation (D26).
pub const OPERATION: &str = "operation";

/// The operation that a value of [`OPERATION`] names, in any case of letters; `None` if it is another word, which is the tool's own (D26).
#[must_use]
pub fn operation_named(word: &str) -> Option<OperationType> {
    word.to_lowercase().parse().ok()
}

/// The parameters of a tool call by name. Few of them are compared with anything, so each is kept as text until it is.
#[derive(Default)]
pub(crate) struct Params<'p>(BTreeMap<String, &'p RawValue>);

impl<'p> Params<'p> {
    /// The parameters in a JSON object; none without one.
    pub(crate) fn read(text: Option<&'p str>) -> Self {
        // INVARIANT: the reader has checked the text, so it parses as an object.
        Self(text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default())
    }

    pub(crate) fn get(&self, name: &str) -> Option<Value> {
        serde_json::from_str(self.0.get(name)?.get()).ok()
    }

    /// The operation, as it is written and as it is read; none if it is another word, which is the tool's own (D26).
    pub(crate) fn operation(&self) -> Option<(String, OperationType)> {
        let Some(Value::String(word)) = self.get(OPERATION) else { return None };
        let operation = operation_named(&word)?;
        Some((word, operation))
    }
}
