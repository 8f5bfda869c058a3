//! Extraction of the one JSON object from the planner's text.

use serde_json::{Map, Value};

use super::PlanLimits;
use super::refused::{blocked, kind, naming, quoting};
use crate::base::json::{self, Reading, Unread};
use crate::base::{Blocked, MAX_DEPTH, bounded};

/// Parses a text as a single object.
pub(super) fn object(text: &str, limits: &PlanLimits) -> Result<Map<String, Value>, Blocked> {
    within(text.len(), limits)?;
    before(text)?;
    let depth = limits.depth.min(MAX_DEPTH);
    match json::read(text, Reading { depth, exact_numbers: true }) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(other) => Err(no_object(&other)),
        Err(Unread::Trailing(at)) => Err(after(text.get(at..).unwrap_or_default())),
        Err(unread) => Err(refused(&unread, depth)),
    }
}

/// Parses a member of a plan that is written elsewhere, by the same rules: the surrounding plan is one level of nesting.
#[cfg(feature = "mcp")]
pub(super) fn member(text: &str, key: &str, limits: &PlanLimits) -> Result<Value, Blocked> {
    let depth = limits.depth.min(MAX_DEPTH);
    let how = Reading { depth: depth.saturating_sub(1), exact_numbers: true };
    json::read_member(text, key, how).map_err(|unread| refused(&unread, depth))
}

/// Checks the length of a plan.
pub(super) fn within(bytes: usize, limits: &PlanLimits) -> Result<(), Blocked> {
    if bytes <= limits.bytes {
        return Ok(());
    }
    let message = format!("the plan exceeds {} bytes ({bytes} bytes)", limits.bytes);
    Err(naming(message, "plan one call, and refer to large data instead of including it"))
}

fn refused(unread: &Unread, depth: usize) -> Blocked {
    match unread {
        Unread::Syntax(what) => quoting(INVALID, format!("{INVALID}: {what}"), ONLY),
        Unread::Trailing(_) => quoting(INVALID, format!("{INVALID}: {unread}"), ONLY),
        Unread::Truncated => {
            blocked("the plan is incomplete: unexpected end of JSON", "raise the planner's output limit")
        }
        Unread::Deep => naming(format!("the plan is nested more than {depth} levels deep"), "flatten the arguments"),
        Unread::Reserved { .. } => {
            let reason = "the plan has a key that is reserved";
            quoting(reason, format!("the plan cannot be read: {unread}"), "rename the field")
        }
        Unread::Repeated { .. } => {
            let help = "write each key once; readers differ in which value they use";
            quoting("the plan has a duplicate field", unread.to_string(), help)
        }
        Unread::Number { why, .. } => {
            let help = "write it as a string if the tool accepts one, or with fewer digits";
            quoting(format!("a number of the plan {why}"), unread.to_string(), help)
        }
    }
}

/// Refuses text before the object.
fn before(text: &str) -> Result<(), Blocked> {
    let start = text.trim_start_matches(BLANK);
    if start.is_empty() {
        return Err(blocked("the plan is empty", ONLY));
    }
    if start.starts_with('\u{FEFF}') {
        return Err(blocked("the plan begins with a byte-order mark", "send plain UTF-8 without it"));
    }
    if start.starts_with(FENCE) {
        return Err(blocked("the plan is inside a code fence", "remove the fence and send only the object"));
    }
    let is_value = start.starts_with(|c: char| "{[\"-tfn".contains(c) || c.is_ascii_digit());
    // `true`, `null` and the like are values of the wrong type; `to do this` is text.
    if is_value && (start.starts_with(['{', '[', '"']) || serde_json::from_str::<Value>(start).is_ok()) {
        return Ok(());
    }
    let first = bounded(start.split_whitespace().next().unwrap_or_default());
    let reason = match start.contains('{') {
        true => "there is text before the plan",
        false => "expected a JSON object, found text",
    };
    let comma = if start.contains('{') { "," } else { "" };
    Err(quoting(reason, format!("{reason}{comma} beginning with `{first}`"), ONLY))
}

/// Builds a refusal that quotes the text after the object.
fn after(rest: &str) -> Blocked {
    if rest.starts_with('{') {
        return blocked("there is a second object after the plan", "plan one step; the next request can plan another");
    }
    if rest.starts_with(FENCE) {
        return blocked("a code fence follows the plan", "remove the fence and send only the object");
    }
    let first = bounded(rest.split_whitespace().next().unwrap_or_default());
    let reason = "there is text after the plan";
    quoting(reason, format!("{reason}, beginning with `{first}`"), ONLY)
}

fn no_object(value: &Value) -> Blocked {
    let what = kind(value);
    let help = match value {
        Value::Array(_) => "plan one step, as an object: a request makes at most one call",
        _ => ONLY,
    };
    naming(format!("expected an object, found {what}"), help)
}

const ONLY: &str = "send one JSON object and nothing else: `{\"type\": \"call_tool\", …}`";
const INVALID: &str = "the plan is not valid JSON";
const FENCE: &str = "```";
/// JSON white space, which may surround a plan.
const BLANK: [char; 4] = [' ', '\t', '\n', '\r'];
