//! JSON Schema of `omen.toml`, for editors.

use omen_types::Code;
use serde_json::{Map, Value, json};

use super::keys::{IGNORE, IGNORE_KEYS, KEYS, Means, TABLE};

/// Returns the JSON Schema (2020-12) of `omen.toml`. `check` is `omen check` with its options.
pub(crate) fn json_schema(check: &clap::Command) -> Value {
    let values = |id: &str| -> Vec<String> {
        let arg = check.get_arguments().find(|arg| arg.get_id() == id);
        arg.map(clap::Arg::get_possible_values)
            .unwrap_or_default()
            .iter()
            .map(|value| value.get_name().to_owned())
            .collect()
    };
    let mut codes: Vec<&str> = Code::ALL.iter().filter(|code| code.is_adjustable()).map(|code| code.as_str()).collect();
    codes.push("warnings");
    let properties: Map<String, Value> = KEYS
        .iter()
        .map(|key| {
            let mut schema = match key.means {
                Means::Inputs | Means::Exclude | Means::Outputs => {
                    json!({"type": "array", "items": {"type": "string"}})
                }
                Means::GitIgnore => json!({"type": "boolean", "default": true}),
                Means::Level(_) => json!({"type": "array", "items": {"enum": codes}}),
                Means::Number(_) => json!({"type": "integer", "minimum": 1}),
                Means::File(_) => json!({"type": "string"}),
                Means::Text(id) => match values(id) {
                    values if values.is_empty() => json!({"type": "string"}),
                    values => json!({"enum": values}),
                },
            };
            if let Some(schema) = schema.as_object_mut() {
                schema.insert("description".to_owned(), key.about.into());
            }
            (key.name.to_owned(), schema)
        })
        .collect();
    let all: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let members: Map<String, Value> = IGNORE_KEYS
        .iter()
        .map(|(name, about)| {
            let schema = match *name {
                "code" => json!({"enum": all, "description": about}),
                // TOML has a date type and JSON does not; editors validate a date as a string.
                "until" => json!({"type": "string", "format": "date", "description": about}),
                _ => json!({"type": "string", "minLength": 1, "description": about}),
            };
            ((*name).to_owned(), schema)
        })
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "omen.toml",
        "description": "Defaults for the arguments of `omen check`.",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            TABLE: {
                "description": "Settings of `omen check`.",
                "type": "object",
                "additionalProperties": false,
                "properties": properties,
            },
            IGNORE: {
                "description": "Findings that `omen check` does not report. A finding matches a table if it matches all of its keys.",
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["reason"],
                    "minProperties": 2,
                    "additionalProperties": false,
                    "properties": members,
                },
            },
        },
    })
}
