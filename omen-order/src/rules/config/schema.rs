//! JSON Schema of the keys.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::rules::{MAX_CALLS, MAX_PAIRS, MAX_PREMISES, Per, Was};

/// Returns the JSON Schema of the keys of an entry, by key; `table` is the schema of `where`.
#[must_use]
pub fn schema(table: &Value) -> BTreeMap<&'static str, Value> {
    let names = json!({ "type": ["string", "array"], "minLength": 1, "minItems": 1, "maxItems": MAX_PREMISES, "items": { "type": "string", "minLength": 1 } });
    let same = json!({
        "type": "array", "maxItems": MAX_PAIRS,
        "items": {
            "type": ["string", "object"], "additionalProperties": false, "required": ["arg"],
            "properties": { "arg": { "type": "string" }, "earlier": { "type": "string" }, "answer": { "type": "string" } },
        },
    });
    let was: Vec<_> = Was::ALL.iter().map(|(name, _)| *name).collect();
    let per: Vec<_> = Per::ALL.iter().map(|(name, _)| *name).collect();
    let properties = |keys: &[&str], more: &[(&str, Value)]| {
        let all = [
            (
                "tool",
                names.clone(),
                "A tool, or several, any one of which suffices: `test` of the same server, `ci/test` of another.",
            ),
            ("was", json!({ "type": "string", "enum": was }), "The outcome that the call must have."),
            ("ok", json!({ "type": "boolean" }), "`true` is short for `was = \"ok\"`, `false` for `was = \"failed\"`."),
            ("where", table.clone(), "Rules on the arguments of the call, as in `where` of the entry."),
            (
                "answer",
                table.clone(),
                "Rules on the answer of the call: `{ \"/structuredContent/passed\" = { equals = true } }`.",
            ),
            (
                "same",
                same.clone(),
                "Members that must be equal in both calls: `/commit`, or `{ arg = \"/sha\", earlier = \"/commit\" }`, \
                 or `{ arg = \"/id\", answer = \"/structuredContent/id\" }`.",
            ),
            (
                "within",
                json!({ "type": "string", "minLength": 2, "maxLength": 20 }),
                "The maximum age of the earlier call: `30s`, `10min`, `24h`, `7day`; in `before_end`, a deadline.",
            ),
            (
                "only",
                json!({ "type": "array", "maxItems": MAX_PREMISES, "items": { "type": "string", "minLength": 1 } }),
                "The only tools that may have been called in between.",
            ),
            (
                "times",
                json!({ "type": "integer", "minimum": 1, "maximum": MAX_CALLS }),
                "The required number of calls.",
            ),
            ("per", json!({ "type": "string", "enum": per }), "Whose calls count."),
            ("if", table.clone(), "Restricts the rule to calls with such arguments."),
            ("calls", json!({ "type": "integer", "minimum": 0, "maximum": MAX_CALLS }), "The maximum number of calls."),
            (
                "sum",
                json!({ "type": "object", "additionalProperties": { "type": "integer", "minimum": 0, "maximum": 9_007_199_254_740_991_u64 } }),
                "The maximum total: `{ \"/amount\" = 1000 }`.",
            ),
        ];
        let mut members = serde_json::Map::new();
        for (key, mut schema, description) in all {
            if keys.contains(&key) {
                set(&mut schema, "description", description);
                members.insert(key.to_owned(), schema);
            }
        }
        members.extend(more.iter().map(|(key, schema)| ((*key).to_owned(), schema.clone())));
        json!({ "type": ["string", "object"], "minLength": 1, "additionalProperties": false, "properties": members })
    };
    let list = |items: Value, description: &str| json!({ "type": "array", "maxItems": MAX_PREMISES, "items": items, "description": description });
    let until = list(
        properties(&["tool", "was", "ok", "where", "answer", "same"], &[]),
        "A later call that cancels the earlier one.",
    );
    let common = ["tool", "was", "ok", "where", "answer", "same", "within", "times", "per", "if"];
    let premise = properties(
        &["tool", "was", "ok", "where", "answer", "same", "within", "only", "times", "per"],
        &[("until", until.clone())],
    );
    let any = list(premise, "Several premises, any one of which suffices.");
    let with_only: Vec<_> = common.iter().copied().chain(["only"]).collect();
    let mut limit =
        properties(&["tool", "was", "ok", "where", "answer", "same", "within", "per", "if", "calls", "sum"], &[]);
    set(&mut limit, "type", json!(["object"]));
    let mut max = limit.clone();
    set(&mut max, "type", json!(["string", "object", "array"]));
    set(&mut max, "minItems", 1);
    set(&mut max, "maxItems", MAX_PREMISES);
    set(&mut max, "items", limit);
    set(
        &mut max,
        "description",
        "How often the tool may be called, within a sliding window: `10/min`, `3/30s`, `100/day`. Units are `s`, \
         `min`, `h` and `day`. Or a table, or several: `{ calls = 3, within = \"1h\" }`, `{ sum = { \"/amount\" = \
         1000 }, within = \"24h\" }`.",
    );
    let settle = properties(&["tool", "where", "answer", "same", "within", "per", "if"], &[]);
    BTreeMap::from([
        (
            "after",
            list(
                properties(&with_only, &[("until", until.clone()), ("any", any)]),
                "The premises of a call: tools, each of which must have succeeded earlier in the session.",
            ),
        ),
        (
            "never_after",
            list(
                properties(&common, &[("until", until)]),
                "Tools that rule out a call: none of them may have run earlier in the session.",
            ),
        ),
        ("max", max),
        (
            "before_end",
            list(settle, "The debts of a successful call: tools that must succeed before the session ends."),
        ),
    ])
}

fn set(schema: &mut Value, key: &str, value: impl Into<Value>) {
    if let Some(schema) = schema.as_object_mut() {
        schema.insert(key.to_owned(), value.into());
    }
}
