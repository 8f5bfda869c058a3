//! Text that the operator's patterns are matched against (PG-0).
//!
//! A proxy does not see what the user has asked for, only what the agent calls and what a model reports in its episode, so these
//! are screened. The text of a call is the name of the tool, all names in its arguments, then all values, each on a separate
//! line, with escapes resolved. A pattern that spans white space matches text spread over several values.

use serde_json::{Map, Value};

/// Returns the text of a call. It is not longer than the call.
pub(crate) fn call_text(tool: &str, args: &Map<String, Value>) -> String {
    let (mut names, mut values) = (Vec::new(), Vec::new());
    collect_members(args, &mut names, &mut values);
    joined(tool, names, values)
}

/// Returns the text of a call whose arguments the next step refuses (PG-1).
pub(crate) fn refused_text(tool: &str, args: &str) -> String {
    let Ok(args) = serde_json::from_str::<Value>(args) else { return [tool, "\n", args].concat() };
    let (mut names, mut values) = (Vec::new(), Vec::new());
    collect(&args, &mut names, &mut values);
    joined(tool, names, values)
}

fn joined(tool: &str, names: Vec<&str>, values: Vec<String>) -> String {
    let mut text = tool.to_owned();
    for part in names.into_iter().map(str::to_owned).chain(values) {
        text.push('\n');
        text.push_str(&part);
    }
    text
}

/// Returns what a model reports as observed in the arguments of `omen_observe`, where it states what its user has asked for in an
/// episode. Returns `None` if it reports nothing.
pub(crate) fn reported(args: &str) -> Option<String> {
    let args: Map<String, Value> = serde_json::from_str(args).ok()?;
    let (mut names, mut values) = (Vec::new(), Vec::new());
    ["data", "query_params"]
        .iter()
        .filter_map(|name| args.get(*name))
        .for_each(|part| collect(part, &mut names, &mut values));
    let parts: Vec<_> = names.into_iter().map(str::to_owned).chain(values).collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

fn collect<'v>(value: &'v Value, names: &mut Vec<&'v str>, values: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) => values.push(value.to_string()),
        Value::String(text) => values.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, names, values)),
        Value::Object(members) => collect_members(members, names, values),
    }
}

fn collect_members<'v>(members: &'v Map<String, Value>, names: &mut Vec<&'v str>, values: &mut Vec<String>) {
    for (name, value) in members {
        names.push(name);
        collect(value, names, values);
    }
}

#[cfg(test)]
mod tests {
    use super::{call_text, refused_text};

    #[test]
    fn all_that_a_call_says_is_screened_as_it_is_meant() {
        let args = r#"{"sql":"dr\u006fp","more":[{"x":"table users"},1.5,true,null]}"#;
        let expected = "run\nmore\nx\nsql\ntable users\n1.5\ntrue\ndrop";
        assert_eq!(serde_json::from_str(args).map(|args| call_text("run", &args)).unwrap_or_default(), expected);
        assert_eq!(refused_text("run", args), expected);
        assert_eq!(refused_text("run", "{\"a\":1e999}"), "run\n{\"a\":1e999}");
    }
}
