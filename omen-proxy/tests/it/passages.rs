//! What could act without being a call passes only if the operator lets it.

use omen_proxy::Passage;
use serde_json::{Value, json};

use crate::support::{Seen, World, kinds, proxy, refusal, serve};

fn request(method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": "q", "method": method, "params": params}).to_string()
}

fn acting() -> [(Passage, String); 4] {
    [
        (Passage::Sampling, request("sampling/createMessage", json!({"messages": []}))),
        (Passage::Secrets, request("elicitation/create", json!({"message": "Your API key?"}))),
        (Passage::Roots, request("roots/list", json!({}))),
        (Passage::Urls, request("elicitation/create", json!({"mode": "url", "url": "https://example.com"}))),
    ]
}

#[tokio::test]
async fn requests_of_a_server_that_could_act_are_refused_and_recorded() {
    for (_, line) in acting() {
        let (world, mut server) = World::with_server(proxy());
        server.send(&line).await;
        let answer = server.value().await;
        assert_eq!((refusal(&answer), &answer["id"]), ("403".to_owned(), &json!("q")));
        let (_, log) = world.close().await;
        assert_eq!(kinds(&log), ["decision PG-3", "turn"]);
    }
}

#[tokio::test]
async fn what_the_operator_lets_pass_passes_and_its_answer_comes_back() {
    let harmless = request("elicitation/create", json!({"message": "Which city?", "requestedSchema": {}}));
    for (passage, line) in
        acting().into_iter().chain([(Passage::Sampling, harmless), (Passage::Tasks, request("ping", json!({})))])
    {
        let (mut world, mut server) = World::with_server(proxy().pass([passage]));
        server.send(&line).await;
        assert_eq!(world.client.line().await.unwrap(), line);
        let answer = r#"{"id":"q", "result":{"action":"accept"},"jsonrpc":"2.0"}"#;
        world.client.send(answer).await;
        assert_eq!(server.line().await.unwrap(), answer);
    }
}

#[tokio::test]
async fn subscriptions_and_tasks_are_refused_unless_they_may_pass() {
    let task = json!({"name": "read", "arguments": {}, "task": {"ttl": 1}});
    for (method, params, passage, code) in [
        ("resources/subscribe", json!({"uri": "file:///a"}), Passage::Subscriptions, "403"),
        ("tools/call", task, Passage::Tasks, "PG-3"),
    ] {
        for pass in [false, true] {
            let (mut world, server) = World::with_server(proxy().pass(pass.then_some(passage)));
            let seen = Seen::default();
            tokio::spawn(serve(server, seen.clone()));
            world.client.shake_hands(json!({})).await;
            let answer = world.client.ask(1, method, params.clone()).await;
            let sent = seen.lines.lock().unwrap().iter().any(|line| line.contains(method));
            assert_eq!(sent, pass, "{answer}");
            match pass {
                true => assert!(answer["error"].is_null(), "{answer}"),
                false => assert_eq!(refusal(&answer), code),
            }
        }
    }
}

#[tokio::test]
async fn a_result_that_asks_for_what_may_not_pass_is_withheld() {
    for (method, params) in [("prompts/get", json!({})), ("tools/call", json!({"name": "read", "arguments": {}}))] {
        let (mut world, mut server) = World::with_server(proxy());
        tokio::spawn(async move {
            while let Some(line) = server.line().await {
                let message: Value = serde_json::from_str(&line).unwrap();
                let result = match message["method"].as_str().unwrap() {
                    "tools/list" => json!({"tools": crate::support::tools(), "resultType": "complete"}),
                    _ => json!({"resultType": "input_required", "requestState": "x", "inputRequests": {
                        "a": {"method": "sampling/createMessage", "params": {}}}}),
                };
                server.send(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string()).await;
            }
        });
        let mut params = params;
        params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {}});
        let answer = world.client.ask(1, method, params).await;
        assert_eq!(refusal(&answer), if method == "tools/call" { "PG-3" } else { "403" });
        assert!(!answer.to_string().contains("requestState"), "{answer}");
    }
}
