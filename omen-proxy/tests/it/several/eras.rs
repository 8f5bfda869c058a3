//! The era without a handshake (2026-07-28).

use std::time::Duration;

use omen_proxy::ProxyBuilder;
use serde_json::{Value, json};

use super::world::{Pair, proxy, up_to};
use crate::support::{End, refusal, tools};

fn meta(capabilities: Value) -> Value {
    json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities})
}

fn with(mut params: Value) -> Value {
    params["_meta"] = meta(json!({"elicitation": {}}));
    params
}

/// A server of this era. A call is answered with a question first, if it says so.
async fn modern(name: &'static str, mut end: End, versions: Value, asks: bool) {
    while let Some(line) = end.line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        let Some(id) = message.get("id") else { continue };
        assert_eq!(message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28", "{line}");
        let params = &message["params"];
        let result = match message["method"].as_str().unwrap() {
            "server/discover" => {
                json!({"resultType": "complete", "supportedVersions": versions, "ttlMs": if name == "a" { 500 } else { 90 },
                "cacheScope": "public", "capabilities": {"tools": {}}, "instructions": name})
            }
            "tools/list" => {
                json!({"resultType": "complete", "tools": tools(), "ttlMs": if name == "a" { 500 } else { 90 },
                "cacheScope": if name == "a" { "public" } else { "private" }})
            }
            "tools/call" if asks && params.get("inputResponses").is_none() => json!({"resultType": "input_required",
                "requestState": format!("state of {name}"),
                "inputRequests": {"city": {"method": "elicitation/create", "params": {"message": "Which city?"}}}}),
            "tools/call" => {
                json!({"resultType": "complete", "content": [{"type": "text", "text": format!("{name} {}", params["requestState"])}]})
            }
            "subscriptions/listen" => continue,
            _ => json!({"resultType": "complete"}),
        };
        end.send(json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()).await;
    }
}

async fn begun(proxy: ProxyBuilder, versions_of_b: Value, asks: bool) -> Pair {
    let mut pair = Pair::new(proxy);
    tokio::spawn(modern("a", pair.server("a").await, json!(["2026-07-28", "2027-01-01"]), asks));
    tokio::spawn(modern("b", pair.server("b").await, versions_of_b, asks));
    pair
}

#[tokio::test]
async fn servers_are_discovered_as_one_and_calls_are_routed() {
    let mut pair = begun(proxy(), json!(["2026-07-28"]), true).await;
    let found = pair.client.ask(1, "server/discover", with(json!({}))).await["result"].clone();
    assert_eq!(
        (&found["supportedVersions"], &found["ttlMs"], &found["cacheScope"]),
        (&json!(["2026-07-28"]), &json!(90), &json!("public"))
    );
    assert_eq!(found["capabilities"], json!({"tools": {"listChanged": true}}));
    assert_eq!(found["resultType"], "complete");
    let listed = pair.client.ask(2, "tools/list", with(json!({}))).await["result"].clone();
    assert_eq!(listed["tools"].as_array().unwrap().len(), 5);
    assert_eq!(
        (&listed["ttlMs"], &listed["cacheScope"], &listed["resultType"]),
        (&json!(90), &json!("private"), &json!("complete"))
    );
    // The rounds of a server's own go to that server.
    for (id, name) in [(3, "a"), (5, "b")] {
        let mut params = with(json!({"name": format!("{name}__read"), "arguments": {}}));
        let asked = pair.client.ask(id, "tools/call", params.clone()).await;
        assert_eq!(asked["result"]["requestState"], format!("state of {name}"));
        params["requestState"] = asked["result"]["requestState"].clone();
        params["inputResponses"] = json!({"city": {"action": "accept", "content": {}}});
        let answer = pair.client.ask(id + 1, "tools/call", params).await;
        assert_eq!(answer["result"]["content"][0]["text"], format!("{name} \"state of {name}\""));
    }
    let refused = pair.client.ask(7, "tools/call", with(json!({"name": "c__read"}))).await;
    assert_eq!((refusal(&refused), &refused["result"]["resultType"]), ("PG-3".to_owned(), &json!("complete")));
    assert_eq!(pair.client.ask(8, "ping", with(json!({}))).await["result"], json!({"resultType": "complete"}));
    pair.close().await;
}

#[tokio::test]
async fn servers_of_another_era_have_the_client_make_a_handshake() {
    let mut pair = begun(proxy(), json!(["2027-05-05"]), false).await;
    let refused = pair.client.ask(1, "server/discover", with(json!({}))).await;
    assert_eq!(refusal(&refused), "-32601");
    assert!(refused["error"]["message"].as_str().unwrap().contains("no common version"), "{refused}");
    pair.close().await;
    let mut pair = Pair::new(proxy());
    tokio::spawn(modern("a", pair.server("a").await, json!(["2026-07-28"]), false));
    let mut b = pair.server("b").await;
    tokio::spawn(async move {
        let asked = up_to(&mut b, "b", "server/discover").await;
        b.send(
            json!({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "unknown"}}).to_string(),
        )
        .await;
        b.line().await;
    });
    let refused = pair.client.ask(1, "server/discover", with(json!({}))).await;
    assert_eq!(refusal(&refused), "-32601");
    assert!(refused["error"]["message"].as_str().unwrap().contains("`b`"), "{refused}");
    pair.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_confirmation_in_two_rounds_is_good_on_its_own_server_alone() {
    let mut pair = begun(proxy().elicitation(Duration::from_secs(1)), json!(["2026-07-28"]), false).await;
    let call = |name: &str| with(json!({"name": format!("{name}__ask"), "arguments": {}}));
    let asked = pair.client.ask(1, "tools/call", call("b")).await;
    let question = &asked["result"]["inputRequests"]["omen-gate.confirm"]["params"]["message"];
    assert!(question.as_str().unwrap().contains("Tool: b/ask"), "{asked}");
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    let again = |name: &str| {
        let mut params = call(name);
        params["requestState"] = asked["result"]["requestState"].clone();
        params["inputResponses"] = json!({"omen-gate.confirm": {"action": "accept", "content": {"confirm": true}}});
        params
    };
    assert_eq!(refusal(&pair.client.ask(2, "tools/call", again("a")).await), "G3", "it was not asked about `a`");
    let answer = pair.client.ask(3, "tools/call", again("b")).await;
    assert_eq!(answer["result"]["content"][0]["text"], "b null", "{answer}");
    assert_eq!(refusal(&pair.client.ask(4, "tools/call", again("b")).await), "G3", "it is good once");
    pair.close().await;
}

#[tokio::test]
async fn a_client_listens_to_both_by_one_request() {
    let mut pair = Pair::new(proxy());
    let (mut a, mut b) = (pair.server("a").await, pair.server("b").await);
    let listen = with(json!({"notifications": {"toolsListChanged": true, "promptsListChanged": false}}));
    let acknowledged = pair.client.ask(5, "subscriptions/listen", listen.clone()).await;
    let subscription = json!({"io.modelcontextprotocol/subscriptionId": 5});
    let expected = json!({"_meta": subscription, "notifications": {"toolsListChanged": true}});
    assert_eq!(
        (&acknowledged["method"], &acknowledged["params"]),
        (&json!("notifications/subscriptions/acknowledged"), &expected)
    );
    let notify =
        |method: &str| json!({"jsonrpc": "2.0", "method": method, "params": {"_meta": subscription}}).to_string();
    for end in [&mut a, &mut b] {
        assert_eq!((end.value().await["id"].clone(), 5), (json!(5), 5));
        end.send(notify("notifications/subscriptions/acknowledged")).await;
        end.send(notify("notifications/tools/list_changed")).await;
        assert_eq!(pair.client.value().await["method"], "notifications/tools/list_changed");
    }
    // It ends when the last server has ended it.
    let end =
        json!({"jsonrpc": "2.0", "id": 5, "result": {"resultType": "complete", "_meta": subscription}}).to_string();
    a.send(&end).await;
    b.send(notify("notifications/tools/list_changed")).await;
    assert_eq!(pair.client.value().await["method"], "notifications/tools/list_changed");
    b.send(&end).await;
    assert_eq!(pair.client.line().await.unwrap(), end);
    // Resources belong to one server, which is not named.
    for filter in [json!({"resourceSubscriptions": ["a://own"]}), json!({"x": true}), json!(null)] {
        let refused = pair.client.ask(6, "subscriptions/listen", with(json!({"notifications": filter}))).await;
        assert_eq!(refusal(&refused), "-32602", "{filter}");
    }
    pair.close().await;
}
