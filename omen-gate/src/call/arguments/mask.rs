//! What stands in the place of what the audit log does not have.

use serde_json::{Map, Value};

/// What stands in the place of what is hidden.
pub const MASKED: &str = "[redacted]";

/// A step from arguments to one of their values.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// Whether a recorded value is one that was hidden, or looks like it.
pub(super) fn is_masked(value: &Value) -> bool {
    value == MASKED
}

pub(super) fn masked() -> Value {
    MASKED.into()
}

/// Whether something in recorded arguments was hidden.
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
