//! The text of a schema, checked before anything is compiled, and made known to the validator.

use jsonschema::{Draft, PatternOptions, Registry, ValidationOptions, Validator};
use serde_json::{Map, Value, json};

use crate::base::bounded;

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

/// A schema on its way to be compiled.
pub(super) struct Document {
    pub(super) root: Value,
    pub(super) draft: Draft,
}

impl Document {
    pub(super) fn new(schema: &Map<String, Value>) -> Result<Self, String> {
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
            return Err("its `$schema` is an unknown dialect of JSON Schema".to_owned());
        }
        // The name under which the schema is known elsewhere: it must not make it refer to elsewhere.
        if let Value::Object(members) = &mut root {
            members.remove(draft.id_keyword());
        }
        Ok(Self { root, draft })
    }
}

/// A schema that is known to be one, and that others can refer to.
pub(super) struct Registered {
    draft: Draft,
    registry: Registry<'static>,
    /// How large each pattern may get.
    pattern_size: usize,
}

impl Registered {
    pub(super) fn new(Document { root, draft }: Document) -> Result<Self, String> {
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
    pub(super) fn validator(&self, pointer: &str) -> Result<Validator, String> {
        let reference = json!({"$ref": format!("{BASE}#{}", as_fragment(pointer))});
        options(self.draft, self.pattern_size)
            .with_registry(&self.registry)
            .build(&reference)
            .map_err(|error| refusal(&error))
    }

    /// A check of keys against one regular expression, as `patternProperties` has it.
    pub(super) fn pattern(&self, pattern: &str) -> Result<Validator, String> {
        options(self.draft, self.pattern_size).build(&json!({"pattern": pattern})).map_err(|error| refusal(&error))
    }
}

/// How many patterns a schema has, at most: text that is not a schema may look like one.
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
pub(super) const LARGEST: usize = 256 * 1024;
/// The most levels of a schema.
const DEEPEST: usize = 64;
/// How often a match may go back.
const BACKTRACKS: usize = 100_000;
/// How large a pattern may get, in bytes of its program.
pub(super) const PATTERN_SIZE: usize = 1 << 20;
/// The most patterns of a schema: each is compiled several times.
const MOST_PATTERNS: usize = 256;
/// How large all patterns of a schema may get together.
const PATTERNS_SIZE: usize = 16 << 20;
