//! Looks up what a statement names.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::evidence::{declares, implements};

/// The fault of a name of code.
pub(super) fn code(name: &str) -> Option<String> {
    if let Some((path, pointer)) = name.split_once('#') {
        let Some(file) = json(path) else { return Some(format!("no JSON file `{path}`")) };
        let found = pointer.split('/').skip(1).try_fold(&file, |value, step| element(value, step));
        return found.is_none().then(|| format!("`{pointer}` is not in `{path}`"));
    }
    let (path, item) = name.split_once("::").unwrap_or((name, ""));
    let Ok(source) = fs::read_to_string(root().join(path)) else {
        return Some(format!("no file `{path}`"));
    };
    let names: Vec<_> = item.split("::").filter(|name| !name.is_empty()).collect();
    let there =
        |(at, name): (usize, &&str)| declares(&source, name) || at + 1 < names.len() && implements(&source, name);
    let missing = names.iter().enumerate().find(|of| !there((of.0, of.1)));
    missing.map(|(_, name)| format!("`{name}` is not in `{path}`"))
}

/// The fault of a name of a test.
pub(super) fn test(name: &str) -> Option<String> {
    let Some((path, function)) = name.split_once("::") else {
        // A compile-fail case, with rustc's error.
        let answer = name.strip_suffix(".rs").map(|stem| root().join(format!("{stem}.stderr")));
        let there = name.contains("/tests/ui/") && answer.is_some_and(|answer| answer.is_file());
        return (!there).then(|| format!("`{name}` is not a compile-fail case"));
    };
    let Ok(source) = fs::read_to_string(root().join(path)) else {
        return Some(format!("no file `{path}`"));
    };
    let lines: Vec<_> = source.lines().collect();
    let start = format!("fn {function}(");
    let found = lines.iter().position(|line| line.trim_start().trim_start_matches("async ").starts_with(&start));
    let attributes = lines.iter().take(found.unwrap_or(0)).rev().take_while(|line| line.trim_start().starts_with("#["));
    let is_test = attributes.into_iter().any(|line| line.contains("#[test]") || line.contains("#[tokio::test"));
    (!is_test).then(|| format!("no test `{function}` in `{path}`"))
}

/// The fault of a name of an example.
pub(super) fn example(name: &str) -> Option<String> {
    let program = name.split('/').any(|folder| folder == "examples") && root().join(name).is_file();
    let there = program || name.ends_with(".jsonl") && omen_schema::example(name).is_some();
    (!there).then(|| format!("no example `{name}`"))
}

/// The codes of the findings that a log is expected to give.
pub(super) fn findings(name: &str) -> Vec<String> {
    let expect = name.strip_suffix(".jsonl").and_then(|stem| omen_schema::example(&format!("{stem}.expect.json")));
    let expect: Value = expect.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let findings = expect.get("findings").and_then(Value::as_array).into_iter().flatten();
    let codes = findings.flat_map(|finding| {
        let also = finding.get("also").and_then(Value::as_array).into_iter().flatten();
        also.chain(finding.get("code")).filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
    });
    codes.collect()
}

fn json(path: &str) -> Option<Value> {
    serde_json::from_str(&fs::read_to_string(root().join(path)).ok()?).ok()
}

/// A member by its name; an element by its number, its `id` or `code`, or, of a row, as `STATE:event`.
fn element<'v>(value: &'v Value, step: &str) -> Option<&'v Value> {
    let step = omen_schema::pointer::unescape(step);
    let Value::Array(elements) = value else { return value.get(step.as_ref()) };
    let has = |of: &Value, key: &str, text: &str| {
        of.get(key).and_then(Value::as_array).is_some_and(|list| list.iter().any(|each| each == text))
    };
    let named = |of: &&Value| {
        let is = |key: &str| of.get(key).is_some_and(|name| *name == *step.as_ref());
        let row = step.split_once(':').is_some_and(|(from, event)| has(of, "from", from) && has(of, "events", event));
        is("id") || is("code") || row
    };
    elements.iter().find(named).or_else(|| elements.get(step.parse::<usize>().ok()?))
}

/// The workspace.
pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
