//! Check that a dialect supports the version of an agent.

use serde_json::{Map, Value};

use crate::dialect::VersionRange;
use omen_base::bounded::bounded;

/// Checks that an event comes from a supported version. An event that does not state its version is refused.
pub(crate) fn check(
    range: &VersionRange,
    title: &str,
    members: &Map<String, Value>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<(), String> {
    let (place, found) = match (&range.member, &range.env) {
        (Some(member), _) => {
            (format!("field `{member}`"), members.get(member).and_then(Value::as_str).map(str::to_owned))
        }
        (None, Some(name)) => (format!("variable `{name}`"), variable(name)),
        (None, None) => return Ok(()),
    };
    let expected = format!("expected {} or later, and below {}", range.from, range.below);
    let Some(found) = found else {
        return Err(format!("the {place}, which names the version of {title}, is missing; {expected}"));
    };
    let is_within = match (numbers(&found), numbers(&range.from), numbers(&range.below)) {
        (Some(found), Some(from), Some(below)) => from <= found && found < below,
        _ => false,
    };
    if is_within { Ok(()) } else { Err(format!("unsupported version `{}` of {title}; {expected}", bounded(&found))) }
}

/// Parses the numbers of a version, ignoring a suffix such as `-beta.1`.
fn numbers(version: &str) -> Option<Vec<u32>> {
    let plain = version.split(['-', '+']).next().unwrap_or(version);
    plain.split('.').map(|number| number.parse().ok()).collect()
}
