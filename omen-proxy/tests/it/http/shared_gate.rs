//! One gate and one log for all sessions.

use omen_gate::Config;
use omen_gate::catalog::pin;
use omen_gate::tool::Tool;
use omen_mcp::http::server::HttpLimits;
use omen_proxy::{Proxy, ProxyBuilder};
use serde_json::json;

use super::world::{Http, local};
use crate::support::{kinds, refusal, tools};

/// `read` may be called twice, and leaves a tool alone after one failure.
fn proxy() -> ProxyBuilder {
    let tool: Tool = serde_json::from_value(tools()[0].clone()).unwrap();
    let text = format!(
        "[servers.s]\n[breaker]\nfailures = 1\n[[allow]]\nserver='s'\ntool='read'\npermissions=['READ']\npin='{}'\n\
         [[grants]]\nserver='s'\ntool='read'\npermissions=['READ']\nuses=2\n",
        pin(&tool).unwrap()
    );
    Proxy::builder(Config::parse(&text).unwrap(), "session".parse().unwrap())
}

#[tokio::test]
async fn what_one_session_has_used_up_is_used_up_for_all() {
    let (http, seen) = Http::new(proxy()).await;
    let (one, other) = (http.client.shake_hands(json!({})).await, http.client.shake_hands(json!({})).await);
    assert!(one.call(1, "read", json!({})).await["result"].get("isError").is_none());
    let modern =
        async || http.client.ask_modern(json!(1), "tools/call", json!({"name": "read", "arguments": {}})).await.json();
    assert!(modern().await["result"].get("isError").is_none());
    for refused in [one.call(2, "read", json!({})).await, other.call(1, "read", json!({})).await, modern().await] {
        assert_eq!(refusal(&refused), "G2");
    }
    let third = http.client.shake_hands(json!({})).await;
    assert_eq!(refusal(&third.call(1, "read", json!({})).await), "G2");
    assert_eq!(seen.calls().len(), 2);
    let kinds = kinds(&http.stop().await);
    assert_eq!(kinds.iter().filter(|kind| *kind == "outcome").count(), 2, "{kinds:?}");
}

#[tokio::test]
async fn a_tool_that_fails_in_one_session_is_left_alone_in_all() {
    let mut http = Http::with_servers(proxy(), local(), HttpLimits::default()).await;
    let (one, mut server) = super::sessions::begun(&mut http).await;
    let (other, mut other_server) = super::sessions::begun(&mut http).await;
    let call = tokio::spawn(async move { one.call(1, "read", json!({})).await });
    super::stateless::up_to_the_call(&mut server).await;
    drop(server);
    assert_eq!(refusal(&call.await.unwrap()), "R3");
    let call = tokio::spawn(async move { other.call(1, "read", json!({})).await });
    let lists = tokio::spawn(async move {
        while let Some(line) = other_server.line().await {
            let asks: serde_json::Value = serde_json::from_str(&line).unwrap();
            assert_eq!(asks["method"], "tools/list");
            let result = json!({"tools": tools()});
            other_server.send(json!({"jsonrpc": "2.0", "id": asks["id"], "result": result}).to_string()).await;
        }
    });
    assert_eq!(refusal(&call.await.unwrap()), "R1");
    http.stop().await;
    lists.await.unwrap();
}

/// Each session's calls are judged by what its own server lists.
#[tokio::test]
async fn a_server_that_has_changed_is_found_in_its_own_session() {
    let mut http = Http::with_servers(proxy(), local(), HttpLimits::default()).await;
    let (one, mut changed) = super::sessions::begun(&mut http).await;
    let (other, mut good) = super::sessions::begun(&mut http).await;
    let call = tokio::spawn(async move { one.call(1, "read", json!({})).await });
    let asks = changed.value().await;
    let mut listed = tools();
    listed[0]["description"] = json!("Does something else.");
    changed.send(json!({"jsonrpc": "2.0", "id": asks["id"], "result": {"tools": listed}}).to_string()).await;
    assert_eq!(refusal(&call.await.unwrap()), "PG-3");
    let call = tokio::spawn(async move { other.call(1, "read", json!({})).await });
    let asks = super::stateless::up_to_the_call(&mut good).await;
    good.send(json!({"jsonrpc": "2.0", "id": asks["id"], "result": {"content": []}}).to_string()).await;
    assert!(call.await.unwrap()["result"].get("isError").is_none());
    http.stop().await;
}

#[tokio::test]
async fn a_reload_is_one_of_all_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gate.toml");
    std::fs::write(&path, "[servers.s]\n").unwrap();
    let (reload, when) = tokio::sync::mpsc::channel(1);
    let (http, _) = Http::new(proxy().reload(&path, when)).await;
    let (one, other) = (http.client.shake_hands(json!({})).await, http.client.shake_hands(json!({})).await);
    let (mut first, mut second) = (one.open("GET", "").await, other.open("GET", "").await);
    // The breaker takes a restart.
    reload.send(()).await.unwrap();
    super::world::until(|| http.noted("the previous configuration stays in force")).await;
    std::fs::write(&path, "[servers.s]\n[breaker]\nfailures = 1\n").unwrap();
    reload.send(()).await.unwrap();
    for stream in [&mut first, &mut second] {
        assert_eq!(stream.event().await.unwrap().1["method"], "notifications/tools/list_changed");
    }
    for client in [one, other, http.client.shake_hands(json!({})).await] {
        assert_eq!(refusal(&client.call(1, "read", json!({})).await), "PG-3");
    }
    http.stop().await;
}
