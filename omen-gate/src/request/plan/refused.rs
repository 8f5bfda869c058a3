//! Refusals by PG-1.

use serde_json::Value;

use crate::base::{Blocked, GateCode};

/// Refusal whose reason quotes nothing of the plan.
pub(super) fn blocked(message: &'static str, help: impl Into<String>) -> Blocked {
    Blocked::new(GateCode::Pg1, message, help).unquoted_as(message)
}

/// Refusal whose message quotes the plan, with a reason that does not.
pub(super) fn quoting(reason: impl Into<String>, message: impl Into<String>, help: impl Into<String>) -> Blocked {
    Blocked::new(GateCode::Pg1, message, help).unquoted_as(reason)
}

/// Refusal whose reason has only names, types and numbers of the gate.
pub(super) fn naming(message: impl Into<String>, help: impl Into<String>) -> Blocked {
    Blocked::new(GateCode::Pg1, message, help).quoting_nothing()
}

/// Type of a value in words.
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
