//! Requests without a session, since 2026-07-28.

use std::time::Duration;

use serde_json::{Value, json};

use super::world::{Far, Got, JSON, Step, answer, event, impatient, json_answer, send, short, stream};
use crate::http::world::until;
use crate::support::{entries, refusal, tools};

fn modern(id: &Value, method: &str, mut params: Value) -> String {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

fn call(id: u64, tool: &str, args: &Value) -> String {
    modern(&json!(id), "tools/call", json!({"name": tool, "arguments": args}))
}

async fn far(script: impl Fn(&Got) -> Option<super::world::Reply> + Send + Sync + 'static) -> Far {
    Far::limited(script, short(), crate::support::config("")).await
}

#[tokio::test]
async fn each_request_stands_for_itself_and_repeats_in_headers_what_it_is() {
    let mut far = far(|got| {
        let result = json!({"jsonrpc": "2.0", "id": got.id(), "result": {"resultType": "complete", "contents": []}});
        got.is("resources/read")
            .then(|| answer("200 OK", &format!("{JSON}mcp-session-id: ignored\r\n"), result.to_string()))
    })
    .await;
    far.client.send(call(1, "write", &json!({"x": "y"}))).await;
    assert_eq!(far.client.value().await["result"]["content"][0]["text"], "done");
    far.client.send(modern(&json!(2), "resources/read", json!({"uri": "file:///\u{e9} "}))).await;
    assert_eq!(far.client.value().await["id"], 2);
    let (_, _, stand) = far.close().await;
    let seen = stand.seen();
    assert!(
        seen.iter().all(|got| got.header("mcp-session-id").is_none() && got.method == "POST"),
        "no session, no GET, no DELETE"
    );
    for got in &seen {
        assert_eq!(got.header("mcp-protocol-version"), Some("2026-07-28"));
        assert_eq!(got.header("mcp-method"), got.message["method"].as_str());
        let name = match got.message["method"].as_str() {
            Some("tools/call") => Some("write"),
            Some("resources/read") => Some("=?base64?ZmlsZTovLy/DqSA=?="),
            _ => None,
        };
        assert_eq!(got.header("mcp-name"), name);
    }
    let methods: Vec<_> = seen.iter().map(|got| got.message["method"].as_str().unwrap()).collect();
    assert_eq!(methods.last(), Some(&"resources/read"));
    assert!(methods.contains(&"tools/list") && !methods.contains(&"initialize"), "{methods:?}");
}

#[tokio::test]
async fn arguments_that_a_tool_marks_are_repeated_in_headers() {
    let marked = |name: &str| {
        let mut tools = tools();
        tools[1]["inputSchema"]["properties"]["x"] = json!({"type": "string", "x-mcp-header": name});
        tools
    };
    for (name, sent) in [("Region", true), ("a b", false)] {
        let listed = marked(name);
        let tool: omen_gate::tool::Tool = serde_json::from_value(listed[1].clone()).unwrap();
        let old: omen_gate::tool::Tool = serde_json::from_value(tools()[1].clone()).unwrap();
        let pin = |tool| omen_gate::catalog::pin(tool).unwrap().to_string();
        let text = format!(
            "[audit]\nlog = 'l'\nkey_file = 'k'\n[servers.s]\n[[allow]]\nserver='s'\ntool='write'\npermissions=['WRITE']\npin='{}'\n\
             [[grants]]\nserver='s'\ntool='write'\npermissions=['WRITE']\npre_granted=true\n",
            pin(&tool)
        );
        assert_ne!(pin(&tool), pin(&old));
        let script = move |got: &Got| {
            got.is("tools/list")
                .then(|| json_answer(&json!({"jsonrpc": "2.0", "id": got.id(), "result": {"tools": listed}})))
        };
        let mut far = Far::limited(script, short(), omen_gate::Config::parse(&text).unwrap()).await;
        far.client.send(call(1, "write", &json!({"x": "us-west1", "y": 1}))).await;
        let answer = far.client.value().await;
        let (_, _, stand) = far.close().await;
        let calls: Vec<_> = stand.seen().into_iter().filter(|got| got.is("tools/call")).collect();
        if sent {
            assert_eq!(answer["result"]["content"][0]["text"], "done", "{answer}");
            assert_eq!(calls[0].header("mcp-param-region"), Some("us-west1"));
        } else {
            assert_eq!((refusal(&answer).as_str(), calls.len()), ("R3", 0), "{answer}");
            assert_eq!(answer["result"]["_meta"]["omen/decision"]["ran"], "no");
        }
    }
}

#[tokio::test]
async fn errors_of_the_protocol_pass_whatever_their_status() {
    for (status, code) in [("400 Bad Request", -32_020), ("400 Bad Request", -32_022), ("404 Not Found", -32_601)] {
        let mut far = far(move |got| {
            let error = json!({"jsonrpc": "2.0", "id": got.id(), "error": {"code": code, "message": "no"}});
            got.is("tools/call").then(|| answer(status, JSON, error.to_string()))
        })
        .await;
        far.client.send(call(1, "write", &json!({}))).await;
        assert_eq!(far.client.value().await["error"]["code"], code);
        // A status is about its request alone.
        far.client.send(modern(&json!(2), "prompts/list", json!({}))).await;
        assert_eq!(far.client.value().await["id"], 2);
        far.close().await;
    }
}

#[tokio::test]
async fn a_stream_that_ends_before_the_answer_is_not_read_on() {
    let mut far = far(|got| got.is("tools/call").then(|| stream("id: one\ndata:\n\n"))).await;
    far.client.send(call(1, "write", &json!({}))).await;
    let answer = far.client.value().await;
    assert_eq!(answer["result"]["_meta"]["omen/decision"]["ran"], "unknown", "{answer}");
    assert_eq!(answer["result"]["resultType"], "complete");
    let (_, _, stand) = far.close().await;
    assert!(stand.seen().iter().all(|got| got.method == "POST"));
    assert_eq!(stand.count("tools/call"), 1);
}

#[tokio::test]
async fn a_server_that_asks_in_this_era_breaks_the_protocol() {
    let mut far = far(|got| {
        let ask = json!({"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {}});
        got.is("tools/call").then(|| [stream(event(&ask)), vec![Step::Hang]].concat())
    })
    .await;
    far.client.send(call(1, "write", &json!({}))).await;
    let answer = far.client.value().await;
    let decision = &answer["result"]["_meta"]["omen/decision"];
    assert!(decision["reason"].as_str().unwrap().contains("which this era does not have"), "{answer}");
    far.close().await;
}

#[tokio::test]
async fn to_cancel_a_request_is_to_close_its_connection() {
    let mut far = far(|got| {
        got.is("tools/call").then(|| {
            [stream(":\n"), vec![Step::Wait(Duration::from_millis(300)), send("data: late\n\n"), Step::Hang]].concat()
        })
    })
    .await;
    far.client.send(call(1, "write", &json!({}))).await;
    until(|| far.stand.count("tools/call") == 1).await;
    far.client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#).await;
    far.client.send(modern(&json!(1), "prompts/list", json!({}))).await;
    assert_eq!(far.client.value().await["id"], 1);
    let (_, log, stand) = far.close().await;
    assert_eq!(stand.count("notifications/cancelled"), 0);
    let outcome = entries(&log).into_iter().find(|entry| entry["kind"] == "outcome").unwrap();
    assert_eq!(outcome["data"]["ran"], "unknown", "{outcome}");
}

#[tokio::test]
async fn a_subscription_is_a_stream_that_stays_open() {
    let script = |got: &Got| {
        let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
        got.is("subscriptions/listen").then(|| {
            [stream(event(&changed)), vec![Step::Wait(Duration::from_millis(2_000)), send(event(&changed)), Step::Hang]]
                .concat()
        })
    };
    let mut far = Far::limited(script, impatient(), crate::support::config("")).await;
    far.client
        .send(modern(&json!("s"), "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}})))
        .await;
    for _ in 0..2 {
        assert_eq!(
            far.client.value().await["method"],
            "notifications/tools/list_changed",
            "longer than other streams may be silent"
        );
    }
    far.client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s"}}"#).await;
    far.close().await;
}
