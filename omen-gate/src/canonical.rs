//! RFC 8785: one text for one JSON value (A4, D49).
//!
//! What is hashed must have one spelling: members in the order of their UTF-16 code units, numbers as ECMAScript
//! prints a double, no blank, UTF-8. Hashes of entries, of arguments that were confirmed and of tools that were pinned
//! are all taken over these bytes.

use serde::Serialize;
use serde_json::{Map, Number, Value};

/// A value that has no canonical text that says the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotCanonical {
    /// RFC 8785 carries numbers as doubles. Beyond ±(2^53−1) a double stands for several integers, and one that large
    /// may come from an integer that was rounded when it was read.
    #[error("`{0}` is beyond ±(2^53−1), where numbers are no longer exact")]
    Number(Number),
    /// The value is nested deeper than readers of JSON go.
    #[error("the value is nested more than {MAX_DEPTH} levels deep")]
    Depth,
    /// The value is no JSON.
    #[error("the value cannot be written as JSON: {0}")]
    Json(String),
}

/// The canonical bytes of a value.
///
/// ```
/// let value = serde_json::json!({ "tool": "write", "args": { "size": 1e3, "€": null } });
/// let bytes = omen_gate::canonical::to_vec(&value)?;
/// assert_eq!(bytes, r#"{"args":{"size":1000,"€":null},"tool":"write"}"#.as_bytes());
/// # Ok::<(), omen_gate::canonical::NotCanonical>(())
/// ```
///
/// # Errors
/// If a number is not exact, or the value is nested too deeply.
pub fn to_vec(value: &Value) -> Result<Vec<u8>, NotCanonical> {
    check(value, MAX_DEPTH)?;
    write(value)
}

/// Checks the values of an object as [`to_vec`] does.
pub(crate) fn check_members(members: &Map<String, Value>) -> Result<(), NotCanonical> {
    members.values().try_for_each(|value| check(value, MAX_DEPTH - 1))
}

/// The canonical bytes of what was checked.
pub(crate) fn write(value: &impl Serialize) -> Result<Vec<u8>, NotCanonical> {
    serde_json_canonicalizer::to_vec(value).map_err(|error| NotCanonical::Json(error.to_string()))
}

fn check(value: &Value, depth: usize) -> Result<(), NotCanonical> {
    match value {
        Value::Number(number) if !is_exact(number) => Err(NotCanonical::Number(number.clone())),
        Value::Array(_) | Value::Object(_) if depth == 0 => Err(NotCanonical::Depth),
        Value::Array(items) => items.iter().try_for_each(|item| check(item, depth - 1)),
        Value::Object(members) => members.values().try_for_each(|member| check(member, depth - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

fn is_exact(number: &Number) -> bool {
    match (number.as_u64(), number.as_i64(), number.as_f64()) {
        (Some(number), ..) => number <= MAX_INTEGER,
        (_, Some(number), _) => number.unsigned_abs() <= MAX_INTEGER,
        (.., Some(number)) => number.abs() <= MAX_INTEGER as f64,
        (None, None, None) => false,
    }
}

/// 2^53−1: up to here every integer is a double of its own.
pub const MAX_INTEGER: u64 = (1 << 53) - 1;

/// Levels of arrays and objects. `serde_json` reads 127 at most, and what is hashed may stand within something else.
pub const MAX_DEPTH: usize = 100;
