//! JSON Schemas of tools, compiled once. They come from servers and are untrusted.

mod declared_keys;
mod document;
mod violation;

use jsonschema::Validator;
use jsonschema::error::ValidationErrorKind;
use omen_types::pointer::steps;
use serde_json::{Map, Value};

use crate::base::bounded;
use crate::base::json::below;
use crate::call::arguments::MASKED;
use declared_keys::{Beyond, DeclaredKeys, Effort};
use document::{Document, RegisteredSchema};

pub(crate) use document::annotates;
use violation::format_unquoted;
pub(crate) use violation::{Violation, format_violations};

/// Compiled JSON Schema. It checks all keywords, `format` included, and never fetches anything.
#[derive(Debug)]
pub(crate) struct Schema {
    whole: Validator,
    names: DeclaredKeys,
}

impl Schema {
    /// Compiles a schema in the dialect of its `$schema`, by default 2020-12.
    ///
    /// # Errors
    /// The reason why the schema is unusable, as bounded text for people: it is invalid, refers to another document,
    /// recurses without end, or is too large or too deep, including everything compiled for it.
    pub(crate) fn compile(schema: &Map<String, Value>) -> Result<Self, String> {
        let document = Document::new(schema)?;
        let names = DeclaredKeys::from_document(&document)?;
        let registered = RegisteredSchema::new(document)?;
        Ok(Self { whole: registered.validator("")?, names: names.compile(&registered)? })
    }

    /// Returns whether a value is known to be valid. This is false for a value that would take too long to check.
    pub(crate) fn accepts(&self, value: &Value) -> bool {
        self.effort(value).is_ok() && self.whole.is_valid(value)
    }

    /// Returns the violations of a value, none if it is valid. A value that would take too long to check counts as a
    /// single violation.
    pub(crate) fn violations(&self, value: &Value) -> Vec<Violation> {
        match self.effort(value) {
            Err(violation) => vec![violation],
            Ok(_) if self.whole.is_valid(value) => Vec::new(),
            Ok(effort) => self.broken(value, effort, |_| true),
        }
    }

    /// Returns the violations of arguments, including keys that the schema does not name ([`declared_keys`]).
    pub(crate) fn misfits(&self, args: &Value) -> Vec<Violation> {
        let effort = match self.effort(args) {
            Ok(effort) if effort.reported > MOST_STEPS => return vec![beyond(Beyond::Steps)],
            Ok(effort) => effort,
            Err(violation) => return vec![violation],
        };
        let unnamed = self.names.unnamed(args, MOST);
        let says_so = |error: &jsonschema::ValidationError<'_>| match error.kind() {
            // A key that the schema forbids is reported like any key that the schema does not name.
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                let at = error.instance_path().as_str();
                unexpected.iter().all(|key| unnamed.iter().any(|unnamed| unnamed.at == below(at, key)))
            }
            _ => false,
        };
        let mut all = match self.whole.is_valid(args) {
            true => Vec::new(),
            false => self.broken(args, effort, |error| !says_so(error)),
        };
        all.extend(unnamed);
        // Sorted by pointer, because servers and planners order members arbitrarily.
        all.sort();
        all
    }

    /// Formats the violations of arguments without their values. Only member names from the schema are shown: all
    /// others may be data.
    pub(crate) fn format_unquoted(&self, args: &Value, violations: &[Violation]) -> String {
        format_unquoted(violations, |at| {
            let (mut here, mut shown) = (Some(args), String::new());
            for step in steps(at) {
                let is_known = matches!(here, Some(Value::Array(_))) || self.declares(&step);
                shown = below(&shown, if is_known { &step } else { MASKED });
                here = match here {
                    Some(Value::Array(items)) => step.parse().ok().and_then(|index: usize| items.get(index)),
                    Some(Value::Object(members)) => members.get(step.as_ref()),
                    _ => None,
                };
            }
            bounded(&shown)
        })
    }

    /// Returns whether the schema names a key of some object.
    pub(crate) fn declares(&self, key: &str) -> bool {
        self.names.declares(key)
    }

    fn effort(&self, value: &Value) -> Result<Effort, Violation> {
        self.names.effort(value, MOST_STEPS, DEEPEST_JUDGED).map_err(beyond)
    }

    /// Returns the violations of a value that `which` selects. The validator reports all errors at once, so their
    /// number must be bounded in advance.
    fn broken(
        &self,
        value: &Value,
        effort: Effort,
        which: impl Fn(&jsonschema::ValidationError<'_>) -> bool,
    ) -> Vec<Violation> {
        let each = longest_pointer(value).saturating_add(effort.depth.saturating_mul(16)).saturating_add(256);
        let room = effort.valid.saturating_mul(u64::try_from(each).unwrap_or(u64::MAX));
        if effort.reported > MOST_STEPS || room > MOST_WRITTEN {
            return vec![whole("it is invalid, and too large to report where")];
        }
        let mut errors = self.whole.iter_errors(value).peekable();
        if errors.peek().is_none() {
            return vec![whole("it is invalid")];
        }
        errors.filter(which).take(MOST).map(|error| violation(&error)).collect()
    }
}

/// Builds a violation of the value as a whole.
fn whole(what: impl Into<String>) -> Violation {
    let what = what.into();
    Violation { at: String::new(), unquoted: what.clone(), what }
}

fn beyond(why: Beyond) -> Violation {
    whole(match why {
        Beyond::Steps => {
            format!("validating it would take more than {MOST_STEPS} steps; send less data, or simplify the schema")
        }
        Beyond::Depth => format!(
            "validating it would take more than {DEEPEST_JUDGED} nested schemas; nest the value less, or simplify the \
             schema"
        ),
    })
}

/// Returns an upper bound for the length of pointers into a value.
fn longest_pointer(value: &Value) -> usize {
    // An index is no longer than this, and escaping a key's character takes at most two.
    const STEP: usize = 8;
    match value {
        Value::Array(items) => items.iter().map(longest_pointer).max().unwrap_or(0).saturating_add(STEP),
        Value::Object(members) => {
            let members = members.iter();
            let longest =
                members.map(|(key, value)| key.len().saturating_mul(2).saturating_add(longest_pointer(value)));
            longest.max().unwrap_or(0).saturating_add(STEP)
        }
        _ => 0,
    }
}

fn violation(error: &jsonschema::ValidationError<'_>) -> Violation {
    let (at, what) = (error.instance_path().as_str().to_owned(), bounded(&error.to_string()));
    Violation { at, what, unquoted: unquoted(error) }
}

/// Returns a message that contains text only from the schema. The validator can mask the value but not member names or
/// nested errors, so all kinds except those known to quote only the schema are reduced to their keyword.
fn unquoted(error: &jsonschema::ValidationError<'_>) -> String {
    use ValidationErrorKind as Kind;
    match error.kind() {
        Kind::Type { .. }
        | Kind::Required { .. }
        | Kind::Enum { .. }
        | Kind::Constant { .. }
        | Kind::Format { .. }
        | Kind::Pattern { .. }
        | Kind::Minimum { .. }
        | Kind::Maximum { .. }
        | Kind::ExclusiveMinimum { .. }
        | Kind::ExclusiveMaximum { .. }
        | Kind::MultipleOf { .. }
        | Kind::MinLength { .. }
        | Kind::MaxLength { .. }
        | Kind::MinItems { .. }
        | Kind::MaxItems { .. }
        | Kind::MinProperties { .. }
        | Kind::MaxProperties { .. }
        | Kind::UniqueItems => bounded(&error.masked_with("it").to_string()),
        kind => format!("it does not match `{}` of the schema", bounded(kind.keyword())),
    }
}

/// Maximum number of steps for checking a value, which take an instant. Values of honest tools stay far below it, at
/// about three steps per contained value.
const MOST_STEPS: u64 = 4_000_000;
/// Maximum number of nested schemas when checking a value; each takes stack space.
const DEEPEST_JUDGED: usize = 512;
/// Maximum size of all error messages, estimated in bytes.
const MOST_WRITTEN: u64 = 128 << 20;
/// Maximum number of violations collected.
const MOST: usize = 32;
