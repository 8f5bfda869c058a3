//! JSON Schema of a configuration, and the errors that it detects in keys, types and ranges.

use std::sync::LazyLock;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{ValidationError, Validator};
use omen_types::suggest::nearest;
use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform as _};
use serde_json::Value;

use super::error::{ConfigError, ConfigErrors, MAX_ERRORS};
use super::file::File;
use super::source::{TomlSource, path};
use crate::base::bounded;
use crate::base::json::below;

/// Inlined, without references, so that the path of a keyword also leads to its description.
pub(super) static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<File>();
    // TOML has no null: optional keys are omitted instead.
    let without_null = |schema: &mut Schema| {
        if schema.get("default").is_some_and(Value::is_null) {
            schema.remove("default");
        }
    };
    RecursiveTransform(without_null).transform(&mut schema);
    schema.to_value()
});

static VALIDATOR: LazyLock<Option<Validator>> = LazyLock::new(|| jsonschema::validator_for(&SCHEMA).ok());

/// Checks that all keys are known and that all values have the right type and range.
pub(super) fn check(source: &TomlSource<'_>) -> Result<(), ConfigErrors> {
    let Some(validator) = VALIDATOR.as_ref() else {
        return Err(ConfigErrors(vec![source.error("", "the schema of the configuration is broken", "report it")]));
    };
    let errors = validator.iter_errors(&source.value).flat_map(|error| explain(source, &error));
    let mut errors: Vec<_> = errors.take(MAX_ERRORS).collect();
    errors.sort_by_key(|error| (error.line, error.column));
    if errors.is_empty() { Ok(()) } else { Err(ConfigErrors(errors)) }
}

fn explain(source: &TomlSource<'_>, error: &ValidationError<'_>) -> Vec<ConfigError> {
    let pointer = error.instance_path().as_str();
    let name = path(&source.value, pointer);
    let schema_path = error.schema_path().as_str();
    let schema = schema_path.rsplit_once('/').and_then(|(parent, _)| SCHEMA.pointer(parent)).unwrap_or(&Value::Null);
    let wanted = || wanted(schema);
    let one = |message: String, help: String| vec![source.error(pointer, message, help)];
    match error.kind() {
        Kind::AdditionalProperties { unexpected } => {
            unexpected.iter().take(MAX_ERRORS).map(|key| unknown(source, pointer, schema, key)).collect()
        }
        Kind::Required { property } => {
            let key = property.as_str().unwrap_or_default();
            let of = if name.is_empty() { String::new() } else { format!(" in `{name}`") };
            let about = schema.pointer(&format!("{}/description", below("/properties", key)));
            let help = format!("add it: {}", description(about));
            one(format!("missing key `{key}`{of}"), help)
        }
        Kind::Type { kind } => {
            let kind = match kind {
                TypeKind::Single(kind) => called(&kind.to_string()).to_owned(),
                TypeKind::Multiple(kinds) => {
                    let kinds = kinds.iter().map(|kind| called(&kind.to_string()).to_owned());
                    kinds.collect::<Vec<_>>().join(" or ")
                }
            };
            let of_tables = schema.pointer("/items/properties").or_else(|| schema.pointer("/items/$ref")).is_some();
            let help = if of_tables { format!("write `[[{name}]]` above each entry") } else { wanted() };
            one(format!("expected {kind} for `{name}`, found {}", found(error.instance())), help)
        }
        Kind::Minimum { .. } | Kind::Maximum { .. } => one(format!("`{name}` is out of range"), wanted()),
        Kind::MinLength { .. } => one(format!("`{name}` is empty"), wanted()),
        Kind::MaxLength { limit } => one(format!("`{name}` is longer than {limit} characters"), wanted()),
        Kind::MinItems { .. } => one(format!("`{name}` is empty"), wanted()),
        Kind::MaxItems { limit } => one(format!("`{name}` has more than {limit} items"), wanted()),
        Kind::UniqueItems => one(format!("`{name}` contains a duplicate item"), "write each item once".to_owned()),
        Kind::Pattern { .. } => one(format!("invalid value of `{name}`"), wanted()),
        Kind::Enum { options } => {
            let options: Vec<_> = options.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let got = error.instance().as_str();
            let help = match got.and_then(|got| nearest(got, options.iter().copied())) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("expected one of `{}`", options.join("`, `")),
            };
            let got = got.map_or_else(|| error.instance().to_string(), str::to_owned);
            one(format!("invalid value `{}` for `{name}`", bounded(&got)), help)
        }
        kind => one(format!("`{name}` does not satisfy `{}`", kind.keyword()), wanted()),
    }
}

fn unknown(source: &TomlSource<'_>, pointer: &str, schema: &Value, key: &str) -> ConfigError {
    let pointer = below(pointer, key);
    let known: Vec<_> =
        schema.get("properties").and_then(Value::as_object).into_iter().flat_map(|map| map.keys()).collect();
    let help = match nearest(key, known.iter().map(|key| key.as_str())) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            format!("expected one of {}", known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", "))
        }
    };
    let message = format!("unknown key `{}`", path(&source.value, &pointer));
    source.error(&pointer, message, help)
}

/// Returns a description of the value that the schema expects.
fn wanted(schema: &Value) -> String {
    let range = match (schema.get("minimum"), schema.get("maximum")) {
        (Some(min), Some(max)) => format!("a number from {min} to {max}: "),
        _ => String::new(),
    };
    format!("{range}{}", description(schema.get("description")))
}

fn description(text: Option<&Value>) -> String {
    let text = text.and_then(Value::as_str).unwrap_or("see the schema of the configuration");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the TOML name of a JSON type.
fn called(kind: &str) -> &str {
    match kind {
        "object" => "a table",
        "array" => "an array",
        "integer" => "an integer",
        "string" => "a string",
        "boolean" => "a boolean",
        other => other,
    }
}

/// Returns the TOML name of a value's type.
fn found(value: &Value) -> &'static str {
    match value {
        // TOML has no null: [`TomlSource`] uses it for values that no key accepts.
        Value::Null => "a float, or a number that is too large",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "a table",
    }
}
