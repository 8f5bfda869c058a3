//! Proposal of rules on a tool's arguments, for the operator to review.

use omen_gate::tool::Tool;
use serde_json::{Map, Value};

use crate::quoting::toml_string;

/// Proposed rules for the arguments of a tool.
#[derive(Debug, Default)]
pub(super) struct Rules {
    /// Complete lines of a `where` table, derived from the server's folders and the schema's choices.
    pub(super) known: Vec<String>,
    /// Lines in which the operator must first enter a folder or a host.
    pub(super) open: Vec<String>,
}

/// Proposes rules for arguments that look like paths, URLs or choices, judging by their names and schemas. `folders` are the
/// folders passed to the server.
pub(super) fn proposal(tool: &Tool, folders: &[String]) -> Rules {
    let required = tool.input_schema.get("required").and_then(Value::as_array);
    let known = tool.input_schema.get("properties").and_then(Value::as_object);
    let mut rules = Rules::default();
    for (name, schema) in known.into_iter().flatten() {
        let Some((steps, demand)) = schema.as_object().and_then(|schema| demand(name, schema, folders)) else {
            continue;
        };
        let pointer = toml_string(&format!("/{}{steps}", name.replace('~', "~0").replace('/', "~1")));
        if pointer.chars().count() > WIDTH / 2 || rules.known.len() + rules.open.len() == MOST {
            continue;
        }
        let is_required = required.is_some_and(|names| names.iter().any(|other| other == name));
        let optional = if is_required { "" } else { ", optional = true" };
        let line = |demand: &str| format!("{pointer} = {{ {demand}{optional} }}");
        match demand {
            Demand::Known(demand) => rules.known.push(line(&demand)),
            Demand::Open(demand) => rules.open.push(line(demand)),
        }
    }
    rules
}

/// Requirement on the values of an argument.
enum Demand {
    Known(String),
    Open(&'static str),
}

/// Returns the pointer steps after the argument's name, and a requirement on the values there.
fn demand(name: &str, schema: &Map<String, Value>, folders: &[String]) -> Option<(&'static str, Demand)> {
    let is = |schema: &Map<String, Value>, kind: &str| schema.get("type").is_some_and(|found| found == kind);
    let list = |values: &[String]| values.iter().map(|value| toml_string(value)).collect::<Vec<_>>().join(", ");
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let values: Option<Vec<_>> = values.iter().map(|value| value.as_str().map(str::to_owned)).collect();
        let demand = format!("in = [{}]", list(&values.filter(|values| values.len() <= MOST)?));
        return (demand.chars().count() <= WIDTH).then_some(("", Demand::Known(demand)));
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
        return Some((
            steps,
            match folders {
                [] => Demand::Open("under = [\"./data\"]"),
                folders => Demand::Known(format!("under = [{}]", list(folders))),
            },
        ));
    }
    let is_address = has(&["url", "uri", "endpoint", "webhook"]);
    is_address.then_some((steps, Demand::Open("host = [\"api.example.com\"]")))
}

/// Maximum length of a list of choices, and twice the maximum length of a pointer, in characters.
const WIDTH: usize = 100;
/// Maximum number of proposed rules, and of values in one rule.
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
        let choice = "\"/mode\" = { in = [\"r\", \"w\"] }";
        let host = "\"/Callback_URL\" = { host = [\"api.example.com\"], optional = true }";
        let without = proposal(&tool, &[]);
        assert_eq!(without.known, [choice]);
        let files = "\"/extra_files/*\" = { under = [\"./data\"], optional = true }";
        assert_eq!(without.open, [host, files, "\"/path\" = { under = [\"./data\"] }"]);
        let with = proposal(&tool, &["/a \"b".to_owned(), "c".to_owned()]);
        let files = "\"/extra_files/*\" = { under = [\"/a \\\"b\", \"c\"], optional = true }";
        assert_eq!(with.known, [files, choice, "\"/path\" = { under = [\"/a \\\"b\", \"c\"] }"]);
        assert_eq!(with.open, [host]);
        let none = serde_json::from_value(json!({ "name": "t", "inputSchema": { "type": "object" } })).unwrap();
        let none = proposal(&none, &[]);
        assert!(none.known.is_empty() && none.open.is_empty());
    }

    #[test]
    fn what_a_server_makes_long_is_left_out() {
        let choices: Vec<_> = (0..9).map(|number| number.to_string()).collect();
        let schema = json!({ "type": "object", "properties": {
            ("file_".repeat(20)): { "type": "string" },
            "many": { "enum": choices },
            "long": { "enum": ["x".repeat(200)] },
        } });
        let tool = serde_json::from_value(json!({ "name": "t", "inputSchema": schema })).unwrap();
        let rules = proposal(&tool, &[]);
        assert!(rules.known.is_empty() && rules.open.is_empty(), "{rules:?}");
    }
}
