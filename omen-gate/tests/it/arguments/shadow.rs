//! Shadow mode: violations pass, and the log has them. Other rules refuse as usual.

use omen_gate::{GateCode, TurnId};
use serde_json::json;

use super::{Guarded, any_values, config_by, guarded_by, tool_of};
use crate::support::logged_of_turns;

const SHADOW: &str =
    "[policy]\nshadow = true\n[[policy.patterns]]\npattern = 'forbidden'\nreason = 'no'\n[budget]\nturn_calls = 1\n";
const RULES: &str = "{ '/mode' = { in = ['r'] } }\nmax = '1/min'";

fn gate(more: &str) -> Guarded {
    let folder = tempfile::tempdir().unwrap();
    guarded_by(folder.path(), tool_of(any_values()), RULES, more)
}

#[tokio::test]
async fn what_would_be_refused_passes_and_is_recorded_once() {
    let gate = gate(SHADOW);
    assert_eq!(gate.call(r#"{"mode": "w"}"#).await, Ok(()));
    assert_eq!(gate.taken().len(), 1);
    let entries = logged_of_turns(&gate.memory);
    let said: Vec<_> =
        entries.iter().map(|entry| (entry["kind"].as_str().unwrap(), entry["data"]["outcome"].as_str())).collect();
    assert_eq!(
        said,
        [("decision", Some("shadow")), ("decision", Some("allowed")), ("intent", Some("allowed")), ("outcome", None)]
    );
    let data = &entries[0]["data"];
    assert_eq!((&data["code"], &data["shadow"]), (&json!("PG-3"), &json!(true)));
    assert!(data["why"].as_str().unwrap().starts_with("`/mode` of `s/t` breaks the operator's rule"));
    assert_eq!(data["tool"], json!({ "server": "s", "tool": "t" }));
}

#[tokio::test]
async fn patterns_rates_and_budgets_are_tried_too() {
    let gate = gate(SHADOW);
    let turn = TurnId::new("turn").unwrap();
    for _ in 0..2 {
        let request = gate.gate.request(turn.clone(), "something forbidden").screen().await.unwrap();
        let plan = r#"{"type":"call_tool","server":"s","tool":"t","args":{"mode":"r"}}"#;
        let planned = request.plan(plan).await.unwrap().call().unwrap();
        let _ = planned.conform().await.unwrap().authorize().await.unwrap().dispatch().await.unwrap();
    }
    let entries = logged_of_turns(&gate.memory);
    let tried = entries.iter().filter(|entry| entry["data"]["outcome"] == "shadow");
    let codes: Vec<_> = tried.map(|entry| entry["data"]["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["PG-0", "PG-0", "PG-3", "R2"], "{entries:?}");
}

/// Rules on more than what a call says: its form, the schema, the allowlist, pins, grants, confirmations.
#[tokio::test]
async fn everything_else_refuses_as_ever() {
    let open = gate(SHADOW);
    for (args, code) in [
        (r#"{"mode": "r", "mode": "w"}"#, GateCode::Pg1),
        (r#"{"mode": 1e400}"#, GateCode::Pg1),
        (r#"{"unnamed": 1}"#, GateCode::Pg2),
    ] {
        assert_eq!(open.call(args).await.unwrap_err().code, code, "{args}");
    }
    let long = "x".repeat(70_000);
    let screened = open.gate.request(TurnId::new("long").unwrap(), long).screen().await;
    assert_eq!(screened.unwrap_err().code, GateCode::Pg0, "a request that is too long");
    assert!(open.taken().is_empty());

    let folder = tempfile::tempdir().unwrap();
    let tool = tool_of(any_values());
    // Another form of the tool, and a rule that fits none.
    let other = tool_of(json!({ "type": "object" }));
    let config = config_by(folder.path(), &other, RULES, SHADOW);
    open.gate.reload(config).await.unwrap();
    assert_eq!(open.call(r#"{"mode": "r"}"#).await.unwrap_err().code, GateCode::Pg3);
    let config = config_by(folder.path(), &tool, "{ '/mod' = { absent = true } }", SHADOW);
    open.gate.reload(config).await.unwrap();
    assert_eq!(open.call(r#"{"mode": "r"}"#).await.unwrap_err().code, GateCode::Pg3);
    // Call that needs a confirmation.
    let config = config_by(folder.path(), &tool, "{ '/mode' = { in = ['r'] } }\nalways_confirm = true", SHADOW);
    open.gate.reload(config).await.unwrap();
    assert_eq!(open.call(r#"{"mode": "w"}"#).await.unwrap_err().code, GateCode::G3);
    // Only the violation of the argument rule of the last call is recorded as shadowed.
    let tried = logged_of_turns(&open.memory).iter().filter(|entry| entry["data"]["outcome"] == "shadow").count();
    assert_eq!(tried, 1);
    assert!(open.taken().is_empty());
}

/// The same policy without `shadow` refuses.
#[tokio::test]
async fn without_it_the_rules_hold() {
    let gate = gate(&SHADOW.replace("shadow = true", "shadow = false"));
    assert_eq!(gate.call(r#"{"mode": "w"}"#).await.unwrap_err().code, GateCode::Pg3);
    assert!(gate.taken().is_empty());
    assert!(logged_of_turns(&gate.memory).iter().all(|entry| entry["data"].get("shadow").is_none()));
}
