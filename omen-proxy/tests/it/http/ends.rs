//! Sides that go: what is recorded, and what the other side reads.

use std::time::Duration;

use omen_mcp::http::server::HttpLimits;
use serde_json::json;

use super::sessions::begun;
use super::stateless::up_to_the_call;
use super::world::{Http, local, until};
use crate::support::{entries, kinds, proxy, refusal};

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{}}}"#;

#[tokio::test]
async fn a_client_that_goes_in_mid_call_gets_the_outcome_recorded_and_may_come_back() {
    let mut http = Http::with_servers(proxy(), local(), HttpLimits::default()).await;
    let (client, mut server) = begun(&mut http).await;
    let mut call = client.open("POST", CALL).await;
    let first = call.text().await.unwrap();
    let asks = up_to_the_call(&mut server).await;
    drop(call);
    server.send(json!({"jsonrpc": "2.0", "id": asks["id"], "result": {"content": []}}).to_string()).await;
    let id = first.strip_prefix("id: ").unwrap().strip_suffix("\ndata:").unwrap();
    let reply = client.clone().with("last-event-id", id).send("GET", "/mcp", "").await;
    assert_eq!(reply.events(), [json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}})]);
    let log = http.stop().await;
    let outcome = entries(&log).into_iter().find(|entry| entry["kind"] == "outcome").unwrap();
    assert_eq!((&outcome["data"]["class"], &outcome["data"]["ran"]), (&json!(null), &json!("yes")));
}

#[tokio::test]
async fn a_client_that_ends_the_session_in_mid_call_gets_the_outcome_recorded() {
    let mut http = Http::with_servers(proxy().drain(Duration::from_millis(50)), local(), HttpLimits::default()).await;
    let (client, mut server) = begun(&mut http).await;
    let mut call = client.open("POST", CALL).await;
    up_to_the_call(&mut server).await;
    assert_eq!(client.send("DELETE", "/mcp", "").await.status, 204);
    while call.event().await.is_some() {}
    let log = http.stop().await;
    assert_eq!(kinds(&log).iter().filter(|kind| *kind == "outcome").count(), 1);
    let outcome = entries(&log).into_iter().find(|entry| entry["kind"] == "outcome").unwrap();
    assert_eq!(outcome["data"]["ran"], "unknown");
}

#[tokio::test]
async fn a_server_that_dies_in_mid_call_ends_its_session_alone() {
    let mut http = Http::with_servers(proxy(), local(), HttpLimits::default()).await;
    let (client, mut server) = begun(&mut http).await;
    let (other, mut other_server) = begun(&mut http).await;
    let mut call = client.open("POST", CALL).await;
    up_to_the_call(&mut server).await;
    drop(server);
    let refused = call.event().await.unwrap().1;
    assert_eq!(
        (refusal(&refused).as_str(), &refused["result"]["_meta"]["omen/decision"]["ran"]),
        ("R3", &json!("unknown"))
    );
    assert_eq!(call.event().await, None);
    until(|| http.noted("session 1: ended: the server ended")).await;
    assert_eq!(client.ask(2, "ping", json!({})).await.status, 404);
    let asked = tokio::spawn(async move { other.ask(1, "ping", json!({})).await });
    let id = other_server.value().await["id"].clone();
    other_server.send(json!({"jsonrpc": "2.0", "id": id, "result": {}}).to_string()).await;
    assert_eq!(asked.await.unwrap().last()["result"], json!({}));
    let log = http.stop().await;
    assert_eq!(kinds(&log).iter().filter(|kind| *kind == "outcome").count(), 1);
}

#[tokio::test]
async fn the_server_of_requests_without_a_session_is_started_again() {
    let mut http = Http::with_servers(proxy(), local(), HttpLimits::default()).await;
    for n in 1..=3 {
        let (client, message) = http.client.modern(&json!(1), "tools/call", json!({"name": "read", "arguments": {}}));
        let asked = tokio::spawn(async move { client.post(&message).await });
        let mut server = http.server().await;
        up_to_the_call(&mut server).await;
        drop(server);
        let reply = asked.await.unwrap();
        assert_eq!((reply.status, refusal(&reply.json()).as_str()), (200, "R3"));
        until(|| http.noted(&format!("session {n}: ended: the server ended"))).await;
    }
    http.stop().await;
}

#[tokio::test]
async fn a_server_that_breaks_the_protocol_ends_the_session() {
    let mut http = Http::with_servers(proxy(), local(), HttpLimits::default()).await;
    let (client, mut server) = begun(&mut http).await;
    let mut asked = client.open("POST", r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#).await;
    server.value().await;
    server.send("nonsense").await;
    let error = asked.event().await.unwrap().1;
    assert_eq!((&error["id"], error["error"].is_object()), (&json!(1), true));
    until(|| http.noted("session 1: ended: the server was stopped")).await;
    http.stop().await;
}

#[tokio::test]
async fn a_session_that_nobody_uses_is_ended() {
    let mut limits = HttpLimits::default();
    limits.idle = Duration::from_millis(60);
    let mut http = Http::with_servers(proxy(), local(), limits).await;
    let (client, mut server) = begun(&mut http).await;
    let standing = client.open("GET", "").await;
    tokio::time::sleep(limits.idle * 4).await;
    assert!(!http.noted("nobody uses it"), "somebody reads its stream");
    drop(standing);
    assert_eq!(server.line().await, None);
    assert!(http.noted("session 1: ending: nobody uses it"));
    until(|| http.noted("session 1: ended")).await;
    assert_eq!(client.ask(1, "ping", json!({})).await.status, 404);
    http.stop().await;
}
