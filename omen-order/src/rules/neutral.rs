//! Rules as neutral JSON, for test oracles and for programs in other languages.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Member, Pair, Per, Policy, Premise, Rule, RuleKind, Side, Test, Tool, ToolPolicy, Until, Was};

/// Constructor of a test from a table `where`, `answer` or `if`.
pub type MakeTest<'f> = dyn Fn(&Value) -> Result<Test, String> + 'f;

/// Reads the rules of all tools: `{"wait_ms", "gather_ms", "tools": {"server/tool": {"confirm", "rules": […]}}}`.
///
/// # Errors
/// A description of the mistake.
pub fn policy(value: &Value, test: &MakeTest<'_>) -> Result<Policy, String> {
    let mut policy = Policy::default();
    if let Some(ms) = value.get("wait_ms").and_then(Value::as_u64) {
        policy.wait_ms = ms;
    }
    if let Some(ms) = value.get("gather_ms").and_then(Value::as_u64) {
        policy.gather_ms = ms;
    }
    for (name, entry) in object(value, "tools")? {
        let rules = entry.get("rules").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let rules = rules.iter().enumerate().map(|(index, value)| rule(value, test).map_err(|why| (index, why)));
        let rules = rules.collect::<Result<_, _>>().map_err(|(index, why)| format!("{name}: rule {index}: {why}"))?;
        let may_confirm = entry.get("confirm") == Some(&Value::Bool(true));
        policy.tools.insert(tool(name)?, ToolPolicy { may_confirm, rules });
    }
    Ok(policy)
}

/// Parses `server/tool`.
///
/// # Errors
/// If there is no `/`.
pub fn tool(name: &str) -> Result<Tool, String> {
    let (server, tool) = name.split_once('/').ok_or_else(|| format!("expected `server/tool`, found `{name}`"))?;
    Ok(Tool::new(server, tool))
}

fn object<'v>(value: &'v Value, key: &str) -> Result<&'v Map<String, Value>, String> {
    value.get(key).and_then(Value::as_object).ok_or_else(|| format!("missing field `{key}`"))
}

fn rule(value: &Value, test: &MakeTest<'_>) -> Result<Rule, String> {
    let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default();
    let premise = |was, per| premise(value.get("premise").ok_or("missing field `premise`")?, was, per, Was::Ok, test);
    let kind = match kind {
        "after" => {
            let any = value.get("any").and_then(Value::as_array).ok_or("missing field `any`")?;
            let any = any.iter().map(|value| self::premise(value, Was::Ok, Per::Session, Was::Made, test));
            RuleKind::After(any.collect::<Result<_, _>>()?)
        }
        "never_after" => RuleKind::NeverAfter(premise(Was::Made, Per::Session)?),
        "max" => match (value.get("calls").and_then(Value::as_u64), value.get("sum")) {
            (Some(calls), _) => RuleKind::MaxCalls(
                u32::try_from(calls).map_err(|_| "`calls` is too large")?,
                premise(Was::Made, Per::All)?,
            ),
            (None, Some(sum)) => {
                let limit = sum.get("limit").and_then(Value::as_u64).ok_or("missing field `limit`")?;
                RuleKind::MaxSum(limit, text(sum, "at")?, premise(Was::Made, Per::All)?)
            }
            (None, None) => return Err("missing field `calls` or `sum`".to_owned()),
        },
        "owes" => RuleKind::BeforeEnd(premise(Was::Ok, Per::Session)?),
        kind => return Err(format!("invalid kind `{kind}`; expected `after`, `never_after`, `max` or `owes`")),
    };
    Ok(Rule { kind, condition: value.get("if").map(test).transpose()?, path: String::new() })
}

fn text(value: &Value, key: &str) -> Result<Arc<str>, String> {
    value.get(key).and_then(Value::as_str).map(Into::into).ok_or_else(|| format!("missing field `{key}`"))
}

fn premise(value: &Value, was: Was, per: Per, until: Was, test: &MakeTest<'_>) -> Result<Premise, String> {
    let untils = match value.get("until") {
        None => &[][..],
        Some(Value::Array(untils)) => untils.as_slice(),
        Some(until) => std::slice::from_ref(until),
    };
    let times = value.get("times").and_then(Value::as_u64).unwrap_or(1);
    Ok(Premise {
        tools: tools(value)?,
        was: named(value, "was", Was::parse)?.unwrap_or(was),
        args: value.get("where").map(test).transpose()?,
        answer: value.get("answer").map(test).transpose()?,
        same: pairs(value)?,
        within_ms: value.get("within_ms").and_then(Value::as_u64),
        times: u32::try_from(times).map_err(|_| "`times` is too large")?,
        per: named(value, "per", Per::parse)?.unwrap_or(per),
        until: untils
            .iter()
            .map(|value| {
                Ok::<_, String>(Until {
                    tools: tools(value)?,
                    is_other: value.get("other") == Some(&Value::Bool(true)),
                    was: named(value, "was", Was::parse)?.unwrap_or(until),
                    args: value.get("where").map(test).transpose()?,
                    answer: value.get("answer").map(test).transpose()?,
                    same: pairs(value)?,
                })
            })
            .collect::<Result<_, _>>()?,
    })
}

fn named<T>(value: &Value, key: &str, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>, String> {
    let Some(name) = value.get(key).and_then(Value::as_str) else { return Ok(None) };
    parse(name).map(Some).ok_or_else(|| format!("invalid value `{name}` for `{key}`"))
}

fn tools(value: &Value) -> Result<Vec<Tool>, String> {
    let names = value.get("tools").and_then(Value::as_array).ok_or("missing field `tools`")?;
    names.iter().map(|name| tool(name.as_str().unwrap_or_default())).collect()
}

fn pairs(value: &Value) -> Result<Vec<Pair>, String> {
    let pairs = value.get("same").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    pairs
        .iter()
        .map(|pair| {
            let earlier = match pair.get("answer") {
                Some(_) => Member { side: Side::Answer, pointer: text(pair, "answer")? },
                None => Member { side: Side::Args, pointer: text(pair, "earlier")? },
            };
            Ok(Pair { arg: text(pair, "arg")?, earlier })
        })
        .collect()
}
