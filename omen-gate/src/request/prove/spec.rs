//! Statement of a call that must never be made: `tool=deploy /env=prod`.

use std::sync::Arc;

use omen_base::json::MAX_INTEGER;
use omen_order::rules::{Premise, Rule, RuleKind, Test, Was};
use omen_types::suggest::nearest;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::base::bounded;
use crate::call::arguments::{ArgumentRules, ArgumentTest, Rule as ArgumentRule, RulePointer, RulesTest, is_exact};
use crate::config::Config;

/// Returns a configuration that also refuses the stated calls, unless another tool has succeeded earlier in the session.
///
/// # Errors
/// Description of the error in the statement, and how to fix it.
pub fn never(config: &Config, statement: &str, unless_after: Option<&str>) -> Result<Config, String> {
    let (mut name, mut rules) = (None, Vec::<ArgumentRule>::new());
    for part in statement.split_whitespace() {
        let (key, value) = part
            .split_once('=')
            .ok_or_else(|| format!("expected `tool=NAME` or `/MEMBER=VALUE`, found `{}`", bounded(part)))?;
        if key == "tool" {
            if name.replace(value).is_some() {
                return Err("`tool` is given twice; ask about one tool at a time".to_owned());
            }
            continue;
        }
        let place = RulePointer::parse(key).map_err(|(message, help)| format!("{message}; {help}"))?;
        if rules.iter().any(|rule| rule.place == place) {
            return Err(format!("`{}` is given twice; ask about one value at a time", bounded(key)));
        }
        // Recognized by its syntax, because `serde_json` cannot hold `1e999`.
        let is_number = value.starts_with(|first: char| first == '-' || first.is_ascii_digit())
            && serde_json::from_str::<IgnoredAny>(value).is_ok();
        // Rules compare no other numbers, so such a call would be undecided.
        if is_number && !serde_json::from_str(value).is_ok_and(is_exact) {
            let (key, value) = (bounded(key), bounded(value));
            return Err(format!(
                "`{key}`: expected an integer within ±{MAX_INTEGER}, found `{value}`; write a text in quotes: `{key}=\"{value}\"`"
            ));
        }
        // A value that is not JSON is text: `/env=prod`.
        let expected = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
        rules.push(ArgumentRule { place, optional: false, tests: vec![ArgumentTest::Equals(expected)] });
    }
    let name = name.ok_or("missing `tool=NAME`: write `tool=deploy /env=prod`")?;
    let tool = tool(config, name)?;
    let own = Premise::new(vec![tool.clone()], Was::Made);
    let kind = match unless_after {
        None => RuleKind::MaxCalls(0, own),
        Some(name) => RuleKind::After(vec![Premise::new(vec![self::tool(config, name)?], Was::Ok)]),
    };
    let condition = (!rules.is_empty()).then(|| {
        let rules = ArgumentRules::new(rules);
        let content = format!("never {rules:?}");
        Arc::new(RulesTest::strict(rules, content, Arc::clone(&config.order_folder))) as Test
    });
    let mut policy = config.order.as_ref().clone();
    policy.tools.entry(tool).or_default().rules.insert(0, Rule { kind, condition, path: "--never".to_owned() });
    Ok(Config { order: Arc::new(policy), ..config.clone() })
}

/// Returns the allowed tool with a name, which may include its server.
fn tool(config: &Config, name: &str) -> Result<omen_order::Tool, String> {
    let tools = || config.order.tools.keys();
    let named: Vec<_> = tools().filter(|tool| *tool.name == *name || tool.to_string() == name).collect();
    match named.as_slice() {
        [tool] => Ok((*tool).clone()),
        [first, second, ..] => Err(format!("`{}` is both `{first}` and `{second}`: name the server", bounded(name))),
        [] => {
            let names: Vec<_> = tools().map(ToString::to_string).collect();
            let near = nearest(name, names.iter().map(String::as_str)).map(|near| format!("; did you mean `{near}`?"));
            Err(format!("the tool `{}` is not allowed{}", bounded(name), near.unwrap_or_default()))
        }
    }
}
