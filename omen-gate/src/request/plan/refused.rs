//! A refusal by PG-1.

use serde_json::Value;

use crate::base::{Blocked, GateCode};

pub(super) fn blocked(message: impl Into<String>, help: impl Into<String>) -> Blocked {
    Blocked::new(GateCode::Pg1, message, help)
}

/// What a value is, in words.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
