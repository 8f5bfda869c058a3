//! JSON Schemas of tools, compiled once. They come from servers, and are treated as such.

mod names;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, Registry, ValidationOptions, Validator};
use serde_json::{Map, Value, json};

use crate::base::bounded;
use crate::base::json::below;
use names::{Beyond, Effort, Names};

/// A schema that values are checked against: with all keywords, `format` included, and without ever fetching
/// anything.
#[derive(Debug)]
pub(crate) struct Schema {
    whole: Validator,
    names: Names,
}

/// Whether a keyword says something about a value, or names a part of the schema, and demands nothing by itself.
pub(crate) fn annotates(keyword: &str) -> bool {
    matches!(
        keyword,
        "$schema"
            | "$id"
            | "$comment"
            | "$defs"
            | "definitions"
            | "title"
            | "description"
            | "default"
            | "examples"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "contentEncoding"
            | "contentMediaType"
    )
}

/// One thing that is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Violation {
    /// Where: a JSON pointer into the value.
    pub(crate) at: String,
    /// What, cut to a bounded length.
    pub(crate) what: String,
}

impl Schema {
    /// Compiles a schema; the dialect is what `$schema` says, or 2020-12.
    ///
    /// # Errors
    /// Why the schema cannot be used: it is no valid schema, refers to what is not in it, never comes to an end, or is
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
            // A key that the schema itself forbids is told as all keys are that it does not name.
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
        // By place; the order in which a server or a planner writes members is nothing to go by.
        all.sort();
        all
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
            return vec![whole("it is not valid; too much of it is judged to say where")];
        }
        let mut errors = self.whole.iter_errors(value).peekable();
        if errors.peek().is_none() {
            return vec![whole("it is not valid")];
        }
        errors.filter(which).take(MOST).map(|error| violation(&error)).collect()
    }
}

/// A violation of the value as a whole.
fn whole(what: impl Into<String>) -> Violation {
    Violation { at: String::new(), what: what.into() }
}

fn beyond(why: Beyond) -> Violation {
    whole(match why {
        Beyond::Steps => format!(
            "judging it would take more than {MOST_STEPS} steps; give less, or have the schema apply less often to the \
             same value"
        ),
        Beyond::Depth => format!(
            "judging it would take more than {DEEPEST_JUDGED} schemas within each other; nest it less, or have the \
             schema lead there more directly"
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
    Violation { at: error.instance_path().as_str().to_owned(), what: bounded(&error.to_string()) }
}

/// Writes violations in one line; a long list is cut.
pub(crate) fn told(violations: &[Violation]) -> String {
    let one = |violation: &Violation| match violation.at.as_str() {
        "" => violation.what.clone(),
        at => format!("`{}`: {}", bounded(at), violation.what),
    };
    let shown: Vec<String> = violations.iter().take(SHOWN).map(one).collect();
    let more = if violations.len() > SHOWN { "; and more" } else { "" };
    format!("{}{more}", shown.join("; "))
}

/// A schema on its way to be compiled.
struct Document {
    root: Value,
    draft: Draft,
}

impl Document {
    fn new(schema: &Map<String, Value>) -> Result<Self, String> {
        let mut root = Value::Object(schema.clone());
        if !is_shallow(&root, DEEPEST) {
            return Err(format!("it is nested more than {DEEPEST} levels deep"));
        }
        if root.to_string().len() > LARGEST {
            return Err(format!("it is longer than {LARGEST} bytes"));
        }
        if patterns(&root) > MOST_PATTERNS {
            return Err(format!("it has more than {MOST_PATTERNS} patterns"));
        }
        let draft = Draft::default().detect(&root);
        if draft == Draft::Unknown {
            return Err("its `$schema` is no known dialect of JSON Schema".to_owned());
        }
        // The name under which the schema is known elsewhere: it must not make it refer to elsewhere.
        if let Value::Object(members) = &mut root {
            members.remove(draft.id_keyword());
        }
        Ok(Self { root, draft })
    }
}

/// A schema that is known to be one, and that others can refer to.
struct Registered {
    draft: Draft,
    registry: Registry<'static>,
    /// How large each pattern may get.
    pattern_size: usize,
}

impl Registered {
    fn new(Document { root, draft }: Document) -> Result<Self, String> {
        let pattern_size = (PATTERNS_SIZE / patterns(&root).max(1)).min(PATTERN_SIZE);
        // This also judges the schema by its dialect's own schema.
        options(draft, pattern_size).build(&root).map_err(|error| refusal(&error))?;
        let registry = Registry::new()
            .draft(draft)
            .add(BASE, root)
            .and_then(jsonschema::RegistryBuilder::prepare)
            .map_err(|error| bounded(&error.to_string()))?;
        Ok(Self { draft, registry, pattern_size })
    }

    /// The schema that stands at a JSON pointer, compiled.
    fn validator(&self, pointer: &str) -> Result<Validator, String> {
        let reference = json!({"$ref": format!("{BASE}#{}", as_fragment(pointer))});
        options(self.draft, self.pattern_size)
            .with_registry(&self.registry)
            .build(&reference)
            .map_err(|error| refusal(&error))
    }

    /// A check of keys against one regular expression, as `patternProperties` has it.
    fn pattern(&self, pattern: &str) -> Result<Validator, String> {
        options(self.draft, self.pattern_size).build(&json!({"pattern": pattern})).map_err(|error| refusal(&error))
    }
}

/// How many patterns a schema has, at most: what is no schema may look like one.
fn patterns(schema: &Value) -> usize {
    match schema {
        Value::Array(items) => items.iter().map(patterns).sum(),
        Value::Object(members) => {
            let own = |(key, value): (&String, &Value)| match (key.as_str(), value) {
                ("pattern", Value::String(_)) => 1,
                ("patternProperties", Value::Object(patterns)) => patterns.len(),
                _ => 0,
            };
            members.iter().map(own).sum::<usize>() + members.values().map(patterns).sum::<usize>()
        }
        _ => 0,
    }
}

fn options<'r>(draft: Draft, pattern_size: usize) -> ValidationOptions<'r> {
    jsonschema::options()
        .with_draft(draft)
        .offline()
        .should_validate_formats(true)
        // What many generators write needs look-around, and so an engine that goes back; a match that takes too long
        // counts as none.
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS).size_limit(pattern_size))
}

fn refusal(error: &jsonschema::ValidationError<'_>) -> String {
    let at = error.instance_path().as_str();
    let place = if at.is_empty() { String::new() } else { format!("at `{}`: ", bounded(at)) };
    format!("{place}{}", bounded(&error.to_string()))
}

/// A JSON pointer as the fragment of a URI.
fn as_fragment(pointer: &str) -> String {
    let mut fragment = String::new();
    for byte in pointer.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            fragment.push(char::from(byte));
        } else {
            fragment.push_str(&format!("%{byte:02X}"));
        }
    }
    fragment
}

fn is_shallow(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(_) | Value::Object(_) if levels == 0 => false,
        Value::Array(items) => items.iter().all(|item| is_shallow(item, levels - 1)),
        Value::Object(members) => members.values().all(|member| is_shallow(member, levels - 1)),
        _ => true,
    }
}

/// What the schema is called while it is compiled.
const BASE: &str = "urn:omen:tool";
/// The longest schema, in bytes of JSON.
const LARGEST: usize = 256 * 1024;
/// The most levels of a schema.
const DEEPEST: usize = 64;
/// The most steps that judging a value may take: an instant. What an honest tool takes or answers is far from it, at some
/// three steps for each value in it.
const MOST_STEPS: u64 = 4_000_000;
/// How deep schemas may stand within each other where a value is judged: each takes its part of the stack.
const DEEPEST_JUDGED: usize = 512;
/// The most that is written down of errors, in bytes, as far as that can be told before.
const MOST_WRITTEN: u64 = 128 << 20;
/// How often a match may go back.
const BACKTRACKS: usize = 100_000;
/// How large a pattern may get, in bytes of its program.
const PATTERN_SIZE: usize = 1 << 20;
/// The most patterns of a schema: each is compiled several times.
const MOST_PATTERNS: usize = 256;
/// How large all patterns of a schema may get together.
const PATTERNS_SIZE: usize = 16 << 20;
/// The most violations that are looked for.
const MOST: usize = 32;
/// The most violations that a message lists.
const SHOWN: usize = 8;
