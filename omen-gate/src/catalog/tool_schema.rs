//! JSON Schemas of tools, compiled once. They come from servers, and are treated as such.

mod document;
mod names;
mod violation;

use jsonschema::Validator;
use jsonschema::error::ValidationErrorKind;
use omen_types::pointer::steps;
use serde_json::{Map, Value};

use crate::base::bounded;
use crate::base::json::below;
use crate::call::arguments::MASKED;
use document::{Document, Registered};
use names::{Beyond, Effort, Names};

pub(crate) use document::annotates;
use violation::format_unquoted;
pub(crate) use violation::{Violation, format_violations};

/// A schema that values are checked against: with all keywords, `format` included, and without ever fetching
/// anything.
#[derive(Debug)]
pub(crate) struct Schema {
    whole: Validator,
    names: Names,
}

impl Schema {
    /// Compiles a schema; the dialect is what `$schema` says, or 2020-12.
    ///
    /// # Errors
    /// Why the schema cannot be used: it is invalid, refers outside of itself, never comes to an end, or is
    /// too large or too deep, with all that would be compiled of it. The text is for people, and bounded.
    pub(crate) fn compile(schema: &Map<String, Value>) -> Result<Self, String> {
        let document = Document::new(schema)?;
        let names = Names::of(&document)?;
        let registered = Registered::new(document)?;
        Ok(Self { whole: registered.validator("")?, names: names.compile(&registered)? })
    }

    /// Whether a value is known to be valid: one that would take too long to judge is not.
    pub(crate) fn accepts(&self, value: &Value) -> bool {
        self.effort(value).is_ok() && self.whole.is_valid(value)
    }

    /// What a value breaks of the schema; nothing, if it is valid. One that would take too long to judge is not judged,
    /// and breaks it as a whole.
    pub(crate) fn violations(&self, value: &Value) -> Vec<Violation> {
        match self.effort(value) {
            Err(violation) => vec![violation],
            Ok(_) if self.whole.is_valid(value) => Vec::new(),
            Ok(effort) => self.broken(value, effort, |_| true),
        }
    }

    /// What arguments break of the schema, and which of them it does not name ([`names`]).
    pub(crate) fn misfits(&self, args: &Value) -> Vec<Violation> {
        let effort = match self.effort(args) {
            Ok(effort) if effort.told > MOST_STEPS => return vec![beyond(Beyond::Steps)],
            Ok(effort) => effort,
            Err(violation) => return vec![violation],
        };
        let unnamed = self.names.unnamed(args, MOST);
        let says_so = |error: &jsonschema::ValidationError<'_>| match error.kind() {
            // A key that the schema itself forbids is reported like every key that it does not name.
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
        // By place: the order in which a server or a planner writes members is arbitrary.
        all.sort();
        all
    }

    /// Writes violations of arguments without anything of their values. Names of members are written as far as the schema has
    /// them: all others may be data.
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

    /// Whether the schema names a key of some object.
    pub(crate) fn declares(&self, key: &str) -> bool {
        self.names.declares(key)
    }

    fn effort(&self, value: &Value) -> Result<Effort, Violation> {
        self.names.effort(value, MOST_STEPS, DEEPEST_JUDGED).map_err(beyond)
    }

    /// What an invalid value breaks, without what `which` leaves out. The validator knows only to write down all errors
    /// at once, so there must not be too many of them.
    fn broken(
        &self,
        value: &Value,
        effort: Effort,
        which: impl Fn(&jsonschema::ValidationError<'_>) -> bool,
    ) -> Vec<Violation> {
        let each = longest_pointer(value).saturating_add(effort.depth.saturating_mul(16)).saturating_add(256);
        let room = effort.valid.saturating_mul(u64::try_from(each).unwrap_or(u64::MAX));
        if effort.told > MOST_STEPS || room > MOST_WRITTEN {
            return vec![whole("it is invalid, and too large to report where")];
        }
        let mut errors = self.whole.iter_errors(value).peekable();
        if errors.peek().is_none() {
            return vec![whole("it is invalid")];
        }
        errors.filter(which).take(MOST).map(|error| violation(&error)).collect()
    }
}

/// A violation of the value as a whole.
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

/// How long the longest pointer into a value is, at most.
fn longest_pointer(value: &Value) -> usize {
    // An index is no longer than this, and a character of a key at most twice as long as in the key.
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

/// What is wrong, in words that are the schema's alone. The validator can mask the value, but not the names of its members, nor
/// what stands in errors within errors: of all but the kinds that are known to quote the schema only, the keyword is left.
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

/// The most steps that judging a value may take: an instant. What an honest tool takes or answers is far from it, at some
/// three steps for each value in it.
const MOST_STEPS: u64 = 4_000_000;
/// How deep schemas may stand within each other where a value is judged: each takes its part of the stack.
const DEEPEST_JUDGED: usize = 512;
/// The most that is written down of errors, in bytes, as far as that can be estimated.
const MOST_WRITTEN: u64 = 128 << 20;
/// The most violations that are looked for.
const MOST: usize = 32;
