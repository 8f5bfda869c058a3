//! What a server lists, without a gate: for catalogues, and for new configurations.

use std::sync::Arc;
use std::time::Duration;

use omen_gate::Fault;
use omen_gate::mcp::ServerLimits;
use omen_gate::tool::Tool;
use omen_proxy::remote::Remote;
use omen_proxy::{Source, list};
use serde_json::json;

use super::world::{Got, JSON, Reply, Stand, Step, answer, event, impatient, json_answer, send, stream};
use crate::support::tools;

async fn listed(script: impl Fn(&Got) -> Option<Reply> + Send + Sync + 'static) -> (Result<Vec<Tool>, Fault>, Stand) {
    let stand = Stand::new(Arc::new(script)).await;
    let remote = Remote::new(&stand.endpoint(), ServerLimits::default(), impatient()).unwrap();
    (list(&Source::remote(remote.clone()), Duration::from_secs(60)).await, stand)
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
    assert_eq!(methods.first().map(String::as_str), Some("initialize"));
    assert!(!methods.contains(&"tools/call".to_owned()) && methods.contains(&"DELETE".to_owned()), "{methods:?}");
}

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
