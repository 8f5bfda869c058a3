//! A call through the proxy: what the server gets, what the client gets, what the log has.

use serde_json::{Value, json};

use crate::support::{World, config, entries, kinds, proxy, refusal, serve, within};

#[tokio::test]
async fn a_call_passes_byte_for_byte_but_for_its_id_and_is_in_the_log() {
    let (mut world, mut server) = World::with_server(proxy());
    let play = async {
        for _ in 0..2 {
            // The handshake.
            let message = server.value().await;
            if message.get("id").is_some() {
                let result = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}});
                server.send(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string()).await;
            }
        }
        loop {
            let line = server.line().await.unwrap();
            let message: Value = serde_json::from_str(&line).unwrap();
            let id = message["id"].as_str().unwrap().to_owned();
            if message["method"] == "tools/list" {
                let list = json!({"tools": crate::support::tools()});
                server.send(json!({"jsonrpc": "2.0", "id": id, "result": list}).to_string()).await;
                continue;
            }
            let answer = r#"{"result" : {"zzz":123456789012345678901234567890,"content":[ {"text":"\u0061","type":"text"} ]},"id": ID ,"jsonrpc":"2.0"}"#;
            server.send(answer.replace("ID", &format!("\"{id}\""))).await;
            return (line, id, answer);
        }
    };
    let call = r#"{"params":{"arguments":{"y":1e2, "x":"\u00e9"},"more":[99999999999999999999999],"name":"re\u0061d"}, "id" :"k","method":"tools/call","jsonrpc":"2.0"}"#;
    let client = async {
        world.client.shake_hands(json!({})).await;
        world.client.send(call).await;
        world.client.line().await.unwrap()
    };
    let ((sent, id, answer), got) = tokio::join!(play, client);
    assert_eq!(sent, call.replace("\"k\"", &format!("\"{id}\"")));
    assert_eq!(got, answer.replace("ID", "\"k\""));
    let (_, log) = world.close().await;
    assert_eq!(kinds(&log), ["decision", "intent", "outcome", "turn"]);
    let entries = entries(&log);
    assert_eq!((&entries[1]["turn"], &entries[1]["data"]["args"]), (&json!("session.1"), &json!({"x": "é", "y": 100})));
    assert_eq!(entries[2]["data"]["ran"], "yes");
}

#[tokio::test]
async fn a_refusal_is_a_result_that_says_code_reason_and_way_out() {
    let (mut world, seen) = World::begun(proxy()).await;
    for (id, tool, args, code) in [
        (1, "unlisted", json!({}), "PG-3"),
        (2, "changed", json!({}), "PG-3"),
        (3, "ungranted", json!({}), "G1"),
        (4, "ask", json!({}), "G3"),
        (5, "read", json!({"z": 1}), "PG-2"),
        (6, "absent", json!({}), "PG-2"),
        (7, "read", json!([]), "PG-1"),
        (8, "read", json!({"x": 9_007_199_254_740_993_u64}), "PG-1"),
    ] {
        let answer = world.client.call(id, tool, args).await;
        assert_eq!((refusal(&answer), &answer["id"]), (code.to_owned(), &json!(id)), "{answer}");
        let decision = &answer["result"]["structuredContent"];
        assert_eq!((&decision["turn"], &decision["ran"]), (&json!(format!("session.{id}")), &json!("no")), "{answer}");
        for part in ["reason", "help"] {
            let text = answer["result"]["content"][0]["text"].as_str().unwrap();
            assert!(text.contains(decision[part].as_str().unwrap()), "{part}: {answer}");
        }
    }
    assert_eq!(seen.calls(), Vec::<String>::new());
    let (_, log) = world.close().await;
    let refused: Vec<_> = kinds(&log).into_iter().filter(|kind| kind.contains(' ')).collect();
    let codes = ["PG-3", "PG-3", "G1", "G3", "PG-2", "PG-2", "PG-1", "PG-1"];
    let kind = |code: &str| format!("{} {code}", if code == "G3" { "confirmation" } else { "decision" });
    assert_eq!(refused, codes.map(kind));
}

#[tokio::test]
async fn the_decision_has_the_hash_of_the_call() {
    let (mut world, _) = World::begun(proxy()).await;
    let answer = world.client.call(1, "ask", json!({"x": 1})).await;
    let hash = answer["result"]["structuredContent"]["call"].as_str().unwrap().to_owned();
    let (_, log) = world.close().await;
    let logged = entries(&log);
    assert!(logged.iter().any(|entry| entry["data"]["call"] == json!(hash)), "{logged:?}");
}

#[tokio::test]
async fn an_answer_is_held_against_what_the_tool_promises() {
    let (mut world, seen) = World::begun(proxy()).await;
    let answer = world.client.call(1, "typed", json!({"x": {"n": 1}})).await;
    assert_eq!(answer["result"]["structuredContent"], json!({"n": 1}));
    for (id, x) in [(2, json!({"n": "1"})), (3, json!({})), (4, json!(null))] {
        let answer = world.client.call(id, "typed", json!({"x": x})).await;
        assert_eq!(refusal(&answer), "PG-4");
        assert_eq!(answer["result"]["_meta"]["omen/decision"]["ran"], "yes");
        // A client holds structured content against the promise, too, and a decision is not what was promised.
        assert!(answer["result"].get("structuredContent").is_none(), "{answer}");
    }
    assert_eq!(seen.calls().len(), 4);
    let (_, log) = world.close().await;
    assert_eq!(kinds(&log).iter().filter(|kind| *kind == "decision PG-4").count(), 3);
}

#[tokio::test]
async fn with_raw_errors_those_of_the_server_reach_the_client_as_they_are() {
    let mut config = config("");
    config.servers.get_mut("s").unwrap().errors = omen_gate::config::ServerErrors::Raw;
    let proxy = omen_proxy::Proxy::builder(config, "session".parse().unwrap());
    let (mut world, server) = World::with_server(proxy);
    tokio::spawn(async move {
        let mut server = server;
        while let Some(line) = server.line().await {
            let message: Value = serde_json::from_str(&line).unwrap();
            let Some(id) = message.get("id") else { continue };
            let body = match message["method"].as_str().unwrap() {
                "initialize" => r#""result":{"serverInfo":{}}"#.to_owned(),
                "tools/list" => format!(r#""result":{}"#, json!({"tools": crate::support::tools()})),
                _ if message["params"]["arguments"]["x"] == 1 => {
                    r#""error":{"code":-32602, "message":"no","data":[1.50]}"#.to_owned()
                }
                _ => r#""result":{"content":[{"type":"text","text":"bad"}], "isError":true}"#.to_owned(),
            };
            server.send(format!(r#"{{"jsonrpc":"2.0","id":{id},{body}}}"#)).await;
        }
    });
    world.client.shake_hands(json!({})).await;
    for (x, body) in [
        (1, r#""error":{"code":-32602, "message":"no","data":[1.50]}"#),
        (2, r#""result":{"content":[{"type":"text","text":"bad"}], "isError":true}"#),
    ] {
        let params = json!({"name": "read", "arguments": {"x": x}});
        world
            .client
            .send(json!({"jsonrpc": "2.0", "id": x, "method": "tools/call", "params": params}).to_string())
            .await;
        assert_eq!(world.client.line().await.unwrap(), format!(r#"{{"jsonrpc":"2.0","id":{x},{body}}}"#));
    }
    let (_, log) = world.close().await;
    let outcomes: Vec<_> = entries(&log).into_iter().filter(|entry| entry["kind"] == "outcome").collect();
    assert_eq!((&outcomes[0]["data"]["class"], &outcomes[1]["data"]["class"]), (&json!("refused"), &json!("tool")));
}

#[tokio::test]
async fn many_calls_run_at_once_and_each_has_its_own_answer() {
    let (mut world, seen) = World::begun(proxy()).await;
    for id in 1..=50 {
        let params = json!({"name": "read", "arguments": {"x": id}});
        world
            .client
            .send(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string())
            .await;
    }
    let mut answered = std::collections::BTreeSet::new();
    for _ in 0..50 {
        let answer = world.client.value().await;
        assert_eq!(answer["result"]["content"][0]["text"], json!({"x": answer["id"]}).to_string());
        answered.insert(answer["id"].as_u64().unwrap());
    }
    assert_eq!((answered.len(), seen.calls().len()), (50, 50));
}

#[tokio::test]
async fn the_patterns_of_the_operator_are_held_against_what_a_call_says() {
    let policy = "[[policy.patterns]]\npattern = '(?i)drop\\s+table'\nreason = 'tables are not dropped'\n";
    let proxy = omen_proxy::Proxy::builder(crate::support::config(policy), "session".parse().unwrap());
    let (mut world, server) = World::with_server(proxy);
    let seen = crate::support::Seen::default();
    tokio::spawn(serve(server, seen.clone()));
    world.client.shake_hands(json!({})).await;
    for (id, args) in [
        (1, json!({"x": "DROP table users"})),
        (2, json!({"x": ["drop", "table"]})),
        (3, json!({"x": "Drop", "y": "\ttable"})),
    ] {
        assert_eq!(refusal(&within(world.client.call(id, "read", args)).await), "PG-0");
    }
    assert!(world.client.call(4, "read", json!({"x": "drop it"})).await["result"].get("isError").is_none());
    assert_eq!(seen.calls().len(), 1);
}
