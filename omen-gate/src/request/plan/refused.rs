//! A refusal by PG-1.

use serde_json::Value;

use crate::base::{Blocked, GateCode};

/// A refusal whose reason quotes nothing of the plan.
pub(super) fn blocked(message: &'static str, help: impl Into<String>) -> Blocked {
    Blocked::new(GateCode::Pg1, message, help).unquoted_as(message)
}

/// A refusal whose reason quotes the plan, and what is left of the reason without that.
pub(super) fn quoting(reason: impl Into<String>, message: impl Into<String>, help: impl Into<String>) -> Blocked {
    Blocked::new(GateCode::Pg1, message, help).unquoted_as(reason)
}

/// A refusal whose reason has names, types and numbers of the gate's own.
pub(super) fn naming(message: impl Into<String>, help: impl Into<String>) -> Blocked {
    Blocked::new(GateCode::Pg1, message, help).quoting_nothing()
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
