//! Arguments in the audit log: as configured, and never secrets.

use serde_json::{Map, Value, json};

use super::{Guarded, any_values, guarded_by, tool_of};
use crate::support::logged_of_turns;

const AUDIT: &str = "[audit]\nlog = 'l'\nkey_file = 'k'\n";

fn gate(audit: &str) -> Guarded {
    gate_of(any_values(), audit)
}

fn gate_of(schema: Value, audit: &str) -> Guarded {
    let folder = tempfile::tempdir().unwrap();
    let rules = r#"{ "/mode" = { in = ["r"] }, "/paths/*" = { matches = '(?s).*', optional = true } }"#;
    guarded_by(folder.path(), tool_of(schema), rules, &format!("{AUDIT}{audit}"))
}

/// Arguments in the entries of one call.
async fn recorded(audit: &str, args: &Value) -> Vec<Option<Value>> {
    recorded_by(any_values(), audit, args).await
}

async fn recorded_by(schema: Value, audit: &str, args: &Value) -> Vec<Option<Value>> {
    let gate = gate_of(schema, audit);
    let _ = gate.call(&args.to_string()).await;
    logged_of_turns(&gate.memory)
        .iter()
        .filter(|entry| entry["kind"] == "intent" || entry["data"]["outcome"] == "denied")
        .map(|entry| entry["data"].get("args").cloned())
        .collect()
}

fn arguments() -> Value {
    json!({
        "mode": "r",
        "text": "plain",
        "amount": 7,
        "paths": ["a", "ghp_0123456789abcdefghijABCDEFGHIJ012345"],
        "opts": { "on": true, "api_key": 17, "deep": [{ "value": "x", "Authorization": { "a": "b" } }] },
    })
}

#[tokio::test]
async fn by_default_there_is_only_the_hash() {
    for audit in ["", "arguments = 'hash'\n"] {
        assert_eq!(recorded(audit, &arguments()).await, [None]);
    }
    let gate = gate("");
    assert!(gate.call(r#"{"mode": "w"}"#).await.is_err());
    let denied = logged_of_turns(&gate.memory).pop().unwrap();
    assert_eq!(denied["data"]["tool"], json!({ "server": "s", "tool": "t" }));
    assert!(denied["data"]["pin"].as_str().unwrap().starts_with("v1:"));
    assert_eq!(denied["data"].get("args"), None);
}

#[tokio::test]
async fn all_but_secrets() {
    let expect = json!({
        "mode": "r",
        "text": "plain",
        "amount": 7,
        "paths": ["a", "[redacted]"],
        "opts": { "on": true, "api_key": "[redacted]", "deep": [{ "value": "x", "Authorization": "[redacted]" }] },
    });
    assert_eq!(recorded("arguments = 'full'\n", &arguments()).await, [Some(expect)]);
    let own = "arguments = 'full'\nsecrets = ['/opts/deep/*/value', '/amount']\nsecret_patterns = ['^pl']\n";
    let expect = json!({
        "mode": "r",
        "text": "[redacted]",
        "amount": "[redacted]",
        "paths": ["a", "[redacted]"],
        "opts": {
            "on": true,
            "api_key": "[redacted]",
            "deep": [{ "value": "[redacted]", "Authorization": "[redacted]" }],
        },
    });
    assert_eq!(recorded(own, &arguments()).await, [Some(expect)]);
}

#[tokio::test]
async fn texts_that_no_rule_is_about_are_left_out() {
    let expect = json!({
        "mode": "r",
        "text": "[redacted]",
        "amount": 7,
        "paths": ["a", "[redacted]"],
        "opts": { "on": true, "api_key": "[redacted]", "deep": [{ "value": "[redacted]", "Authorization": "[redacted]" }] },
    });
    let mut schema = any_values();
    schema["properties"]["opts"] = json!({ "properties": {
        "on": {}, "api_key": {}, "deep": { "items": { "properties": { "value": {}, "Authorization": {} } } },
    } });
    assert_eq!(recorded_by(schema, "arguments = 'redacted'\n", &arguments()).await, [Some(expect)]);
    // Keys in a free map are data, like the values.
    let expect = json!({
        "mode": "r",
        "text": "[redacted]",
        "amount": 7,
        "paths": ["a", "[redacted]"],
        "opts": { "[redacted]": true },
    });
    assert_eq!(recorded("arguments = 'redacted'\n", &arguments()).await, [Some(expect)]);
}

/// A refused call has its arguments, too: other policies are tried on it.
#[tokio::test]
async fn a_refusal_has_what_was_asked_for() {
    let mut args = arguments();
    args["mode"] = json!("w");
    let found = recorded("arguments = 'full'\n", &args).await;
    assert_eq!(found[0].as_ref().unwrap()["mode"], "w");
    // So does a refusal by PG-2, and one of a tool that is not allowed at all.
    let unnamed: Map<String, Value> = [("unnamed".to_owned(), json!(1))].into_iter().collect();
    assert_eq!(recorded("arguments = 'full'\n", &Value::Object(unnamed.clone())).await, [Some(Value::Object(unnamed))]);
}

/// No known form of secret gets into the log, in any position.
#[tokio::test]
async fn secrets_of_known_forms_are_nowhere() {
    for secret in [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "sk-proj-0123456789abcdefghij",
        "xoxb-123456789012-abcdef",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2ln",
        "Bearer 0123456789abcdef0123",
    ] {
        let gate = gate("arguments = 'full'\n");
        let args = json!({ "mode": "r", "text": format!("use {secret} now"), "paths": [secret], "opts": { secret: [secret] } });
        assert_eq!(gate.call(&args.to_string()).await, Ok(()));
        let log = String::from_utf8(gate.memory.bytes()).unwrap();
        let plain = secret.replace('\n', "\\n");
        assert!(log.contains("[redacted]") && !log.contains(&plain), "{secret}");
    }
}
