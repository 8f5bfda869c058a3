//! Rule pointers: JSON pointers in which `*` matches every array element.

use std::fmt;

use omen_types::pointer::steps;
use serde_json::{Map, Value};

use super::mask;
use super::violation::RuleViolation;
use crate::base::bounded;
use crate::base::json::below;

/// Pointer into arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RulePointer {
    text: String,
    steps: Vec<PointerStep>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PointerStep {
    /// Object member, or index of an array element.
    Key(String),
    /// Every array element.
    Each,
}

/// Returns whether the value at a pointer may have been hidden when the arguments were recorded.
pub(crate) fn is_hidden(pointer: &str, args: &Map<String, Value>) -> bool {
    RulePointer::parse(pointer).map_or(true, |place| place.meets_masked(args))
}

impl RulePointer {
    /// Parses a pointer.
    ///
    /// # Errors
    /// The message and the help if the pointer is invalid.
    pub(crate) fn parse(text: &str) -> Result<Self, (String, String)> {
        let shown = bounded(text);
        let bad = |why: &str, help: String| Err((format!("invalid JSON pointer `{shown}`: {why}"), help));
        if !text.starts_with('/') {
            return bad("expected a `/` at its start", format!("write `/{shown}`"));
        }
        let mut rest = text;
        while let Some((_, behind)) = rest.split_once('~') {
            if !behind.starts_with(['0', '1']) {
                return bad("a `~` has to be written `~0`", "write `~0` for `~`, and `~1` for `/`".to_owned());
            }
            rest = behind;
        }
        let step = |step: std::borrow::Cow<'_, str>| {
            if step == "*" { PointerStep::Each } else { PointerStep::Key(step.into_owned()) }
        };
        let steps: Vec<_> = steps(text).map(step).collect();
        if steps.first() == Some(&PointerStep::Each) {
            return bad(
                "the arguments are an object, not an array",
                "name a member before the `*`: `/paths/*`".to_owned(),
            );
        }
        if steps.len() > MAX_STEPS {
            return bad(&format!("it has more than {MAX_STEPS} steps"), "point to a shallower member".to_owned());
        }
        Ok(Self { text: text.to_owned(), steps })
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn steps(&self) -> &[PointerStep] {
        &self.steps
    }

    /// Returns the name of the member where the pointer ends.
    pub(super) fn last_key(&self) -> Option<&str> {
        self.steps.iter().rev().find_map(|step| match step {
            PointerStep::Key(key) => Some(key.as_str()),
            PointerStep::Each => None,
        })
    }

    /// Returns whether the pointer has a step with this name.
    pub(super) fn names(&self, name: &str) -> bool {
        self.steps.iter().any(|step| matches!(step, PointerStep::Key(key) if key == name))
    }

    /// Returns the step after the last step of another pointer, if this pointer is below it.
    pub(super) fn beyond(&self, other: &Self) -> Option<&PointerStep> {
        self.steps.strip_prefix(other.steps.as_slice())?.first()
    }

    /// Returns whether a value on the pointer's path was hidden when the arguments were recorded.
    pub(super) fn meets_masked(&self, args: &Map<String, Value>) -> bool {
        fn meets(value: &Value, steps: &[PointerStep]) -> bool {
            match (steps.split_first(), value) {
                _ if mask::is_masked(value) => true,
                (Some((PointerStep::Key(key), rest)), Value::Object(members)) => {
                    members.get(key).is_some_and(|value| meets(value, rest)) || members.contains_key(mask::MASKED)
                }
                (Some((PointerStep::Key(key), rest)), Value::Array(items)) => {
                    index(key).and_then(|index| items.get(index)).is_some_and(|value| meets(value, rest))
                }
                (Some((PointerStep::Each, rest)), Value::Array(items)) => items.iter().any(|value| meets(value, rest)),
                // The rule compares the array as a whole.
                (None, Value::Array(items)) => items.iter().any(|value| meets(value, &[])),
                (None, Value::Object(members)) => mask::has_masked(members),
                _ => false,
            }
        }
        let Some((PointerStep::Key(key), rest)) = self.steps.split_first() else { return false };
        args.get(key).is_some_and(|value| meets(value, rest)) || args.contains_key(mask::MASKED)
    }

    /// Returns whether the pointer matches a path of steps.
    pub(super) fn is_at(&self, at: &[mask::ArgumentStep<'_>]) -> bool {
        self.steps.len() == at.len()
            && self.steps.iter().zip(at).all(|steps| match steps {
                (PointerStep::Key(key), mask::ArgumentStep::Key(name)) => key == name,
                (PointerStep::Key(key), mask::ArgumentStep::Index(number)) => index(key) == Some(*number),
                (PointerStep::Each, mask::ArgumentStep::Index(_)) => true,
                (PointerStep::Each, mask::ArgumentStep::Key(_)) => false,
            })
    }

    /// Visits each value that the pointer matches, and each missing member.
    pub(super) fn visit(&self, args: &Map<String, Value>, visit: &mut PointerVisitor<'_>) -> Result<(), RuleViolation> {
        let Some((PointerStep::Key(key), rest)) = self.steps.split_first() else { return Ok(()) };
        member(args.get(key), rest, &below("", key), visit)
    }
}

/// Callback that receives a value's pointer and the value, or `None` if the value is missing.
type PointerVisitor<'v> = dyn FnMut(&str, Option<&Value>) -> Result<(), RuleViolation> + 'v;

fn member(
    value: Option<&Value>,
    steps: &[PointerStep],
    at: &str,
    visit: &mut PointerVisitor<'_>,
) -> Result<(), RuleViolation> {
    let (Some(value), Some((step, rest))) = (value, steps.split_first()) else { return visit(at, value) };
    match (step, value) {
        (PointerStep::Key(key), Value::Object(members)) => member(members.get(key), rest, &below(at, key), visit),
        (PointerStep::Key(key), Value::Array(items)) => match index(key) {
            Some(index) => member(items.get(index), rest, &below(at, key), visit),
            None => Err(RuleViolation::undecided(at, "an object", value)),
        },
        (PointerStep::Each, Value::Array(items)) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, item)| member(Some(item), rest, &below(at, &index.to_string()), visit)),
        (PointerStep::Key(_), _) => Err(RuleViolation::undecided(at, "an object", value)),
        (PointerStep::Each, _) => Err(RuleViolation::undecided(at, "an array", value)),
    }
}

/// Parses an array index in the form of RFC 6901.
pub(super) fn index(key: &str) -> Option<usize> {
    let is_plain = key == "0" || (!key.starts_with('0') && key.bytes().all(|byte| byte.is_ascii_digit()));
    is_plain.then(|| key.parse().ok()).flatten()
}

impl fmt::Display for RulePointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Maximum number of steps in a pointer; plans are not nested deeper.
const MAX_STEPS: usize = 100;
