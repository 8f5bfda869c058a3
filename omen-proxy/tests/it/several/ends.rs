//! Servers that end, at each point, and the end of the session.

use omen_proxy::Ended;
use serde_json::json;

use super::world::{Pair, initialize, limits, proxy, up_to};
use crate::support::{entries, refusal};

#[tokio::test]
async fn a_server_that_dies_takes_its_tools_with_it_and_the_rest_goes_on() {
    let (mut pair, b) = Pair::with_b(proxy(), limits()).await;
    drop(b);
    let mut changed = Vec::new();
    for _ in 0..3 {
        changed.push(pair.client.value().await["method"].as_str().unwrap().to_owned());
    }
    let expected = ["tools", "prompts", "resources"].map(|list| format!("notifications/{list}/list_changed"));
    assert_eq!(changed, expected);
    let listed = pair.client.ask(1, "tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 3, "{listed}");
    let refused = pair.client.call(2, "b__read", json!({})).await;
    assert_eq!(refusal(&refused), "R3");
    let text = refused["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("the server `b` is gone") && text.contains("The tool was not called."), "{text}");
    assert_eq!(refusal(&pair.client.ask(3, "prompts/get", json!({"name": "b__hello"})).await), "-32603");
    assert_eq!(refusal(&pair.client.ask(4, "resources/read", json!({"uri": "b://own"})).await), "-32602");
    assert!(pair.client.call(5, "a__read", json!({})).await["result"].get("isError").is_none());
    assert!(pair.noted("the server `b` is gone"));
    let (ended, log) = pair.close().await;
    assert_eq!(ended, Ended::Client);
    let refused = entries(&log).into_iter().filter(|entry| entry["data"]["code"] == "R3").count();
    assert_eq!(refused, 1, "the call to a server that is gone is in the log");
}

#[tokio::test]
async fn what_a_dying_server_has_not_answered_fails_and_the_call_may_have_run() {
    let (mut pair, mut b) = Pair::with_b(proxy(), limits()).await;
    for (id, method, params) in [
        (1, "tools/call", json!({"name": "b__read"})),
        (2, "prompts/get", json!({"name": "b__hello"})),
        (3, "prompts/list", json!({})),
    ] {
        pair.client.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()).await;
    }
    // The other requests may come before or after the call.
    let mut seen = 0;
    while seen < 3 {
        let asked = b.value().await;
        match asked["method"].as_str().unwrap() {
            "tools/call" | "prompts/get" | "prompts/list" => seen += 1,
            _ => b.send(super::world::result(&asked, super::world::answer("b", &asked).unwrap())).await,
        }
    }
    drop(b);
    let mut answers = std::collections::BTreeMap::new();
    while answers.len() < 3 {
        let message = pair.client.value().await;
        if let Some(id) = message["id"].as_u64() {
            assert!(answers.insert(id, message).is_none());
        }
    }
    assert_eq!(
        (refusal(&answers[&1]).as_str(), &answers[&1]["result"]["_meta"]["omen/decision"]["ran"]),
        ("R3", &json!("unknown"))
    );
    assert_eq!(refusal(&answers[&2]), "-32603");
    assert_eq!(answers[&3]["result"]["prompts"].as_array().unwrap().len(), 1, "{}", answers[&3]);
    pair.close().await;
}

#[tokio::test]
async fn a_server_that_breaks_the_protocol_ends_and_the_rest_goes_on() {
    for line in [
        "nonsense",
        r#"{"jsonrpc":"2.0","id":"omen-gate:99","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":77,"result":{}}"#,
        r#"{"jsonrpc":"2.0","method":"a","method":"b"}"#,
        "[]",
    ] {
        let (mut pair, mut b) = Pair::with_b(proxy(), limits()).await;
        b.send(line).await;
        assert_eq!(pair.client.value().await["method"], "notifications/tools/list_changed", "{line}");
        pair.client.value().await;
        pair.client.value().await;
        assert!(pair.client.call(1, "a__read", json!({})).await["result"].get("isError").is_none());
        assert_eq!(refusal(&pair.client.call(2, "b__read", json!({})).await), "R3");
        pair.close().await;
    }
}

#[tokio::test]
async fn a_server_that_dies_before_or_in_the_handshake_is_left_out() {
    for before in [true, false] {
        let mut pair = Pair::new(proxy());
        tokio::spawn(super::world::serve("a", pair.server("a").await, Default::default()));
        let mut b = pair.server("b").await;
        if before {
            drop(b);
            super::world::until(|| pair.noted("the server `b` is gone")).await;
            pair.client.send(initialize(0, json!({}))).await;
        } else {
            pair.client.send(initialize(0, json!({}))).await;
            b.value().await;
            drop(b);
        }
        assert!(pair.client.value().await["result"].is_object());
        pair.client.send(json!({"jsonrpc": "2.0", "id": 1, "method": "prompts/list"}).to_string()).await;
        loop {
            let message = pair.client.value().await;
            if message["id"] == 1 {
                assert_eq!(message["result"]["prompts"].as_array().unwrap().len(), 1);
                break;
            }
        }
        pair.close().await;
    }
}

#[tokio::test]
async fn without_a_server_the_session_ends() {
    let mut pair = Pair::new(proxy());
    let (a, b) = (pair.server("a").await, pair.server("b").await);
    drop(a);
    drop(b);
    let (ended, log) = pair.ended().await;
    assert!(matches!(ended, Ended::Server(_)), "{ended:?}");
    assert_eq!(entries(&log).iter().filter(|entry| entry["kind"] == "turn").count(), 3);
}

#[tokio::test]
async fn a_proxy_that_is_asked_to_stop_records_what_it_breaks_off() {
    let (mut pair, mut b) = Pair::with_b(proxy(), limits()).await;
    pair.client
        .send(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "b__read"}}).to_string())
        .await;
    up_to(&mut b, "b", "tools/call").await;
    pair.stop();
    let (ended, log) = pair.ended().await;
    assert_eq!(ended, Ended::Asked);
    let outcomes: Vec<_> = entries(&log).into_iter().filter(|entry| entry["kind"] == "outcome").collect();
    assert_eq!((outcomes.len(), &outcomes[0]["data"]["ran"]), (1, &json!("unknown")));
}

#[tokio::test]
async fn what_was_asked_before_the_client_closes_its_end_is_answered() {
    let (mut pair, _, _) = Pair::begun(proxy()).await;
    for (id, method, params) in [
        (1, "tools/list", json!({})),
        (2, "tools/call", json!({"name": "a__read"})),
        (3, "resources/read", json!({"uri": "b://own"})),
    ] {
        pair.client.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()).await;
    }
    pair.client.close().await;
    let mut ids = Vec::new();
    while let Some(line) = pair.client.line().await {
        let message: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert!(message["result"].get("isError").is_none() && message.get("error").is_none(), "{line}");
        ids.push(message["id"].as_u64().unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3]);
    assert_eq!(pair.close().await.0, Ended::Client);
}

#[tokio::test]
async fn a_reload_notifies_the_client_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gate.toml");
    let text = "[servers.a]\n[servers.b]\n";
    let (reload, when) = tokio::sync::mpsc::channel(1);
    let mut config = super::world::config("");
    config.audit = None;
    let proxy = omen_proxy::Proxy::builder(config, "session".parse().unwrap());
    let (mut pair, _, _) = Pair::begun(proxy.reload(&path, when)).await;
    std::fs::write(&path, text).unwrap();
    reload.send(()).await.unwrap();
    super::world::until(|| pair.noted("configuration")).await;
    assert!(pair.noted("the configuration was reloaded"), "{:?}", pair.logs);
    assert_eq!(pair.client.value().await["method"], "notifications/tools/list_changed");
    assert_eq!(pair.client.ask(1, "tools/list", json!({})).await["result"]["tools"], json!([]));
    for (id, name) in [(2, "a__read"), (3, "b__read")] {
        assert_eq!(refusal(&pair.client.call(id, name, json!({})).await), "PG-3");
    }
    pair.close().await;
}
