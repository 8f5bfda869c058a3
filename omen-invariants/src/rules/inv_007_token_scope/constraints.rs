//! Comparison of a token's resource constraints with the parameters of a tool call (D27).

use omen_types::{Code, Diagnostic};
use serde_json::{Map, Value};

use super::super::wording::shorten;
use crate::help::inv_007 as help;
use crate::params::Params;

/// Compares each constraint with every applicable parameter.
pub(super) fn check(
    token_id: &str,
    constraints: &Map<String, Value>,
    params: &Params<'_>,
    findings: &mut Vec<Diagnostic>,
) {
    for (key, bound) in constraints {
        let comparisons = comparisons(key, bound, params);
        if comparisons.is_empty() {
            findings.push(
                Diagnostic::warning(
                    Code::Inv007,
                    format!("the constraint `{key}` of `{token_id}` cannot be compared with any parameter"),
                )
                .at("/payload/execution_method/tool_params")
                .help(help::compare(short(bound))),
            );
        }
        for Comparison { param, value, .. } in comparisons.into_iter().filter(|comparison| !comparison.holds) {
            findings.push(
                Diagnostic::error(
                    Code::Inv007,
                    format!("the parameter `{param}` violates the constraint `{key}` of `{token_id}`"),
                )
                .at(format!("/payload/execution_method/tool_params/{}", omen_types::pointer::escape(param)))
                .label(format!("{} against `{key}`: {}", short(&value), short(bound)))
                .help(help::CONSTRAINT),
            );
        }
    }
}

/// Comparison of a constraint with one parameter.
struct Comparison<'c> {
    param: &'c str,
    value: Value,
    holds: bool,
}

fn comparisons<'c>(key: &'c str, bound: &Value, params: &Params<'_>) -> Vec<Comparison<'c>> {
    let mut all = Vec::new();
    let mut compare = |param: &'c str, test: &dyn Fn(&Value) -> Option<bool>| {
        if let Some(value) = params.get(param)
            && let Some(holds) = test(&value)
        {
            all.push(Comparison { param, value, holds });
        }
    };
    compare(key, &|value| match bound {
        Value::Array(members) => Some(is_member(value, members)),
        Value::Object(_) => None,
        scalar => Some(same(value, scalar)),
    });
    if let (Some(name), Value::Array(members)) = (key.strip_prefix("allowed_"), bound) {
        compare(name, &|value| Some(is_member(value, members)));
        if let Some(singular) = name.strip_suffix('s') {
            compare(singular, &|value| Some(is_member(value, members)));
        }
    }
    if let (Some(name), Value::Number(_)) = (key.strip_prefix("max_"), bound) {
        compare(name, &|value| at_most(value, bound));
    }
    all
}

/// Returns whether a value, or each element of an array, is among the permitted values.
fn is_member(value: &Value, members: &[Value]) -> bool {
    let is_one = |value: &Value| members.iter().any(|member| same(value, member));
    match value {
        Value::Array(elements) => elements.iter().all(is_one),
        value => is_one(value),
    }
}

/// Compares two values as JSON Schema does: `1` equals `1.0`.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare_numbers(a, b) == Some(std::cmp::Ordering::Equal),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

fn at_most(value: &Value, bound: &Value) -> Option<bool> {
    let (Value::Number(value), Value::Number(bound)) = (value, bound) else { return None };
    Some(compare_numbers(value, bound).is_some_and(std::cmp::Ordering::is_le))
}

/// Compares integers exactly, and other numbers as `f64`.
fn compare_numbers(a: &serde_json::Number, b: &serde_json::Number) -> Option<std::cmp::Ordering> {
    let integer = |n: &serde_json::Number| n.as_i64().map(i128::from).or_else(|| n.as_u64().map(i128::from));
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

fn short(value: &Value) -> String {
    format!("`{}`", shorten(&value.to_string(), 60))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Asserts the result of a comparison; `None` if the values cannot be compared.
    #[track_caller]
    fn check(key: &str, bound: Value, params: Value, expect: Option<bool>) {
        let params = params.to_string();
        let all = comparisons(key, &bound, &Params::read(Some(&params)));
        let verdict = (!all.is_empty()).then(|| all.iter().all(|comparison| comparison.holds));
        assert_eq!(verdict, expect, "{key} {bound} {params}");
    }

    #[test]
    fn equal_keys() {
        check("host", json!(["a", "b"]), json!({"host": "a"}), Some(true));
        check("host", json!(["a", "b"]), json!({"host": "c"}), Some(false));
        check("host", json!(["a", "b"]), json!({"host": ["a", "b"]}), Some(true));
        check("host", json!(["a", "b"]), json!({"host": ["a", "c"]}), Some(false));
        check("host", json!(["a"]), json!({"host": []}), Some(true));
        check("n", json!(1), json!({"n": 1.0}), Some(true));
        check("n", json!(1), json!({"n": true}), Some(false));
        check("n", json!(null), json!({"n": null}), Some(true));
        check("n", json!(1), json!({"n": [1]}), Some(false));
        check("box", json!({"a": 1}), json!({"box": {"a": 1}}), None);
        check("host", json!(["a"]), json!({"server": "a"}), None);
    }

    #[test]
    fn allowed_lists() {
        check("allowed_host", json!(["a"]), json!({"host": "a"}), Some(true));
        check("allowed_hosts", json!(["a"]), json!({"host": "b"}), Some(false));
        check("allowed_hosts", json!(["a"]), json!({"hosts": ["a", "b"]}), Some(false));
        check("allowed_hosts", json!(["a", "b"]), json!({"hosts": ["a", "b"], "host": "c"}), Some(false));
        check("allowed_hosts", json!("a"), json!({"host": "a"}), None);
    }

    #[test]
    fn maxima() {
        check("max_rows", json!(10), json!({"rows": 10}), Some(true));
        check("max_rows", json!(10), json!({"rows": 10.5}), Some(false));
        check("max_rows", json!(10), json!({"rows": "9"}), None);
        check("max_rows", json!("10"), json!({"rows": 9}), None);
        check("max_rows", json!(9_007_199_254_740_993_u64), json!({"rows": 9_007_199_254_740_994_u64}), Some(false));
        check("max_rows", json!(10), json!({"rows": 5, "max_rows": 11}), Some(false));
    }
}
