//! What the operator's patterns are held against (PG-0).
//!
//! A proxy does not see what the user has asked for, only what the agent calls, and what a model reports in its episode. So that is
//! what is screened: of a call the name of the
//! tool, all names in its arguments, then all values, each on a line of its own, as they are meant. A pattern that spans
//! white space finds what is spread over several values.

use serde_json::Value;

/// The text of a call. It is not longer than the call.
pub(crate) fn screened(tool: &str, args: &str) -> String {
    // What is not a value is refused by the next step (PG-1), whatever it says.
    let Ok(args) = serde_json::from_str::<Value>(args) else { return [tool, "\n", args].concat() };
    let (mut names, mut values) = (Vec::new(), Vec::new());
    collect(&args, &mut names, &mut values);
    let mut text = tool.to_owned();
    for part in names.into_iter().map(str::to_owned).chain(values) {
        text.push('\n');
        text.push_str(&part);
    }
    text
}

/// What a model reports that it has observed, by the arguments of `omen_observe`: in an episode, it states there what its user has
/// asked for. Nothing if it reports nothing.
pub(crate) fn reported(args: &str) -> Option<String> {
    let args: serde_json::Map<String, Value> = serde_json::from_str(args).ok()?;
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
        Value::Object(members) => {
            for (name, value) in members {
                names.push(name);
                collect(value, names, values);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::screened;

    #[test]
    fn all_that_a_call_says_is_screened_as_it_is_meant() {
        let text = screened("run", r#"{"sql":"dr\u006fp","more":[{"x":"table users"},1.5,true,null]}"#);
        assert_eq!(text, "run\nmore\nx\nsql\ntable users\n1.5\ntrue\ndrop");
        assert_eq!(screened("run", "{\"a\":1e999}"), "run\n{\"a\":1e999}");
    }
}
