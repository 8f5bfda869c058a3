//! What a server lists, without a gate: for catalogues, and for new configurations.

use std::sync::Arc;
use std::time::Duration;

use omen_gate::Fault;
use omen_gate::mcp::ServerLimits;
use omen_gate::tool::Tool;
use omen_mcp::http::client::RemoteLimits;
use omen_proxy::Source;
use serde_json::{Value, json};

use super::world::{Got, JSON, Reply, Stand, Step, answer, event, impatient, json_answer, send, stream};
use crate::support::tools;

async fn listed(script: impl Fn(&Got) -> Option<Reply> + Send + Sync + 'static) -> (Result<Vec<Tool>, Fault>, Stand) {
    let stand = Stand::new(Arc::new(script)).await;
    let source = Source::remote(&stand.endpoint(), ServerLimits::default(), impatient()).unwrap();
    (source.list(Duration::from_secs(60)).await, stand)
}

#[tokio::test]
async fn a_server_is_asked_for_its_tools_and_nothing_is_called() {
    let (tools_of, stand) = listed(|got| {
        // It has something to ask first.
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
        let page = json!({"jsonrpc": "2.0", "id": got.id(), "result": {"tools": tools()}});
        got.is("tools/list").then(|| [stream(event(&ping)), vec![send(event(&page))]].concat())
    })
    .await;
    assert_eq!(tools_of.unwrap().len(), tools().len());
    let methods: Vec<_> = stand
        .ended()
        .await
        .iter()
        .map(|got| got.message["method"].as_str().unwrap_or(&got.method).to_owned())
        .collect();
    // It does not know the first question, which is that of the era without a handshake.
    assert_eq!(methods[..2], ["server/discover", "initialize"]);
    assert!(!methods.contains(&"tools/call".to_owned()) && methods.contains(&"DELETE".to_owned()), "{methods:?}");
}

/// A server of 2026-07-28 alone: it refuses what does not repeat the body in headers, as it must, and `initialize`.
fn stateless(got: &Got) -> Reply {
    let method = got.message["method"].as_str().unwrap();
    let refuse = |status: &str, code: i64, data: Value| {
        let error = json!({"code": code, "message": "refused", "data": data});
        answer(status, JSON, json!({"jsonrpc": "2.0", "id": got.id(), "error": error}).to_string())
    };
    let stated = &got.message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
    if got.header("mcp-method") != Some(method) || got.header("mcp-protocol-version") != stated.as_str() {
        return refuse("400 Bad Request", -32_020, Value::Null);
    }
    if stated != "2026-07-28" {
        return refuse("400 Bad Request", -32_022, json!({"supported": ["2026-07-28"], "requested": stated}));
    }
    let result = match method {
        "server/discover" => json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}),
        "tools/list" => json!({"tools": tools()}),
        _ => return refuse("404 Not Found", -32_601, Value::Null),
    };
    let mut message = json!({"jsonrpc": "2.0", "id": got.id(), "result": result});
    message["result"]["resultType"] = "complete".into();
    message["result"]["ttlMs"] = 0.into();
    message["result"]["cacheScope"] = "private".into();
    json_answer(&message)
}

fn methods(stand: &Stand) -> Vec<String> {
    let of = |got: &Got| got.message["method"].as_str().unwrap_or(&got.method).to_owned();
    stand.seen().iter().map(of).collect()
}

#[tokio::test]
async fn a_server_of_the_era_without_a_handshake_is_never_asked_for_one() {
    let (tools_of, stand) = listed(|got| Some(stateless(got))).await;
    assert_eq!(tools_of.unwrap().len(), tools().len());
    assert_eq!(methods(&stand), ["server/discover", "tools/list"]);
    for got in stand.seen() {
        assert_eq!(got.header("mcp-session-id"), None);
        let meta = &got.message["params"]["_meta"];
        assert!(meta["io.modelcontextprotocol/clientCapabilities"].is_object(), "{meta}");
        assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "omen-proxy");
    }
    // What goes wrong then is the fault of the list: a handshake would not help.
    let (failed, stand) = listed(|got| {
        let error = json!({"jsonrpc": "2.0", "id": got.id(), "error": {"code": -32603, "message": "out of order"}});
        Some(if got.is("tools/list") { json_answer(&error) } else { stateless(got) })
    })
    .await;
    assert!(failed.unwrap_err().to_string().contains("out of order"));
    assert_eq!(methods(&stand), ["server/discover", "tools/list"]);
}

/// Servers with a handshake answer the first question in many ways. None of them keeps their tools from being listed.
#[tokio::test]
async fn a_server_with_a_handshake_is_asked_for_one_however_it_refuses_the_other_era() {
    type Refusal = fn(&Got) -> Reply;
    let error = |got: &Got, code: i64, data: Value| json!({"jsonrpc": "2.0", "id": got.id(), "error": {"code": code, "message": "no", "data": data}});
    let refusals: [(&str, Refusal); 10] = [
        ("no session", |_| {
            let unsigned = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "no session"}});
            answer("400 Bad Request", JSON, unsigned.to_string())
        }),
        ("no such method", |got| {
            json_answer(&json!({"jsonrpc": "2.0", "id": got.id(), "error": {"code": -32601, "message": "no"}}))
        }),
        ("not found", |_| answer("404 Not Found", "", "")),
        ("not acceptable", |_| answer("406 Not Acceptable", "content-type: text/plain\r\n", "no")),
        ("fails", |_| answer("500 Internal Server Error", "", "")),
        ("closes", |_| vec![]),
        ("html", |_| answer("200 OK", "content-type: text/html\r\n", "<p>")),
        ("notes it", |_| answer("202 Accepted", "", "")),
        ("a stream that ends", |_| stream("")),
        ("names its versions", |got| {
            let result = json!({"supportedVersions": ["2025-06-18", "2025-11-25"]});
            json_answer(&json!({"jsonrpc": "2.0", "id": got.id(), "result": result}))
        }),
    ];
    for (name, refuse) in refusals {
        let (tools_of, stand) = listed(move |got| got.header("mcp-method").map(|_| refuse(got))).await;
        assert_eq!(tools_of.unwrap_or_else(|fault| panic!("{name}: {fault}")).len(), tools().len(), "{name}");
        assert_eq!(methods(&stand)[..2], ["server/discover", "initialize"], "{name}");
        assert!(stand.seen().iter().skip(1).all(|got| got.header("mcp-method").is_none()), "{name}");
    }
    // It names the versions that it speaks in the error.
    let (tools_of, _) = listed(move |got| {
        let data = json!({"supported": ["2025-11-25"]});
        got.header("mcp-method").map(|_| answer("400 Bad Request", JSON, error(got, -32_022, data).to_string()))
    })
    .await;
    assert_eq!(tools_of.unwrap().len(), tools().len());
}

#[tokio::test]
async fn a_server_that_does_not_answer_the_first_question_is_asked_the_next_one_in_time() {
    let stand = Stand::new(Arc::new(|got: &Got| got.header("mcp-method").map(|_| vec![Step::Hang]))).await;
    let source = Source::remote(&stand.endpoint(), ServerLimits::default(), RemoteLimits::default()).unwrap();
    let tools_of = source.list(Duration::from_secs(9)).await;
    assert_eq!(tools_of.unwrap().len(), tools().len());
}

#[tokio::test]
async fn what_no_era_can_change_is_not_asked_again() {
    type Refusal = fn(&Got) -> Reply;
    let refusals: [(&str, Refusal); 3] = [
        ("HTTP 401", |_| answer("401 Unauthorized", "", "")),
        ("it speaks the versions 2027-01-01 of the protocol, and not 2026-07-28", |got| {
            let error = json!({"code": -32_022, "message": "no", "data": {"supported": ["2027-01-01"]}});
            answer("400 Bad Request", JSON, json!({"jsonrpc": "2.0", "id": got.id(), "error": error}).to_string())
        }),
        ("a header is missing", |got| {
            let error = json!({"code": -32_020, "message": "a header is missing"});
            answer("400 Bad Request", JSON, json!({"jsonrpc": "2.0", "id": got.id(), "error": error}).to_string())
        }),
    ];
    for (why, refuse) in refusals {
        let (failed, stand) = listed(move |got| Some(refuse(got))).await;
        assert!(failed.as_ref().unwrap_err().to_string().contains(why), "{failed:?}");
        assert_eq!(methods(&stand), ["server/discover"], "{why}");
    }
}

/// It does not know `server/discover`, which it should, and has no handshake either.
#[tokio::test]
async fn a_server_without_a_handshake_is_asked_without_one() {
    let (tools, stand) = listed(|got| {
        let unsupported =
            json!({"jsonrpc": "2.0", "id": got.id(), "error": {"code": -32022, "message": "no handshake"}});
        match got.header("mcp-method") {
            None => Some(answer("400 Bad Request", JSON, unsupported.to_string())),
            Some(_) => None,
        }
    })
    .await;
    assert_eq!(tools.unwrap().len(), 7);
    assert_eq!(stand.seen().last().unwrap().header("mcp-protocol-version"), Some("2026-07-28"));
}

#[tokio::test]
async fn a_server_that_fails_has_a_fault_in_place_of_a_list() {
    type Bad = fn(&Got) -> Reply;
    let bad: [(&str, Bad); 5] = [
        ("401", |_| answer("401 Unauthorized", "", "")),
        ("no answer", |_| vec![Step::Hang]),
        ("closed", |_| vec![]),
        ("html", |_| answer("200 OK", "content-type: text/html\r\n", "<p>")),
        ("not a list", |got| json_answer(&json!({"jsonrpc": "2.0", "id": got.id(), "result": {"tools": 7}}))),
    ];
    for (name, reply) in bad {
        let (tools, _) = listed(move |got| Some(reply(got))).await;
        assert!(tools.is_err(), "{name}");
    }
}
