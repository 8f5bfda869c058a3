//! Refusals by PG-1.

use serde_json::Value;

use crate::base::{Blocked, GateCode};

/// Builds a refusal whose reason quotes nothing from the plan.
pub(super) fn blocked(message: &'static str, help: impl Into<String>) -> Blocked {
    Blocked::new(GateCode::Pg1, message, help).unquoted_as(message)
}

/// Builds a refusal whose message quotes the plan but whose reason does not.
pub(super) fn quoting(reason: impl Into<String>, message: impl Into<String>, help: impl Into<String>) -> Blocked {
    Blocked::new(GateCode::Pg1, message, help).unquoted_as(reason)
}

/// Builds a refusal whose reason contains only names, types and numbers of the gate.
pub(super) fn naming(message: impl Into<String>, help: impl Into<String>) -> Blocked {
    Blocked::new(GateCode::Pg1, message, help).quoting_nothing()
}

/// Returns the type of a value as text.
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
