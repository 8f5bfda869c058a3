//! Calls that a client's message asks for: what is judged is what is sent.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use omen_gate::plan::{Plan, PlanLimits, ToolCall};
use omen_gate::server::{Dispatch, ToolServer};
use omen_gate::tool::{Answer, Tool};
use omen_gate::{Blocked, Fault, GateCode};
use omen_mcp::CallToolRequest;
use omen_mcp::frame::Frame;
use omen_mcp::handshake::Era;
use serde_json::json;

use crate::gates::{tools, world, world_with};
use crate::support::turn;

/// Server that relays messages.
#[derive(Clone, Debug, Default)]
struct Relay(Arc<Mutex<Vec<String>>>);

const RESPONSE: &str =
    r#"{"jsonrpc":"2.0","id":7,"result":{"structuredContent":{"value" : 50,"key":"pool"},"content":[]}}"#;

#[async_trait]
impl ToolServer for Relay {
    async fn list(&self) -> Result<Vec<Tool>, Fault> {
        Ok(tools().await)
    }

    async fn call(&self, dispatch: Dispatch) -> Result<Answer, Fault> {
        let sent = dispatch.request().map(|request| request.frame().text().to_owned());
        self.0.lock().unwrap().extend(sent);
        dispatch.read_response(Frame::read(RESPONSE.into()).unwrap())
    }
}

fn message(params: &str) -> String {
    format!(r#"{{"id" : 1,"jsonrpc":"2.0","method":"tools/call","params":{params}}}"#)
}

fn request(params: &str) -> Arc<CallToolRequest> {
    let frame = Frame::read(message(params).into_bytes()).unwrap();
    Arc::new(CallToolRequest::read(frame, Era::Handshake).unwrap())
}

#[tokio::test]
async fn the_server_gets_the_message_that_was_judged_and_the_call_has_its_response() {
    let relay = Relay::default();
    let world = world_with("", relay.clone(), |builder| builder).await;
    let params = r#"{"arguments":{"key" : "\u0070ool"},"name":"get","more":1e3}"#;
    let call = world.gate.read_call(&"store".parse().unwrap(), &request(params)).unwrap();
    assert_eq!(call.args()["key"], "pool");
    let screened = world.gate.request(turn("turn_1"), "hello").screen().await.unwrap();
    let planned = screened.with_call(Ok(call.clone())).await.unwrap();
    assert!(call.response().is_none(), "nothing was sent");
    let answered = planned.conform().await.unwrap().authorize().await.unwrap().dispatch().await.unwrap();
    assert_eq!(answered.answer().structured_content, Some(json!({"key": "pool", "value": 50})));
    assert_eq!(*relay.0.lock().unwrap(), [message(params)]);
    assert_eq!(call.response().map(Frame::text), Some(RESPONSE));
    assert_eq!(world.entries().last().unwrap()["data"]["call"], call.hash().unwrap().to_string());
}

#[tokio::test]
async fn a_message_is_read_by_the_rules_of_plans_and_a_refusal_is_recorded() {
    let world = world("", |builder| builder).await;
    let read = |name: &str, args: &str| -> Result<ToolCall, Blocked> {
        let params = format!(r#"{{"name":{name},"arguments":{args}}}"#);
        world.gate.read_call(&"store".parse().unwrap(), &request(&params))
    };
    let deep = |levels: usize| format!("{{\"a\":{}1{}}}", "[".repeat(levels), "]".repeat(levels));
    let long = |bytes: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(bytes));
    let most = PlanLimits::default();
    let around = r#"{"type":"call_tool","server":"store","tool":"get","args":{"a":""}}"#.len();
    for (name, args) in [
        (r#""get""#, r#"{"key":"pool"}"#.to_owned()),
        (r#""g\u0065t""#, r#"{"key":"\u0070ool","n":1.5}"#.to_owned()),
        (r#""get""#, "[1]".to_owned()),
        (r#""get""#, "null".to_owned()),
        (r#""get""#, r#"{"n":9007199254740993}"#.to_owned()),
        (r#""get""#, r#"{"n":[{"m":0.1234567890123456789}]}"#.to_owned()),
        (r#""get""#, r#"{"n":-0}"#.to_owned()),
        (r#""g et""#, "{}".to_owned()),
        (r#""""#, "{}".to_owned()),
        (r#""get""#, deep(most.depth - 2)),
        (r#""get""#, deep(most.depth - 1)),
        (r#""get""#, long(most.bytes - around)),
        (r#""get""#, long(most.bytes - around + 1)),
    ] {
        let plan = format!(r#"{{"type":"call_tool","server":"store","tool":{name},"args":{args}}}"#);
        let planned = Plan::parse(&plan, &most).map(|plan| match plan {
            Plan::CallTool(call) => call,
            Plan::FinalAnswer(_) => panic!("{name}"),
        });
        assert_eq!(read(name, &args), planned, "{name} {}", omen_gate::bounded(&args));
    }
    let screened = world.gate.request(turn("turn_1"), "hello").screen().await.unwrap();
    let blocked = screened.with_call(read(r#""get""#, "[1]")).await.unwrap_err();
    assert_eq!(
        (blocked.code, blocked.message.as_str()),
        (GateCode::Pg1, "expected an object for `args`, found an array")
    );
    assert_eq!((world.kinds(), world.seen.lists()), (vec!["decision PG-1".to_owned()], 0));
}
