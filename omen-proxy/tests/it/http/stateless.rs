//! Requests without a session, since 2026-07-28.

use serde_json::{Value, json};

use super::world::{Http, local, until};
use crate::support::{End, entries, kinds, proxy, refusal};

#[tokio::test]
async fn a_request_needs_no_session_and_is_judged() {
    let (http, seen) = Http::new(proxy()).await;
    let client = &http.client;
    let listed = client.ask_modern(json!("l"), "tools/list", json!({})).await;
    assert_eq!((listed.status, listed.header("content-type")), (200, Some("application/json")));
    assert_eq!((listed.json()["id"].clone(), listed.header("mcp-session-id")), (json!("l"), None));
    let call = |id: Value, tool: &'static str| async move {
        client.ask_modern(id, "tools/call", json!({"name": tool, "arguments": {"x": 1}})).await
    };
    let called = call(json!(1), "read").await;
    assert_eq!(called.json()["result"]["content"][0]["text"], r#"{"x":1}"#);
    for (tool, code) in [("unlisted", "PG-3"), ("ask", "G3"), ("ungranted", "G1"), ("changed", "PG-3")] {
        let refused = call(json!(1), tool).await;
        assert_eq!((refused.status, refusal(&refused.json()).as_str()), (200, code));
        assert_eq!(refused.json()["result"]["resultType"], "complete");
    }
    assert_eq!(seen.calls().len(), 1);
    // A session id means nothing here.
    let (client, message) = client.modern(&json!(2), "ping", json!({}));
    assert_eq!(client.with("mcp-session-id", "x").post(&message).await.status, 200);
    let log = http.stop().await;
    assert_eq!(kinds(&log).iter().filter(|kind| *kind == "intent").count(), 1);
}

#[tokio::test]
async fn headers_that_disagree_with_the_body_are_refused() {
    let (http, seen) = Http::new(proxy()).await;
    let (client, message) = http.client.modern(&json!(7), "tools/call", json!({"name": "read", "arguments": {}}));
    let with = |name: &str, value: &str| client.clone().with(name, value);
    for (code, client) in [
        (-32_020, client.clone().without("mcp-protocol-version")),
        (-32_020, client.clone().without("mcp-method")),
        (-32_020, client.clone().without("mcp-name")),
        (-32_020, with("mcp-protocol-version", "2025-11-25")),
        (-32_020, with("mcp-method", "tools/list")),
        (-32_020, with("mcp-method", "Tools/Call")),
        (-32_020, with("mcp-name", "write")),
        (-32_020, with("mcp-name", "read, write")),
        (-32_020, with("mcp-name", "READ")),
        (-32_020, with("mcp-name", "=?base64?d3JpdGU=?=")),
        (-32_020, with("mcp-name", "=?base64?cmVhZA?=")),
        (-32_020, with("mcp-name", "=?BASE64?cmVhZA==?=")),
        (400, client.clone().also("mcp-name", "read")),
        (400, client.clone().also("mcp-name", "write")),
        (400, client.clone().also("mcp-method", "tools/list")),
        (400, client.clone().also("mcp-protocol-version", "2026-07-28")),
    ] {
        let reply = client.post(&message).await;
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!(code)), "{client:?}");
        if code == -32_020 {
            assert_eq!(reply.json()["id"], 7, "{client:?}");
        }
    }
    // What the body lacks.
    for key in ["io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"] {
        let mut message = message.clone();
        message["params"]["_meta"].as_object_mut().unwrap().remove(key);
        assert_eq!(client.post(&message).await.status, 400, "{key}");
    }
    assert!(seen.lines.lock().unwrap().is_empty(), "a server was started");
    assert_eq!(with("mcp-name", "=?base64?cmVhZA==?=").post(&message).await.status, 200);
    // In a session the headers are not needed, but what they say must hold, too.
    let client = http.client.shake_hands(json!({})).await;
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read", "arguments": {}}});
    assert_eq!(client.clone().with("mcp-name", "write").post(&call).await.status, 400);
    assert_eq!(client.clone().with("mcp-method", "ping").post(&call).await.status, 400);
    assert_eq!(client.with("mcp-name", "read").post(&call).await.status, 200);
    http.stop().await;
}

#[tokio::test]
async fn clients_may_choose_the_same_ids_and_tokens() {
    let mut http = Http::with_servers(proxy(), local(), Default::default()).await;
    let params = |n: u64| json!({"n": n, "_meta": {"progressToken": "p"}});
    let mut asked = Vec::new();
    for n in 0..2 {
        let (client, message) = http.client.modern(&json!("same"), "a", params(n));
        asked.push(tokio::spawn(async move { client.post(&message).await }));
    }
    let mut server = http.server().await;
    let (one, other) = (server.value().await, server.value().await);
    assert_ne!(one["id"], other["id"]);
    assert_ne!(one["params"]["_meta"]["progressToken"], other["params"]["_meta"]["progressToken"]);
    for request in [&one, &other] {
        let (token, n) = (&request["params"]["_meta"]["progressToken"], &request["params"]["n"]);
        let progress = json!({"progressToken": token, "n": n});
        server
            .send(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}).to_string())
            .await;
    }
    // Which of the two it is about, nobody can say.
    server.send(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"secret":1}}"#).await;
    for request in [&other, &one] {
        server
            .send(json!({"jsonrpc": "2.0", "id": request["id"], "result": {"n": request["params"]["n"]}}).to_string())
            .await;
    }
    for (n, asked) in asked.into_iter().enumerate() {
        let events = asked.await.unwrap().events();
        assert_eq!((events.len(), &events[0]["params"]), (2, &json!({"progressToken": "p", "n": n})));
        assert_eq!((&events[1]["id"], &events[1]["result"]["n"]), (&json!("same"), &json!(n)));
    }
    http.stop().await;
}

#[tokio::test]
async fn a_subscription_is_a_stream_under_the_id_of_its_client() {
    let mut http = Http::with_servers(proxy(), local(), Default::default()).await;
    let (client, message) =
        http.client.modern(&json!("s"), "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    let body = message.to_string();
    let listening = tokio::spawn(async move { client.open("POST", &body).await });
    let mut server = http.server().await;
    let asks = server.value().await;
    let notify = |method: &str| {
        json!({"jsonrpc": "2.0", "method": method, "params": {"_meta": {"io.modelcontextprotocol/subscriptionId": asks["id"]}}}).to_string()
    };
    server.send(notify("notifications/subscriptions/acknowledged")).await;
    let mut stream = listening.await.unwrap();
    let mut methods = Vec::new();
    server.send(notify("notifications/tools/list_changed")).await;
    for _ in 0..2 {
        let (id, event) = stream.event().await.unwrap();
        assert_eq!((id, &event["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"]), (None, &json!("s")));
        methods.push(event["method"].clone());
    }
    assert_eq!(methods, ["notifications/subscriptions/acknowledged", "notifications/tools/list_changed"]);
    let ended = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": asks["id"]}});
    server.send(ended.to_string()).await;
    assert_eq!(stream.event().await, None);
    http.stop().await;
}

#[tokio::test]
async fn who_closes_the_connection_cancels_the_request_and_the_log_says_so() {
    let mut http = Http::with_servers(proxy(), local(), Default::default()).await;
    let (client, message) = http.client.modern(&json!(1), "tools/call", json!({"name": "read", "arguments": {}}));
    let call = client.text("POST", "/mcp", &message.to_string());
    let mut wire = super::client::Wire::connect(client.address).await;
    wire.send(call).await;
    let mut server = http.server().await;
    let asks = up_to_the_call(&mut server).await;
    drop(wire);
    let cancelled = server.value().await;
    assert_eq!(
        (&cancelled["method"], &cancelled["params"]["requestId"]),
        (&json!("notifications/cancelled"), &asks["id"])
    );
    // Another one is not disturbed, whatever the server says about the first.
    server.send(json!({"jsonrpc": "2.0", "id": asks["id"], "result": {"content": []}}).to_string()).await;
    let (client, message) = http.client.modern(&json!(1), "ping", json!({}));
    let asked = tokio::spawn(async move { client.post(&message).await });
    let ping = server.value().await;
    server.send(json!({"jsonrpc": "2.0", "id": ping["id"], "result": {"pong": 1}}).to_string()).await;
    assert_eq!(asked.await.unwrap().json(), json!({"jsonrpc": "2.0", "id": 1, "result": {"pong": 1}}));
    let log = http.stop().await;
    let outcome = entries(&log).into_iter().find(|entry| entry["kind"] == "outcome").unwrap();
    assert_eq!((&outcome["data"]["class"], &outcome["data"]["ran"]), (&json!("cancelled"), &json!("unknown")));
}

#[tokio::test]
async fn errors_have_the_status_that_the_protocol_says() {
    let mut http = Http::with_servers(proxy(), local(), Default::default()).await;
    let mut server = None;
    for (status, code) in [(404, -32_601), (400, -32_022), (400, -32_021), (200, -32_602), (200, 5)] {
        let (client, message) = http.client.modern(&json!(1), "server/discover", json!({}));
        let asked = tokio::spawn(async move { client.post(&message).await });
        if server.is_none() {
            server = Some(http.server().await);
        }
        let server = server.as_mut().unwrap();
        let id = server.value().await["id"].clone();
        server.send(json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "m"}}).to_string()).await;
        let reply = asked.await.unwrap();
        assert_eq!(
            (reply.status, &reply.json()["error"]["code"], &reply.json()["id"]),
            (status, &json!(code), &json!(1))
        );
    }
    http.stop().await;
}

#[tokio::test]
async fn what_this_era_does_not_have_is_refused() {
    let mut http = Http::with_servers(proxy(), local(), Default::default()).await;
    let (client, message) = http.client.modern(&json!(1), "a", json!({}));
    for other in [
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
    ] {
        assert_eq!(client.clone().without("mcp-method").post(&other).await.status, 400, "{other}");
    }
    let asked = tokio::spawn(async move { client.post(&message).await });
    let mut server = http.server().await;
    let id = server.value().await["id"].clone();
    // A request of the server reaches nobody, and is answered.
    server.send(r#"{"jsonrpc":"2.0","id":"r","method":"ping"}"#).await;
    let answer = server.value().await;
    assert_eq!((&answer["id"], answer["error"].is_object()), (&json!("r"), true));
    server.send(json!({"jsonrpc": "2.0", "id": id, "result": {}}).to_string()).await;
    assert_eq!(asked.await.unwrap().json()["result"], json!({}));
    until(|| http.noted("refused `ping` of the server")).await;
    http.stop().await;
}

/// Answers the gate's questions for the list, up to the call.
pub(super) async fn up_to_the_call(server: &mut End) -> Value {
    loop {
        let asks = server.value().await;
        match asks["method"].as_str() {
            Some("tools/list") => {
                let result = json!({"tools": crate::support::tools()});
                server.send(json!({"jsonrpc": "2.0", "id": asks["id"], "result": result}).to_string()).await;
            }
            Some("tools/call") => return asks,
            other => panic!("{other:?}"),
        }
    }
}
