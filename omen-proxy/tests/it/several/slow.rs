//! A server that is slow, or that does not read, holds up no other.

use std::time::Duration;

use omen_gate::mcp::ServerLimits;
use serde_json::json;

use super::world::{Pair, initialize, limits, proxy, serve};
use crate::support::{Seen, kinds, refusal};

fn hasty() -> ServerLimits {
    ServerLimits { start: Duration::from_secs(5), ..limits() }
}

#[tokio::test(start_paused = true)]
async fn a_list_waits_for_a_slow_server_only_so_long_and_says_so() {
    let (mut pair, mut b) = Pair::with_b(proxy(), hasty()).await;
    for (id, method, key) in [(1, "tools/list", "tools"), (2, "prompts/list", "prompts")] {
        let answer = pair.client.ask(id, method, json!({})).await;
        assert!(
            answer["result"][key]
                .as_array()
                .unwrap()
                .iter()
                .all(|item| item["name"].as_str().unwrap().starts_with("a__"))
        );
    }
    assert!(pair.noted("omitted from `tools/list`: b: the server `b` has not answered"), "{:?}", pair.logs);
    // It was asked, and then notified that nobody waits, and is still there.
    assert_eq!(b.value().await["method"], "tools/list");
    assert_eq!(b.value().await["method"], "notifications/cancelled");
    pair.client
        .send(json!({"jsonrpc": "2.0", "id": 3, "method": "prompts/get", "params": {"name": "b__x"}}).to_string())
        .await;
    assert!(pair.client.call(4, "a__read", json!({})).await["result"].get("isError").is_none(), "others go on");
    let (_, log) = pair.close().await;
    assert_eq!(kinds(&log).iter().filter(|kind| *kind == "decision R3").count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_handshake_waits_only_so_long() {
    let mut pair = Pair::limited(proxy(), hasty());
    tokio::spawn(serve("a", pair.server("a").await, Seen::default()));
    let mut b = pair.server("b").await;
    pair.client.send(initialize(0, json!({}))).await;
    assert_eq!(pair.client.value().await["result"]["protocolVersion"], "2025-11-25");
    assert!(pair.noted("omitted the server `b`"));
    assert_eq!(b.value().await["method"], "initialize");
    pair.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_read_is_refused_more_and_holds_up_nobody() {
    let small = ServerLimits { unread_bytes: 64 << 10, ..hasty() };
    let (mut pair, _b) = Pair::with_b(proxy(), small).await;
    let big = "x".repeat(60 << 10);
    let mut refused = 0;
    for id in 1..20 {
        let params = json!({"name": "b__x", "arguments": {"x": big}});
        pair.client
            .send(json!({"jsonrpc": "2.0", "id": id, "method": "prompts/get", "params": params}).to_string())
            .await;
        let ping = pair.client.ask(100 + id, "ping", json!({})).await;
        if ping["id"] != 100 + id {
            assert_eq!((refusal(&ping).as_str(), &ping["id"]), ("-32603", &json!(id)), "{ping}");
            assert!(ping["error"]["message"].as_str().unwrap().contains("is not reading"), "{ping}");
            assert_eq!(pair.client.value().await["id"], 100 + id);
            refused += 1;
        }
    }
    assert!(refused > 5, "{refused}");
    assert!(pair.client.call(200, "a__read", json!({})).await["result"].get("isError").is_none());
    pair.close().await;
}
