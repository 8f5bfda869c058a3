//! R3: every misbehaviour of a server is a fault, and always the same one.

use std::time::Duration;

use omen_gate::Fault;
use omen_gate::mcp::{ServerLimits, StdioServer};
use omen_gate::server::ToolServer as _;
use serde_json::{Value, json};

use super::hostile::{PIECE, hostile};
use super::{call, limits, start, until, within};
use crate::support::unguarded;

/// Fault of a call of a tool, and of the next call if the connection was closed.
async fn fails(tool: &str) -> (Fault, Option<Fault>) {
    let server = start(hostile("good")).await;
    let fault = call(&server, tool, json!({})).await.unwrap_err();
    (fault, call(&server, "echo", json!({})).await.err())
}

/// Asserts that the call failed, and the server continues.
#[track_caller]
fn alone(failed: (Fault, Option<Fault>)) -> Fault {
    assert_eq!(failed.1, None, "after {:?}", failed.0);
    failed.0
}

/// Asserts that the call failed, and the server is gone.
#[track_caller]
fn for_good(failed: (Fault, Option<Fault>)) -> Fault {
    assert!(matches!(failed.1, Some(Fault::Unreachable { .. })), "after {:?}: {:?}", failed.0, failed.1);
    failed.0
}

fn malformed(fault: &Fault, why: &str) -> bool {
    matches!(fault, Fault::Malformed { why: said } if said.contains(why))
}

#[tokio::test]
async fn an_answer_that_is_none_is_malformed() {
    // An answer that is not a tool result is the fault of its call alone.
    assert!(malformed(&alone(fails("hollow").await), "neither `content`"));
    assert!(malformed(&alone(fails("text").await), "expected a sequence"));
    // A message that belongs to no call ends the connection.
    assert!(malformed(&for_good(fails("garbage").await), "I have no idea"));
    assert!(malformed(&for_good(fails("half").await), "expected a request, a notification or a response"));
    assert!(malformed(&for_good(fails("stranger").await), "unknown request"));
    assert!(malformed(&for_good(fails("nobody").await), "what?"));
}

/// Answers with a repeated key: one parser reads a success, another one something else (D58).
pub(super) const DOUBLED: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":$id,"result":{"content":[],"isError":true,"isError":false}}"#,
    r#"{"jsonrpc":"2.0","id":$id,"result":{"content":[],"isError":true,"\u0069sError":false}}"#,
    r#"{"jsonrpc":"2.0","id":$id,"result":{"content":[],"structuredContent":{"n":2,"n":1}}}"#,
    r#"{"jsonrpc":"2.0","id":$id,"result":{"content":[],"structuredContent":{"a":[{"b":{"n":2,"\u006e":1}}]}}}"#,
    r#"{"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"no","text":"yes"}]}}"#,
    r#"{"jsonrpc":"2.0","id":$id,"result":{"isError":true,"content":[]},"result":{"content":[]}}"#,
    r#"{"jsonrpc":"2.0","id":$id,"error":{"code":-1,"message":"no","data":{"a":1,"a":1}}}"#,
    r#"{"result":{"content":[],"_meta":{"a":1,"a":1}},"id":$id,"jsonrpc":"2.0"}"#,
];

/// Frames with a repeated key that belong to no identifiable request.
const DOUBLED_FOR_NOBODY: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":$id,"id":$id,"result":{"content":[]}}"#,
    r#"{"jsonrpc":"2.0","id":1000,"\u0069d":$id,"result":{"content":[]}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","level":"error"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","method":"notifications/message"}"#,
    r#"{"jsonrpc":"2.0","id":$id,"method":"ping","params":{"_meta":[{"a":1,"a":1}]}}"#,
];

#[tokio::test]
async fn a_frame_with_a_repeated_key_is_malformed() {
    let server = start(hostile("good")).await;
    for frame in DOUBLED {
        let fault = call(&server, "raw", json!({ "frame": frame })).await.unwrap_err();
        assert!(malformed(&fault, "duplicate field `"), "{frame}: {fault:?}");
    }
    assert_eq!(server.exit(), None, "each of them is the fault of its call alone");
    let answer = call(&server, "echo", json!({"n": 1})).await.unwrap();
    assert_eq!(answer.structured_content, Some(json!({"n": 1})));
    for frame in DOUBLED_FOR_NOBODY {
        let server = start(hostile("good")).await;
        let fault = call(&server, "raw", json!({ "frame": frame })).await.unwrap_err();
        assert!(malformed(&fault, "duplicate field `"), "{frame}: {fault:?}");
        let next = call(&server, "echo", json!({})).await.unwrap_err();
        assert!(matches!(&next, Fault::Unreachable { why } if why.contains("duplicate field `")), "{frame}: {next:?}");
    }
}

#[tokio::test]
async fn a_list_or_a_handshake_with_a_repeated_key_is_malformed() {
    let server = start(hostile("doubled-list")).await;
    let fault = within(server.list()).await.unwrap_err();
    assert!(malformed(&fault, "duplicate field `name` in `/result/tools/0`"), "{fault:?}");
    call(&server, "echo", json!({})).await.unwrap();
    let fault = within(StdioServer::start(hostile("doubled-welcome"))).await.unwrap_err();
    assert!(malformed(&fault, "duplicate field `tools`"), "{fault:?}");
}

#[tokio::test]
async fn an_answer_that_is_repeated_ends_the_connection_after_the_first() {
    let server = start(hostile("good")).await;
    call(&server, "repeater", json!({})).await.unwrap();
    let before = server.revision();
    until("the repetition is seen", || server.exit().is_some()).await;
    assert!(server.revision() >= before);
    let next = call(&server, "echo", json!({})).await.unwrap_err();
    assert!(matches!(&next, Fault::Unreachable { why } if why.contains("unknown request")), "{next:?}");
}

#[tokio::test]
async fn an_error_of_the_protocol_is_a_refusal_and_its_text_is_bounded() {
    let Fault::Refused { code, message } = alone(fails("error").await) else { panic!() };
    assert_eq!(code, 9_000_000_000, "no code is cut");
    assert!(message.starts_with("no [2J!!!") && message.len() < 1_000, "{message}");
    let unknown = alone(fails("no-such-tool").await);
    assert_eq!(unknown, Fault::Refused { code: -32_602, message: "unknown tool".to_owned() });
    // The SDK would read this as the end of the connection.
    assert_eq!(alone(fails("closing").await), Fault::Refused { code: -32_603, message: "m".to_owned() });
}

#[tokio::test]
async fn a_server_that_dies_takes_the_open_calls_with_it() {
    assert_eq!(for_good(fails("die").await), Fault::Died { why: "exit status: 101".to_owned() });
    // Half a line is not an answer.
    assert_eq!(for_good(fails("torn").await), Fault::Died { why: "exit status: 0".to_owned() });

    let server = start(hostile("good")).await;
    let (one, two) = tokio::join!(call(&server, "hang", json!({})), call(&server, "die", json!({})));
    assert_eq!(one.unwrap_err(), two.unwrap_err());
}

#[tokio::test]
async fn an_answer_counts_even_if_the_server_dies_right_after_it() {
    for _ in 0..20 {
        let server = start(hostile("good")).await;
        let answer = call(&server, "hangup", json!({"n": 1})).await.unwrap();
        assert_eq!(answer.structured_content, Some(json!({"n": 1})));
    }
}

#[tokio::test]
async fn a_huge_answer_is_not_read_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let note = dir.path().join("taken");
    let limit = 1 << 20;
    let server = start(hostile("good").limits(ServerLimits { line_bytes: limit, ..limits() })).await;
    let fault = call(&server, "huge", json!({"note": note})).await.unwrap_err();
    assert_eq!(fault, Fault::Oversized { limit: limit as u64 });
    until("the server is killed", || server.exit().is_some()).await;
    assert_eq!(server.exit().unwrap(), "signal: 9 (SIGKILL)");
    // Bytes beyond the limit are in the pipe and in one buffer of ours.
    let taken = std::fs::read(note).unwrap().len() * PIECE;
    assert!((1..=limit + (256 << 10)).contains(&taken), "{taken} bytes of 100 MB were taken");
    let next = call(&server, "echo", json!({})).await.unwrap_err();
    assert!(matches!(&next, Fault::Unreachable { why } if why.contains("1048576 bytes")), "{next:?}");
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_cancelled_and_may_be_answered_late() {
    let server = start(hostile("good")).await;
    let mut hanging = Box::pin(server.call(unguarded("hang", json!({}))));
    let seen = tokio::select! {
        biased;
        answer = &mut hanging => panic!("{answer:?}"),
        seen = call(&server, "cancelled", json!({})) => seen.unwrap().structured_content.unwrap(),
    };
    assert_eq!(seen["hanging"].as_array().unwrap().len(), 1, "the call is open: {seen}");
    drop(hanging);
    // The server is notified, answers all the same, and the connection continues.
    let told = within(async {
        loop {
            let seen = call(&server, "cancelled", json!({})).await.unwrap().structured_content.unwrap();
            if !seen["cancelled"].as_array().unwrap().is_empty() {
                break seen;
            }
        }
    });
    let told = told.await;
    assert_eq!(told["cancelled"], told["hanging"]);
    call(&server, "echo", json!({})).await.unwrap();
}

#[tokio::test]
async fn a_list_ends_and_names_each_tool_once() {
    let list = async |role: &str| within(start(hostile(role)).await.list()).await;
    let names: Vec<_> = list("paged").await.unwrap().into_iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(names, ["tool-0", "tool-1", "echo"]);
    assert!(malformed(&list("endless").await.unwrap_err(), "more than 100 pages"));
    assert!(malformed(&list("twins").await.unwrap_err(), "duplicate tool `echo`"));
    assert_eq!(list("good").await.unwrap()[0].more["x-unknown"], json!([0]), "unknown members are kept");
}

#[tokio::test]
async fn a_list_that_changes_all_the_time_is_always_stale_and_never_an_error() {
    // Once before the handshake was answered, and once right after.
    let server = start(hostile("hasty")).await;
    assert!(server.revision() >= 1);
    until("the second change", || server.revision() == 2).await;
    call(&server, "changed", json!({})).await.unwrap();
    assert_eq!(server.revision(), 3, "a change is seen before the answer that follows it");

    let server = start(hostile("restless")).await;
    for n in 0..3 {
        assert_eq!(server.revision(), n);
        within(server.list()).await.unwrap();
    }
}

#[tokio::test]
async fn requests_of_the_server_are_refused_but_for_a_ping() {
    let server = start(hostile("good")).await;
    let codes = call(&server, "beg", json!({})).await.unwrap().structured_content.unwrap();
    let refused = -32_601;
    assert_eq!(
        codes,
        json!({
            "sampling/createMessage": refused, "roots/list": refused, "elicitation/create": refused,
            "who/knows": refused, "ping": null,
        })
    );
}

#[tokio::test]
async fn a_handshake_that_fails_says_why() {
    let fails = async |role: &str| {
        let start = if role == "mute" { Duration::from_millis(100) } else { limits().start };
        within(StdioServer::start(hostile(role).limits(ServerLimits { start, ..limits() }))).await.unwrap_err()
    };
    assert_eq!(fails("mute").await, Fault::Timeout { after: Duration::from_millis(100) });
    assert_eq!(fails("rude").await, Fault::Refused { code: -32_000, message: "go away".to_owned() });
    assert_eq!(fails("huge").await, Fault::Oversized { limit: 1 << 20 });
    assert!(malformed(&fails("chatty").await, "Server running on stdio"));
    assert!(malformed(&fails("vague").await, "missing field"));
    let Fault::Unreachable { why } = fails("ancient").await else { panic!() };
    assert!(why.contains("unsupported protocol version"), "{why}");
    let Fault::Unreachable { why } = fails("dead").await else { panic!() };
    assert!(why.contains("exit status: 7") && why.contains("I am not configured"), "{why}");
    let absent = within(StdioServer::start(omen_gate::mcp::Launch::new("/no/such/program"))).await.unwrap_err();
    assert!(matches!(&absent, Fault::Unreachable { why } if why.contains("could not be started")), "{absent:?}");
}

#[tokio::test]
async fn a_server_that_does_not_read_or_answer_is_not_fed_without_bound() {
    let server = start(hostile("deaf").limits(ServerLimits { unread_bytes: 1 << 20, ..limits() })).await;
    let long = json!({"text": "x".repeat(600 << 10)});
    tokio::select! {
        biased;
        answer = call(&server, "echo", long.clone()) => panic!("{answer:?}"),
        fault = call(&server, "echo", long) => {
            let Err(Fault::Unreachable { why }) = fault else { panic!("{fault:?}") };
            assert!(why.contains("is not reading"), "{why}");
        }
    }
    let fault = call(&server, "echo", json!({"text": "x".repeat(2 << 20)})).await.unwrap_err();
    assert!(matches!(&fault, Fault::Unreachable { why } if why.contains("larger than 1048576")), "{fault:?}");

    let server = start(hostile("patient").limits(ServerLimits { open_requests: 2, ..limits() })).await;
    let both = async { tokio::join!(call(&server, "hang", json!({})), call(&server, "hang", json!({}))) };
    tokio::select! {
        biased;
        _ = both => panic!("they hang"),
        fault = call(&server, "echo", json!({})) => {
            let Err(Fault::Unreachable { why }) = fault else { panic!("{fault:?}") };
            assert!(why.contains("unanswered"), "{why}");
        }
    }
    // Their callers are gone, so they take no room, although they are never answered.
    until_cancelled(&server, 2).await;
}

/// Waits until the server has received that many cancellations, and returns them.
async fn until_cancelled(server: &StdioServer, calls: usize) -> Value {
    within(async {
        loop {
            // Until the cancellations are written, the calls may still take the room.
            let Ok(seen) = call(server, "cancelled", json!({})).await else {
                tokio::task::yield_now().await;
                continue;
            };
            let seen = seen.structured_content.unwrap();
            if seen["cancelled"].as_array().unwrap().len() == calls {
                break seen;
            }
        }
    })
    .await
}

/// Starts a call, waits until the server has it, and drops it.
async fn cancel(server: &StdioServer) {
    let mut hanging = Box::pin(server.call(unguarded("hang", json!({}))));
    tokio::select! {
        biased;
        answer = &mut hanging => panic!("{answer:?}"),
        seen = call(server, "echo", json!({})) => drop(seen.unwrap()),
    }
}

async fn cancel_one_by_one(server: &StdioServer, calls: usize) {
    for cancelled in 1..=calls {
        cancel(server).await;
        until_cancelled(server, cancelled).await;
    }
}

#[tokio::test]
async fn cancelled_calls_that_are_never_answered_leave_a_server_that_can_be_reached() {
    let server = start(hostile("patient").limits(ServerLimits { open_requests: 3, ..limits() })).await;
    cancel_one_by_one(&server, 20).await;
    // Late answers: to 3 that are remembered and to 17 that are not.
    let answer = call(&server, "late", json!({"n": 1})).await.unwrap();
    assert_eq!(answer.structured_content, Some(json!({"n": 1})));
    call(&server, "echo", json!({})).await.unwrap();
    assert_eq!(server.exit(), None);
}

#[tokio::test]
async fn an_answer_to_what_was_never_asked_ends_the_connection_whatever_was_cancelled() {
    let server = start(hostile("patient").limits(ServerLimits { open_requests: 2, ..limits() })).await;
    cancel_one_by_one(&server, 5).await;
    let fault = call(&server, "stranger", json!({})).await.unwrap_err();
    assert!(malformed(&fault, "unknown request"), "{fault:?}");
}

#[tokio::test]
async fn pings_of_a_server_that_does_not_read_are_not_answered_without_bound() {
    // Their bytes alone would fit.
    let server = start(hostile("nagging").limits(ServerLimits { unread_bytes: 1 << 20, ..limits() })).await;
    until("all pings are seen", || server.revision() > 0).await;
    let fault = call(&server, "echo", json!({})).await.unwrap_err();
    assert!(matches!(&fault, Fault::Unreachable { why } if why.contains("is not reading")), "{fault:?}");
}
