//! What a server on streams lists, without a gate.

use std::time::Duration;

use omen_gate::Fault;
use omen_gate::mcp::ServerLimits;
use omen_proxy::Source;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex, split};

/// A server that answers each request as `reply` says.
async fn serve(end: DuplexStream, reply: fn(&Value) -> Value) {
    let (from, mut to) = split(end);
    let mut lines = BufReader::new(from).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        if message.get("id").is_some() {
            let mut answer = reply(&message);
            answer["jsonrpc"] = "2.0".into();
            answer["id"] = message["id"].clone();
            to.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
        }
    }
}

async fn listed(reply: fn(&Value) -> Value) -> Result<Vec<String>, Fault> {
    let source = Source::streams(ServerLimits::default(), move || {
        let (near, far) = duplex(1 << 16);
        tokio::spawn(serve(far, reply));
        let (output, input) = split(near);
        Ok((input, output))
    });
    let tools = source.list(Duration::from_secs(60)).await?;
    Ok(tools.iter().map(|tool| tool.name.to_string()).collect())
}

fn tool() -> Value {
    json!({"result": {"tools": [{"name": "read", "inputSchema": {"type": "object"}}]}})
}

fn refusal() -> Value {
    json!({"error": {"code": -32022, "message": "unsupported protocol version"}})
}

#[tokio::test]
async fn a_server_with_a_handshake_and_one_without_are_asked() {
    let with = |message: &Value| match message["method"].as_str() {
        Some("initialize") => json!({"result": {"protocolVersion": "2025-11-25", "capabilities": {}}}),
        _ if message["params"].get("_meta").is_none() => tool(),
        _ => refusal(),
    };
    assert_eq!(listed(with).await.unwrap(), ["read"]);
    let without = |message: &Value| match &message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] {
        Value::String(version) if version == "2026-07-28" => tool(),
        _ => refusal(),
    };
    assert_eq!(listed(without).await.unwrap(), ["read"]);
}

#[tokio::test]
async fn what_a_server_refuses_twice_is_the_first_reason() {
    let fault = listed(|message| match message["method"].as_str() {
        Some("initialize") => refusal(),
        _ => json!({"error": {"code": -32601, "message": "no such method"}}),
    });
    assert!(fault.await.unwrap_err().to_string().contains("unsupported protocol version"));
}
