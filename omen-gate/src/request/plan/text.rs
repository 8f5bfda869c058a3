//! From the planner's output to one object.

use serde_json::{Map, Value};

use super::PlanLimits;
use super::refused::blocked;
use crate::base::json::{self, Reading, Unread};
use crate::base::{Blocked, MAX_DEPTH, bounded};

/// The one object that a text is.
pub(super) fn object(text: &str, limits: &PlanLimits) -> Result<Map<String, Value>, Blocked> {
    if text.len() > limits.bytes {
        let message = format!("the plan has {} bytes, more than {}", text.len(), limits.bytes);
        return Err(blocked(message, "plan one call, and let bulky data stay where it is"));
    }
    before(text)?;
    let how = Reading { depth: limits.depth.min(MAX_DEPTH), exact_numbers: true };
    match json::read(text, how) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(other) => Err(no_object(&other)),
        Err(Unread::Trailing(at)) => Err(after(text.get(at..).unwrap_or_default())),
        Err(Unread::Syntax(what)) => Err(blocked(format!("the plan is not valid JSON: {what}"), ONLY)),
        Err(Unread::Truncated) => Err(blocked(
            "the plan breaks off before its end",
            "let the planner finish: its limit on output may be too low",
        )),
        Err(Unread::Deep) => {
            let message = format!("the plan is nested more than {} levels deep", how.depth);
            Err(blocked(message, "flatten the arguments"))
        }
        Err(error @ Unread::Reserved { .. }) => {
            Err(blocked(format!("the plan cannot be read: {error}"), "give the member another name"))
        }
        Err(error @ Unread::Repeated { .. }) => {
            Err(blocked(error.to_string(), "write each key once: readers differ in which of them they take"))
        }
        Err(error @ Unread::Number { .. }) => {
            Err(blocked(error.to_string(), "write it as a string, if the tool takes one, or with fewer digits"))
        }
    }
}

/// Says what stands before the object, if something does.
fn before(text: &str) -> Result<(), Blocked> {
    let start = text.trim_start_matches(BLANK);
    if start.is_empty() {
        return Err(blocked("the plan is empty", ONLY));
    }
    if start.starts_with('\u{FEFF}') {
        return Err(blocked("the plan begins with a byte-order mark", "send plain UTF-8 without it"));
    }
    if start.starts_with(FENCE) {
        return Err(blocked("the plan stands in a code fence", "leave out the fence and send the object alone"));
    }
    let is_value = start.starts_with(|c: char| "{[\"-tfn".contains(c) || c.is_ascii_digit());
    // `true`, `null` and their like are values of a wrong type; `to do this` is text.
    if is_value && (start.starts_with(['{', '[', '"']) || serde_json::from_str::<Value>(start).is_ok()) {
        return Ok(());
    }
    let first = bounded(start.split_whitespace().next().unwrap_or_default());
    let message = if start.contains('{') {
        format!("there is text before the plan, beginning with `{first}`")
    } else {
        format!("the plan is text, beginning with `{first}`, and no JSON")
    };
    Err(blocked(message, ONLY))
}

/// Says what stands after the object.
fn after(rest: &str) -> Blocked {
    if rest.starts_with('{') {
        return blocked("there is a second object after the plan", "plan one step; the next request can plan another");
    }
    if rest.starts_with(FENCE) {
        return blocked("a code fence ends after the plan", "leave out the fence and send the object alone");
    }
    let first = bounded(rest.split_whitespace().next().unwrap_or_default());
    blocked(format!("there is text after the plan, beginning with `{first}`"), ONLY)
}

fn no_object(value: &Value) -> Blocked {
    let what = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    let help = match value {
        Value::Array(_) => "plan one step, as an object: a request makes at most one call",
        _ => ONLY,
    };
    blocked(format!("the plan is {what}, and not an object"), help)
}

const ONLY: &str = "send one JSON object and nothing else: `{\"type\": \"call_tool\", …}`";
const FENCE: &str = "```";
/// JSON's white space. A plan may stand on a line of its own.
const BLANK: [char; 4] = [' ', '\t', '\n', '\r'];
