//! Rules on the arguments of a tool, as a proposal to the operator.

use omen_gate::tool::Tool;
use serde_json::{Map, Value};

use super::toml::quoted;

/// A table `where` for the arguments that look like paths, URLs or choices: by their names, and by their schemas. Which folder
/// and which host are right is for the operator to say.
pub(super) fn proposal(tool: &Tool) -> String {
    let required = tool.input_schema.get("required").and_then(Value::as_array);
    let known = tool.input_schema.get("properties").and_then(Value::as_object);
    let rules: Vec<_> = known
        .into_iter()
        .flatten()
        .filter_map(|(name, schema)| {
            let (steps, demand) = demand(name, schema.as_object()?)?;
            let is_required = required.is_some_and(|names| names.iter().any(|other| other == name));
            let optional = if is_required { "" } else { ", optional = true" };
            let pointer = quoted(&format!("/{}{steps}", name.replace('~', "~0").replace('/', "~1")));
            Some(format!("# {pointer} = {{ {demand}{optional} }}\n"))
        })
        .filter(|rule| rule.chars().count() <= WIDTH)
        .take(MOST)
        .collect();
    if rules.is_empty() { String::new() } else { format!("# [allow.where]\n{}", rules.concat()) }
}

/// The steps behind the name of an argument, and what its values could have to be.
fn demand(name: &str, schema: &Map<String, Value>) -> Option<(&'static str, String)> {
    let is = |schema: &Map<String, Value>, kind: &str| schema.get("type").is_some_and(|found| found == kind);
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let values: Option<Vec<_>> = values.iter().map(|value| value.as_str().map(quoted)).collect();
        return Some(("", format!("in = [{}]", values.filter(|values| values.len() <= MOST)?.join(", "))));
    }
    let items = schema.get("items").and_then(Value::as_object);
    let steps = match items {
        _ if is(schema, "string") => "",
        Some(items) if is(schema, "array") && is(items, "string") => "/*",
        _ => return None,
    };
    let name = name.to_lowercase();
    let has = |words: &[&str]| {
        let mut parts = name.split(['_', '-']);
        parts.any(|part| words.iter().any(|word| part == *word || part.strip_suffix('s') == Some(*word)))
    };
    if has(&["path", "file", "filename", "filepath", "dir", "directory", "folder", "source", "destination"]) {
        return Some((steps, "under = \"./data\"".to_owned()));
    }
    has(&["url", "uri", "endpoint", "webhook"]).then(|| (steps, "host = [\"api.example.com\"]".to_owned()))
}

/// How long a line may be.
const WIDTH: usize = 100;
/// How many rules, and how many values of one, are proposed.
const MOST: usize = 8;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::proposal;
    use serde_json::json;

    #[test]
    fn paths_urls_and_choices_are_found() {
        let schema = json!({ "type": "object", "required": ["path", "mode"], "properties": {
            "path": { "type": "string" },
            "extra_files": { "type": "array", "items": { "type": "string" } },
            "Callback_URL": { "type": "string" },
            "mode": { "enum": ["r", "w"] },
            "profile": { "type": "string" },
            "file": { "type": "object" },
            "amount": { "type": "integer" },
        } });
        let tool = serde_json::from_value(json!({ "name": "t", "inputSchema": schema })).unwrap();
        assert_eq!(
            proposal(&tool),
            "# [allow.where]\n\
             # \"/Callback_URL\" = { host = [\"api.example.com\"], optional = true }\n\
             # \"/extra_files/*\" = { under = \"./data\", optional = true }\n\
             # \"/mode\" = { in = [\"r\", \"w\"] }\n\
             # \"/path\" = { under = \"./data\" }\n"
        );
        let none = serde_json::from_value(json!({ "name": "t", "inputSchema": { "type": "object" } })).unwrap();
        assert_eq!(proposal(&none), "");
    }
}
