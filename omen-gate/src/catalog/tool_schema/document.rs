//! Schema documents: checked before compilation, then registered with the validator.

use jsonschema::{Draft, PatternOptions, Registry, ValidationOptions, Validator};
use serde_json::{Map, Value, json};

use crate::base::bounded;

/// Returns whether a keyword is an annotation, a definition or an identifier and thus constrains nothing by itself.
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

/// Schema before compilation.
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
        // An `$id` must not redirect references elsewhere.
        if let Value::Object(members) = &mut root {
            members.remove(draft.id_keyword());
        }
        Ok(Self { root, draft })
    }
}

/// Valid schema, registered under a URI that other schemas can refer to.
pub(super) struct RegisteredSchema {
    draft: Draft,
    registry: Registry<'static>,
    /// Maximum size of each compiled pattern.
    pattern_size: usize,
}

impl RegisteredSchema {
    pub(super) fn new(Document { root, draft }: Document) -> Result<Self, String> {
        let pattern_size = (PATTERNS_SIZE / patterns(&root).max(1)).min(PATTERN_SIZE);
        // This also validates the schema against the meta-schema of its dialect.
        options(draft, pattern_size).build(&root).map_err(|error| refusal(&error))?;
        let registry = Registry::new()
            .draft(draft)
            .add(BASE, root)
            .and_then(jsonschema::RegistryBuilder::prepare)
            .map_err(|error| bounded(&error.to_string()))?;
        Ok(Self { draft, registry, pattern_size })
    }

    /// Compiles the schema at a JSON pointer.
    pub(super) fn validator(&self, pointer: &str) -> Result<Validator, String> {
        let reference = json!({"$ref": format!("{BASE}#{}", as_fragment(pointer))});
        options(self.draft, self.pattern_size)
            .with_registry(&self.registry)
            .build(&reference)
            .map_err(|error| refusal(&error))
    }

    /// Compiles a check of keys against one regular expression of `patternProperties`.
    pub(super) fn pattern(&self, pattern: &str) -> Result<Validator, String> {
        options(self.draft, self.pattern_size).build(&json!({"pattern": pattern})).map_err(|error| refusal(&error))
    }
}

/// Returns an upper bound on the number of patterns in a schema: text that is not a schema may look like one.
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
        // Common generators write look-around, which requires a backtracking engine; a match that exceeds the limit
        // counts as failed.
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS).size_limit(pattern_size))
}

fn refusal(error: &jsonschema::ValidationError<'_>) -> String {
    let at = error.instance_path().as_str();
    let place = if at.is_empty() { String::new() } else { format!("at `{}`: ", bounded(at)) };
    format!("{place}{}", bounded(&error.to_string()))
}

/// Encodes a JSON pointer as a URI fragment.
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

/// URI of the schema during compilation.
const BASE: &str = "urn:omen:tool";
/// Maximum schema size, in bytes of JSON.
pub(super) const LARGEST: usize = 256 * 1024;
/// Maximum nesting depth of a schema.
const DEEPEST: usize = 64;
/// Maximum number of backtracking steps in one match.
const BACKTRACKS: usize = 100_000;
/// Maximum size of one compiled pattern in bytes.
pub(super) const PATTERN_SIZE: usize = 1 << 20;
/// Maximum number of patterns in a schema: each is compiled several times.
const MOST_PATTERNS: usize = 256;
/// Maximum size of all compiled patterns of a schema in bytes.
const PATTERNS_SIZE: usize = 16 << 20;
