//! Placeholder for values that the audit log does not record.

use serde_json::{Map, Value};

/// Placeholder for a hidden value.
pub const MASKED: &str = "[redacted]";

/// Step on a path into arguments.
#[derive(Clone, Copy, Debug)]
pub(super) enum ArgumentStep<'a> {
    Key(&'a str),
    Index(usize),
}

/// Returns whether a recorded value is the placeholder or indistinguishable from it.
pub(super) fn is_masked(value: &Value) -> bool {
    value == MASKED
}

pub(super) fn masked() -> Value {
    MASKED.into()
}

/// Returns whether recorded arguments contain a placeholder.
pub(crate) fn has_masked(args: &Map<String, Value>) -> bool {
    fn within(value: &Value) -> bool {
        match value {
            Value::Array(items) => items.iter().any(within),
            Value::Object(members) => has_masked(members),
            value => is_masked(value),
        }
    }
    args.iter().any(|(name, value)| name == MASKED || within(value))
}
