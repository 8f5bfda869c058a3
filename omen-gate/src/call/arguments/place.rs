//! Where the values of a rule stand: a JSON pointer in which `*` stands for every member of an array.

use std::fmt;

use omen_types::pointer::steps;
use serde_json::{Map, Value};

use super::broken::Broken;
use super::mask;
use crate::base::bounded;
use crate::base::json::below;

/// A pointer into arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    text: String,
    steps: Vec<Step>,
}

/// A step of a pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A member of an object, or the index of a member of an array.
    Key(String),
    /// Every member of an array.
    Each,
}

impl Place {
    /// Reads a pointer.
    ///
    /// # Errors
    /// What is wrong with it, and how to fix it.
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
        let step =
            |step: std::borrow::Cow<'_, str>| if step == "*" { Step::Each } else { Step::Key(step.into_owned()) };
        let steps: Vec<_> = steps(text).map(step).collect();
        if steps.first() == Some(&Step::Each) {
            return bad(
                "the arguments are an object, not an array",
                "name a member before the `*`: `/paths/*`".to_owned(),
            );
        }
        if steps.len() > MAX_STEPS {
            return bad(&format!("it has more than {MAX_STEPS} steps"), "point to something less deep".to_owned());
        }
        Ok(Self { text: text.to_owned(), steps })
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The name of the member that it ends at.
    pub(super) fn last_key(&self) -> Option<&str> {
        self.steps.iter().rev().find_map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Each => None,
        })
    }

    /// Whether a member of this name is on the way to it, or at it.
    pub(super) fn names(&self, name: &str) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Key(key) if key == name))
    }

    /// The step behind another place, if this one lies below it.
    pub(super) fn beyond(&self, other: &Self) -> Option<&Step> {
        self.steps.strip_prefix(other.steps.as_slice())?.first()
    }

    /// Whether something on the way to the place, or at it, was hidden when the arguments were recorded.
    pub(super) fn meets_masked(&self, args: &Map<String, Value>) -> bool {
        fn meets(value: &Value, steps: &[Step]) -> bool {
            match (steps.split_first(), value) {
                _ if mask::is_masked(value) => true,
                (Some((Step::Key(key), rest)), Value::Object(members)) => {
                    members.get(key).is_some_and(|value| meets(value, rest)) || members.contains_key(mask::MASKED)
                }
                (Some((Step::Key(key), rest)), Value::Array(items)) => {
                    index(key).and_then(|index| items.get(index)).is_some_and(|value| meets(value, rest))
                }
                (Some((Step::Each, rest)), Value::Array(items)) => items.iter().any(|value| meets(value, rest)),
                // A whole value is compared.
                (None, Value::Array(items)) => items.iter().any(|value| meets(value, &[])),
                (None, Value::Object(members)) => mask::has_masked(members),
                _ => false,
            }
        }
        let Some((Step::Key(key), rest)) = self.steps.split_first() else { return false };
        args.get(key).is_some_and(|value| meets(value, rest)) || args.contains_key(mask::MASKED)
    }

    /// Whether a value stands at this place.
    pub(super) fn is_at(&self, at: &[mask::Step<'_>]) -> bool {
        self.steps.len() == at.len()
            && self.steps.iter().zip(at).all(|steps| match steps {
                (Step::Key(key), mask::Step::Key(name)) => key == name,
                (Step::Key(key), mask::Step::Index(number)) => index(key) == Some(*number),
                (Step::Each, mask::Step::Index(_)) => true,
                (Step::Each, mask::Step::Key(_)) => false,
            })
    }

    /// Visits each value that there is at this place, and each member that is missing.
    pub(super) fn visit(&self, args: &Map<String, Value>, visit: &mut Visit<'_>) -> Result<(), Broken> {
        let Some((Step::Key(key), rest)) = self.steps.split_first() else { return Ok(()) };
        member(args.get(key), rest, &below("", key), visit)
    }
}

/// Takes a value with its place, or nothing where it is missing.
type Visit<'v> = dyn FnMut(&str, Option<&Value>) -> Result<(), Broken> + 'v;

fn member(value: Option<&Value>, steps: &[Step], at: &str, visit: &mut Visit<'_>) -> Result<(), Broken> {
    let (Some(value), Some((step, rest))) = (value, steps.split_first()) else { return visit(at, value) };
    match (step, value) {
        (Step::Key(key), Value::Object(members)) => member(members.get(key), rest, &below(at, key), visit),
        (Step::Key(key), Value::Array(items)) => match index(key) {
            Some(index) => member(items.get(index), rest, &below(at, key), visit),
            None => Err(Broken::undecided(at, "an object", value)),
        },
        (Step::Each, Value::Array(items)) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, item)| member(Some(item), rest, &below(at, &index.to_string()), visit)),
        (Step::Key(_), _) => Err(Broken::undecided(at, "an object", value)),
        (Step::Each, _) => Err(Broken::undecided(at, "an array", value)),
    }
}

/// An index as RFC 6901 writes it.
pub(super) fn index(key: &str) -> Option<usize> {
    let is_plain = key == "0" || (!key.starts_with('0') && key.bytes().all(|byte| byte.is_ascii_digit()));
    is_plain.then(|| key.parse().ok()).flatten()
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The most steps of a pointer. No plan is deeper.
const MAX_STEPS: usize = 100;
