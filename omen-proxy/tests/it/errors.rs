//! What a client reads where its server answers a call with an error (R3), or with what the tool does not promise (PG-4).

use omen_gate::audit::store::Memory;
use omen_gate::config::ServerErrors::{self, Raw, Typed};
use omen_proxy::Proxy;
use serde_json::{Value, json};

use crate::support::{End, World, config, entries, tools};

/// A server that answers each call with the member `answer` of its arguments.
async fn echo(mut end: End) {
    while let Some(line) = end.line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        let Some(id) = message.get("id").filter(|_| message.get("method").is_some()) else { continue };
        let params = &message["params"];
        let mut response = match message["method"].as_str().unwrap() {
            "initialize" => json!({"result": {"protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}}, "serverInfo": {"name": "test", "version": "1"}}}),
            "tools/list" => json!({"result": {"tools": tools()}}),
            "tools/call" => params["arguments"]["x"].clone(),
            _ => json!({"result": {}}),
        };
        response["jsonrpc"] = "2.0".into();
        response["id"] = id.clone();
        // What a call says is bounded; what a server answers is long.
        end.send(response.to_string().replace("LONG", &"b".repeat(200_000))).await;
    }
}

async fn world(errors: ServerErrors) -> World {
    let mut config = config("");
    config.servers.get_mut("s").unwrap().errors = errors;
    let proxy = Proxy::builder(config, "session".parse().unwrap());
    let (mut world, end) = World::with_server(proxy);
    tokio::spawn(echo(end));
    world.client.shake_hands(json!({})).await;
    world
}

/// What the client reads of a call that the server answers so, and the audit log.
async fn answered(errors: ServerErrors, tool: &str, answer: Value) -> (Value, Memory) {
    let mut world = world(errors).await;
    let read = world.client.call(7, tool, json!({"x": answer})).await;
    (read, world.close().await.1)
}

const SECRET: &str = "psycopg2.OperationalError: host=10.0.0.1 \u{1b}[31muser=admin";

#[tokio::test]
async fn r3_an_error_of_the_server_is_typed_and_its_own_words_are_left_out() {
    for code in [-32603, -32000, -32700, -1, 403, 1] {
        let error = json!({"code": code, "message": SECRET, "data": {"traceback": SECRET}});
        let (read, log) = answered(Typed, "read", json!({"error": error})).await;
        let error = &read["error"];
        assert_eq!(read["id"], 7);
        assert_eq!(error["code"], code, "{read}");
        let typed = json!({"class": "refused", "code": code, "ran": "unknown", "retry": false});
        assert_eq!(error["data"], json!({"omen/fault": typed}), "{read}");
        let message = error["message"].as_str().unwrap();
        assert!(
            message.starts_with(&format!("the server refused the call ({code}). The tool may have run.")),
            "{read}"
        );
        assert!(!read.to_string().contains("psycopg2"), "{read}");
        // `arguments = "full"` lets the log have it.
        let last = entries(&log).into_iter().rfind(|entry| entry["kind"] == "outcome").unwrap();
        assert!(last["data"]["why"].as_str().unwrap().contains("psycopg2"), "{last}");
    }
}

#[tokio::test]
async fn r3_what_is_wrong_with_a_request_is_said_in_the_servers_words_bounded_and_visible() {
    for code in [-32600, -32601, -32602] {
        let long = format!("{SECRET}{}", "a".repeat(5000));
        let (read, _) =
            answered(Typed, "read", json!({"error": {"code": code, "message": long, "data": [SECRET]}})).await;
        let message = read["error"]["message"].as_str().unwrap();
        assert!(message.contains("psycopg2.OperationalError") && !message.contains('\u{1b}'), "{read}");
        assert!(message.len() < 800, "{}", message.len());
        assert_eq!(read["error"]["data"].as_object().unwrap().keys().collect::<Vec<_>>(), ["omen/fault"]);
    }
}

#[tokio::test]
async fn r3_a_tool_that_reports_a_failure_is_read_bounded_without_control_characters_and_typed() {
    let answer = json!({"result": {
        "isError": true, "structuredContent": {"why": SECRET},
        "content": [
            {"type": "text", "text": format!("line 1\nline 2 {SECRET}\u{202e}")},
            {"type": "text", "text": "LONG"},
            {"type": "resource", "resource": {"uri": "file:///x", "text": SECRET}},
        ],
    }});
    let (read, _) = answered(Typed, "read", answer).await;
    let result = &read["result"];
    assert_eq!(result["isError"], true);
    let texts: Vec<_> = result["content"].as_array().unwrap().iter().map(|one| one["text"].as_str().unwrap()).collect();
    assert!(texts[0].starts_with("line 1\nline 2 psycopg2"), "{}", texts[0]);
    assert!(texts.concat().len() < 66_000, "{}", texts.concat().len());
    let all = read.to_string();
    assert!(!all.contains("\\u001b") && !all.contains('\u{1b}') && !all.contains('\u{202e}'));
    assert!(texts.last().unwrap().starts_with("The tool failed (R3, `tool`). The tool ran."), "{texts:?}");
    assert_eq!(texts.len(), 3, "content other than text is left out");
    let typed = json!({"class": "tool", "code": null, "ran": "yes", "retry": false});
    assert_eq!(result["_meta"]["omen/fault"], typed);
}

#[tokio::test]
async fn errors_raw_relays_what_the_server_writes() {
    let error = json!({"code": -32603, "message": SECRET, "data": {"traceback": SECRET}});
    let (read, _) = answered(Raw, "read", json!({"error": error})).await;
    assert_eq!(read["error"], error);
    let result = json!({"isError": true, "content": [{"type": "text", "text": SECRET}]});
    let (read, _) = answered(Raw, "read", json!({"result": result})).await;
    assert_eq!(read["result"], result);
}

/// What programs need of an error is kept, and nothing else of it.
#[tokio::test]
async fn what_a_client_goes_on_by_is_kept() {
    let data = json!({"requiredCapabilities": {"elicitation": {"form": {}}, "a sentence to read": {}, "roots": SECRET}, "x": SECRET});
    let (read, _) = answered(Typed, "read", json!({"error": {"code": -32021, "message": SECRET, "data": data}})).await;
    let kept = &read["error"]["data"]["requiredCapabilities"];
    assert_eq!(*kept, json!({"elicitation": {"form": {}}, "roots": {}}), "{read}");
    let data = json!({"supported": ["2026-07-28", SECRET], "requested": SECRET});
    let (read, _) = answered(Typed, "read", json!({"error": {"code": -32022, "message": SECRET, "data": data}})).await;
    assert_eq!(read["error"]["data"]["supported"], json!(["2026-07-28"]));
    assert!(!read.to_string().contains("psycopg2"), "{read}");
    // An address that a server wants opened passes if the operator lets it.
    let error = json!({"code": -32042, "message": "open it", "data": {"elicitations": [{"url": "https://a.example"}]}});
    let (read, _) = answered(Typed, "read", json!({"error": error})).await;
    assert!(!read.to_string().contains("a.example"), "{read}");
}

#[tokio::test]
async fn pg4_an_answer_that_is_not_as_promised_is_bounded_text_with_a_note() {
    let answer = json!({"result": {
        "content": [{"type": "text", "text": "see \u{202e}"}], "structuredContent": {"n": "LONG"}, "resultType": "complete",
    }});
    let (read, log) = answered(Typed, "typed", answer).await;
    let result = &read["result"];
    assert_eq!(result["isError"], true);
    assert!(result.get("structuredContent").is_none(), "{read}");
    let content = result["content"].as_array().unwrap();
    let texts: Vec<_> = content.iter().map(|one| one["text"].as_str().unwrap()).collect();
    assert!(texts[0].contains("PG-4") && texts[0].contains("typed parsing blocked"), "{}", texts[0]);
    assert!(
        texts[1].contains("structuredContent") && texts[1].contains("bbb") && texts[1].contains('…'),
        "{}",
        texts[1]
    );
    assert!(texts[1].len() <= 65_536 && !texts[1].contains('\u{202e}'), "{}", texts[1].len());
    assert_eq!(result["_meta"]["omen/decision"]["code"], "PG-4");
    assert_eq!(result["_meta"]["omen/decision"]["ran"], "yes");
    let kinds: Vec<_> =
        entries(&log).iter().filter_map(|entry| entry["data"]["code"].as_str().map(str::to_owned)).collect();
    assert_eq!(kinds, ["PG-4"]);
}
