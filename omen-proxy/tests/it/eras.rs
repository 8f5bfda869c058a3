//! The era without a handshake (2026-07-28), beside the other one.

use serde_json::{Value, json};

use crate::support::{World, kinds, proxy, refusal, tools};

fn meta() -> Value {
    json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}})
}

#[tokio::test]
async fn a_session_without_a_handshake_is_judged_as_any_other() {
    let (mut world, mut server) = World::with_server(proxy());
    let served = tokio::spawn(async move {
        let mut lines = Vec::new();
        let mut rounds = 0;
        while let Some(line) = server.line().await {
            let message: Value = serde_json::from_str(&line).unwrap();
            // Every request says which version it is of, also those of the gate itself.
            assert_eq!(message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28", "{line}");
            let result = match message["method"].as_str().unwrap() {
                "server/discover" => json!({"resultType": "complete", "supportedVersions": ["2026-07-28"]}),
                "tools/list" => {
                    json!({"resultType": "complete", "tools": tools(), "ttlMs": 0, "cacheScope": "private"})
                }
                "tools/call" if message["params"].get("inputResponses").is_none() && rounds == 0 => {
                    rounds += 1;
                    json!({"resultType": "input_required", "requestState": "opaque", "inputRequests": {
                        "city": {"method": "elicitation/create", "params": {"message": "Which city?"}}}})
                }
                _ => json!({"resultType": "complete", "content": [{"type": "text", "text": "done"}]}),
            };
            server.send(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string()).await;
            lines.push(line);
        }
        lines
    });
    let client = &mut world.client;
    assert_eq!(client.ask(1, "server/discover", json!({"_meta": meta()})).await["result"]["resultType"], "complete");
    let listed = client.ask(2, "tools/list", json!({"_meta": meta()})).await;
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 5);
    assert_eq!((&listed["result"]["ttlMs"], &listed["result"]["cacheScope"]), (&json!(0), &json!("private")));
    let mut params = json!({"name": "read", "arguments": {}, "_meta": meta()});
    let asked = client.ask(3, "tools/call", params.clone()).await;
    assert_eq!(asked["result"]["requestState"], "opaque");
    params["requestState"] = "opaque".into();
    params["inputResponses"] = json!({"city": {"action": "accept", "content": {}}});
    let answer = client.ask(4, "tools/call", params).await;
    assert_eq!(answer["result"]["content"][0]["text"], "done");
    let refused = client.ask(5, "tools/call", json!({"name": "unlisted", "_meta": meta()})).await;
    assert_eq!((refusal(&refused), &refused["result"]["resultType"]), ("PG-3".to_owned(), &json!("complete")));
    let (_, log) = world.close().await;
    // What is left out of the list is one entry. Each round is a call of its own.
    let expected =
        ["decision", "decision", "intent", "outcome", "decision", "intent", "outcome", "decision PG-3", "turn"];
    assert_eq!(kinds(&log), expected);
    let lines = served.await.unwrap();
    assert!(lines.iter().any(|line| line.contains(r#""requestState":"opaque""#)), "{lines:?}");
}

#[tokio::test]
async fn a_client_may_try_without_a_handshake_first() {
    let (mut world, mut server) = World::with_server(proxy());
    tokio::spawn(async move {
        while let Some(line) = server.line().await {
            let message: Value = serde_json::from_str(&line).unwrap();
            let Some(id) = message.get("id") else { continue };
            let answer = match message["method"].as_str().unwrap() {
                "server/discover" => {
                    json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "unknown"}})
                }
                "initialize" => json!({"jsonrpc": "2.0", "id": id, "result": {"serverInfo": {}}}),
                "tools/list" => {
                    assert!(message["params"].get("_meta").is_none(), "{line}");
                    json!({"jsonrpc": "2.0", "id": id, "result": {"tools": tools()}})
                }
                _ => json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}}),
            };
            server.send(answer.to_string()).await;
        }
    });
    assert!(world.client.ask(1, "server/discover", json!({"_meta": meta()})).await["error"].is_object());
    world.client.shake_hands(json!({})).await;
    assert!(world.client.call(2, "read", json!({})).await["result"].get("isError").is_none());
}
