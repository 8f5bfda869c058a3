//! Rules are checked when a call is authorized, and again right before it is made.

#![cfg(unix)]

use omen_gate::{GateCode, Stopped, TurnId};
use serde_json::json;

use super::{config_of, evasions, guarded, guarded_with, tool_of};

const PLAN: &str = r#"{"type":"call_tool","server":"s","tool":"t","args":{"path":"data/later/a.txt"}}"#;

#[tokio::test]
async fn a_link_that_is_changed_in_between_is_followed_again() {
    let folder = evasions::folder();
    let later = folder.path().join("data/later");
    std::os::unix::fs::symlink("sub", &later).unwrap();
    let gate = guarded(folder.path(), r#"{ "/path" = { under = "data", relative_to = "." } }"#);
    let request = gate.gate.request(TurnId::new("turn_1").unwrap(), "q").screen().await.unwrap();
    let planned = request.plan(PLAN).await.unwrap().call().unwrap();
    let authorized = planned.conform().await.unwrap().authorize().await.unwrap();
    std::fs::remove_file(&later).unwrap();
    std::os::unix::fs::symlink("..", &later).unwrap();
    let Stopped::Blocked(blocked) = authorized.dispatch().await.unwrap_err() else { panic!("not blocked") };
    assert_eq!(blocked.code, GateCode::Pg3);
    assert!(gate.taken().is_empty());
}

#[tokio::test]
async fn a_rule_that_is_tightened_in_between_counts() {
    let folder = evasions::folder();
    let gate = guarded(folder.path(), r#"{ "/path" = { under = "data", relative_to = "." } }"#);
    let request = gate.gate.request(TurnId::new("turn_1").unwrap(), "q").screen().await.unwrap();
    let planned = request.plan(PLAN).await.unwrap().call().unwrap();
    let authorized = planned.conform().await.unwrap().authorize().await.unwrap();
    let tighter = config_of(
        folder.path(),
        &tool_of(super::any_values()),
        r#"{ "/path" = { under = "data/sub", relative_to = "." } }"#,
    );
    gate.gate.reload(tighter).await.unwrap();
    let Stopped::Blocked(blocked) = authorized.dispatch().await.unwrap_err() else { panic!("not blocked") };
    assert!(blocked.message.contains(r#"under = "data/sub""#), "{blocked}");
    assert!(gate.taken().is_empty());
}

/// Nothing is in a missing folder, and a folder that is a link is resolved.
#[tokio::test]
async fn the_folder_itself_is_followed() {
    let folder = evasions::folder();
    let gate = guarded(folder.path(), r#"{ "/path" = { under = "box", relative_to = "." } }"#);
    let args = json!({ "path": "box/a.txt" }).to_string();
    let blocked = gate.call(&args).await.unwrap_err();
    assert!(blocked.message.ends_with("the folder does not exist or cannot be read"), "{blocked}");
    std::os::unix::fs::symlink("data", folder.path().join("box")).unwrap();
    assert_eq!(gate.call(&args).await, Ok(()));
    assert_eq!(gate.call(&json!({ "path": "data/a.txt" }).to_string()).await, Ok(()));
    assert!(gate.call(&json!({ "path": "secret.txt" }).to_string()).await.is_err());
}

/// A rule that does not fit the tool's schema refuses every call: the member may have been renamed.
#[tokio::test]
async fn a_rule_for_a_member_that_the_schema_does_not_have_lets_nothing_pass() {
    let folder = evasions::folder();
    let schema = json!({ "type": "object", "properties": { "file": { "type": "string" } } });
    let tool = tool_of(schema);
    let gate = guarded_with(folder.path(), tool.clone(), r#"{ "/fil" = { absent = true } }"#);
    let blocked = gate.call(r#"{"file": "x"}"#).await.unwrap_err();
    assert_eq!(
        blocked.message,
        "the rules on the arguments of `s/t` cannot be used: the rule for `/fil` names `fil`, which the tool's \
         `inputSchema` does not have"
    );
    assert_eq!(blocked.help, "ask the operator to fix the entry in `[[allow]]`: did you mean `file`?");
    // The tool is not listed, either.
    let listed = gate.gate.listed(&"s".parse().unwrap(), vec![tool]).unwrap();
    assert_eq!(listed.values().next().unwrap().as_ref(), Some(&blocked));
}
