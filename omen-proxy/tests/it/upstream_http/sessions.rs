//! Sessions up to 2025-11-25: how they begin, what is sent in them, and how they end.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use omen_proxy::Ended;
use serde_json::{Value, json};

use super::world::{
    Far, Got, JSON, Reply, SESSION, Stand, Step, answer, event, impatient, json_answer, result, send, short, stream,
};
use crate::http::world::until;
use crate::support::{entries, kinds};

/// The methods of all messages that were posted, and the session that each was posted in.
fn posted(stand: &Stand) -> Vec<(String, Option<String>)> {
    let name = |got: &Got| got.message["method"].as_str().unwrap_or(&got.method).to_owned();
    stand.seen().iter().map(|got| (name(got), got.header("mcp-session-id").map(str::to_owned))).collect()
}

#[tokio::test]
async fn a_session_has_the_id_and_the_version_of_the_server_to_its_end() {
    let mut far = Far::begun(|_| None).await;
    let answer = far.client.call(1, "write", json!({"x": "y"})).await;
    assert_eq!(answer["result"], result(&json!(1))["result"]);
    let (ended, log, stand) = far.close().await;
    assert_eq!(ended, Ended::Client);
    let own = Some(SESSION.to_owned());
    stand.ended().await;
    let mut posted = posted(&stand);
    posted.retain(|(method, _)| method != "GET");
    let methods: Vec<_> = posted.iter().map(|(method, _)| method.as_str()).collect();
    assert_eq!(methods.first(), Some(&"initialize"));
    assert_eq!(methods.get(1), Some(&"notifications/initialized"), "nothing overtakes it");
    assert_eq!(methods.last(), Some(&"DELETE"));
    assert!(posted[0].1.is_none() && posted[1..].iter().all(|(_, id)| *id == own), "{posted:?}");
    for got in &stand.seen()[1..] {
        assert_eq!(got.header("mcp-protocol-version"), Some("2025-11-25"));
        assert_eq!(got.target, "/mcp");
        let accept = if got.method == "GET" { "text/event-stream" } else { "application/json, text/event-stream" };
        assert!(got.method == "DELETE" || got.header("accept") == Some(accept), "{got:?}");
    }
    assert!(stand.seen()[0].header("mcp-protocol-version").is_none() && stand.seen()[0].header("mcp-method").is_none());
    let of_call: Vec<_> = kinds(&log).into_iter().filter(|kind| kind == "intent" || kind == "outcome").collect();
    assert_eq!(of_call, ["intent", "outcome"]);
}

#[tokio::test]
async fn connections_are_used_again_and_bytes_are_the_servers() {
    let text = r#"{"result":{"more":99999999999999999999999,  "content":[{"type":"text","text":"\u00e9é"}],"x":1.0e2},"jsonrpc":"2.0","id":ID}"#;
    let mut far = Far::begun(move |got| {
        got.is("tools/call").then(|| answer("200 OK", JSON, text.replace("ID", &got.id().to_string())))
    })
    .await;
    far.client
        .send(
            r#"{"jsonrpc":"2.0","id":"a\u0062","method":"tools/call","params":{"name":"write","arguments":{"x":1e2}}}"#,
        )
        .await;
    assert_eq!(far.client.line().await.unwrap(), text.replace("ID", r#""a\u0062""#));
    far.client.send(r#"{"jsonrpc":"2.0","id":"p","method":"resources/read","params":{"uri":"x","long":12345678901234567890123}}"#).await;
    assert_eq!(far.client.value().await["id"], "p");
    let (_, _, stand) = far.close().await;
    let seen = stand.seen();
    let read = seen.iter().find(|got| got.is("resources/read")).unwrap();
    assert_eq!(
        read.body,
        r#"{"jsonrpc":"2.0","id":"p","method":"resources/read","params":{"uri":"x","long":12345678901234567890123}}"#
    );
    let connections: std::collections::BTreeSet<_> = seen.iter().map(|got| got.connection).collect();
    assert!(connections.len() < seen.len(), "{connections:?}");
}

#[tokio::test]
async fn a_body_of_several_lines_is_one_message() {
    let mut far = Far::begun(|got| {
        let pretty = serde_json::to_string_pretty(&result(got.id())).unwrap();
        let lines: String = pretty.lines().map(|line| format!("data: {line}\r\n")).collect();
        match got.message["params"]["name"].as_str() {
            Some("write") => Some(answer("200 OK", JSON, pretty.replace('\n', "\r\n"))),
            Some("read") => Some(stream(format!("{lines}\r\n"))),
            _ => None,
        }
    })
    .await;
    for (id, tool) in [(1, "write"), (2, "read")] {
        let answer = far.client.call(id, tool, json!({})).await;
        assert_eq!((&answer["id"], &answer["result"]), (&json!(id), &result(&json!(id))["result"]));
    }
    far.close().await;
}

#[tokio::test]
async fn progress_comes_before_the_answer_and_the_servers_requests_are_answered() {
    let mut far = Far::begun(|got| {
        let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}});
        let roots = json!({"jsonrpc": "2.0", "id": "r", "method": "ping"});
        got.is("tools/call").then(|| {
            [stream(event(&progress)), vec![send(event(&roots)), Step::Wait(Duration::from_millis(100)), send(event(&result(got.id())))]].concat()
        })
    })
    .await;
    far.client
        .send(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "write"}}).to_string())
        .await;
    assert_eq!(far.client.value().await["method"], "notifications/progress");
    assert_eq!(far.client.value().await["method"], "ping");
    far.client.send(r#"{"jsonrpc":"2.0","id":"r","result":{"roots":[]}}"#).await;
    assert_eq!(far.client.value().await["result"], result(&json!(1))["result"]);
    until(|| far.stand.seen().iter().any(|got| got.body == r#"{"jsonrpc":"2.0","id":"r","result":{"roots":[]}}"#))
        .await;
    far.close().await;
}

#[tokio::test]
async fn a_session_that_the_server_has_ended_is_over() {
    let mut far = Far::begun(|got| got.is("tools/call").then(|| answer("404 Not Found", "", ""))).await;
    let refused = far.client.call(1, "write", json!({})).await;
    assert_eq!(refused["result"]["_meta"]["omen/decision"]["ran"], "unknown", "{refused}");
    let (ended, log, stand) = far.end().await;
    assert!(matches!(&ended, Ended::Server(why) if why.contains("404")), "{ended:?}");
    assert_eq!(entries(&log).iter().filter(|entry| entry["kind"] == "outcome").count(), 1);
    assert_eq!(stand.count("initialize"), 1, "a session is not begun behind the client's back");
}

#[tokio::test]
async fn a_server_that_changes_the_id_of_the_session_has_lost_it() {
    for headers in ["mcp-session-id: other\r\n", "mcp-session-id: 6d1e2f\r\nmcp-session-id: 6d1e2f\r\n"] {
        let script = move |got: &Got| {
            got.is("tools/call").then(|| answer("200 OK", &format!("{JSON}{headers}"), result(got.id()).to_string()))
        };
        let mut far = Far::begun(script).await;
        let refused = far.client.call(1, "write", json!({})).await;
        assert_eq!(refused["result"]["_meta"]["omen/decision"]["ran"], "unknown", "{refused}");
        assert!(matches!(far.end().await.0, Ended::BadServer(_)), "{headers}");
    }
}

#[tokio::test]
async fn a_handshake_that_cannot_be_read_begins_no_session() {
    type Bad = Box<dyn Fn(&Got) -> Reply + Send + Sync>;
    let shaken = |id: &Value| {
        json!({"jsonrpc": "2.0", "id": id, "result": {"protocolVersion": "2025-11-25", "capabilities": {},
            "serverInfo": {"name": "x", "version": "1"}}})
    };
    let long = format!("mcp-session-id: {}\r\n", "x".repeat(2000));
    let bad: Vec<Bad> = vec![
        Box::new(|_| answer("404 Not Found", "", "")),
        Box::new(|_| answer("405 Method Not Allowed", "", "")),
        Box::new(|_| answer("307 Temporary Redirect", "location: /other\r\n", "")),
        Box::new(move |got| answer("200 OK", &format!("{JSON}mcp-session-id: a b\r\n"), shaken(got.id()).to_string())),
        Box::new(move |got| {
            answer("200 OK", &format!("{JSON}mcp-session-id: a\r\nmcp-session-id: b\r\n"), shaken(got.id()).to_string())
        }),
        Box::new(move |got| answer("200 OK", &format!("{JSON}{long}"), shaken(got.id()).to_string())),
        Box::new(|_| json_answer(&json!({"jsonrpc": "2.0", "id": 99, "result": {}}))),
        Box::new(|got| {
            let mut odd = json!({"jsonrpc": "2.0", "id": got.id(), "result": {"protocolVersion": "x\u{0}"}});
            odd["result"]["capabilities"] = json!({});
            json_answer(&odd)
        }),
        Box::new(|_| vec![Step::Hang]),
    ];
    for (number, reply) in bad.into_iter().enumerate() {
        let script = move |got: &Got| got.is("initialize").then(|| reply(got));
        let mut far = Far::limited(script, impatient(), crate::support::config("")).await;
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}});
        let answer = far.client.ask(0, "initialize", params).await;
        assert!(answer["error"]["code"].is_number(), "{number}: {answer}");
        let answer = far.client.call(1, "write", json!({})).await;
        assert!(answer["error"]["message"].as_str().unwrap().contains("not initialized"), "{number}: {answer}");
        let (_, _, stand) = far.close().await;
        assert_eq!((stand.count("tools/call"), stand.count("tools/list")), (0, 0), "{number}");
    }
}

#[tokio::test]
async fn a_call_that_is_cancelled_is_cancelled_at_the_server_and_its_answer_is_dropped() {
    let mut far = Far::begun(|got| {
        got.is("tools/call").then(|| {
            [stream(":\n"), vec![Step::Wait(Duration::from_millis(300)), send(event(&result(got.id()))), Step::Hang]]
                .concat()
        })
    })
    .await;
    far.client
        .send(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "write"}}).to_string())
        .await;
    until(|| far.stand.count("tools/call") == 1).await;
    far.client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#).await;
    until(|| far.stand.count("notifications/cancelled") == 1).await;
    let seen = far.stand.seen();
    let call = seen.iter().find(|got| got.is("tools/call")).unwrap();
    let cancelled = seen.iter().find(|got| got.is("notifications/cancelled")).unwrap();
    assert_eq!(&cancelled.message["params"]["requestId"], call.id());
    // The id is free again, and the late answer is nobody's.
    let answer = far.client.ask(1, "ping", json!({})).await;
    assert_eq!((answer["id"].as_u64(), &answer["result"]), (Some(1), &json!({})));
    let (_, log, _) = far.close().await;
    let outcome = entries(&log).into_iter().find(|entry| entry["kind"] == "outcome").unwrap();
    assert_eq!(outcome["data"]["ran"], "unknown", "{outcome}");
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_read_on_and_the_call_is_not_sent_again() {
    let (opened, asked) = (AtomicUsize::new(0), Mutex::new(Value::Null));
    let mut far = Far::begun(move |got| match got.method.as_str() {
        "POST" if got.is("tools/call") => {
            asked.lock().unwrap().clone_from(got.id());
            let progress = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": got.id()}});
            Some(stream(format!("retry: 60\nid: one\n{}id: two\ndata:\n\n", event(&progress))))
        }
        "GET" if got.header("last-event-id") == Some("two") => match opened.fetch_add(1, Ordering::Relaxed) {
            0 => Some(answer("503 Service Unavailable", "", "")),
            1 => Some(stream("")),
            _ => Some(stream(event(&result(&asked.lock().unwrap())))),
        },
        _ => None,
    })
    .await;
    far.client
        .send(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "write"}}).to_string())
        .await;
    assert_eq!(far.client.value().await["method"], "notifications/message");
    assert_eq!(far.client.value().await["result"], result(&json!(1))["result"]);
    let (_, log, stand) = far.close().await;
    assert_eq!(stand.count("tools/call"), 1);
    let again: Vec<_> = stand.seen().into_iter().filter(|got| got.header("last-event-id").is_some()).collect();
    assert_eq!(again.len(), 3);
    assert!(again.iter().all(|got| got.header("mcp-session-id") == Some(SESSION) && got.body.is_empty()));
    assert_eq!(kinds(&log).iter().filter(|kind| **kind == "outcome").count(), 1);
}

#[tokio::test]
async fn a_stream_that_cannot_be_read_on_leaves_the_call_in_doubt() {
    for (again, status) in
        [("405 Method Not Allowed", 1), ("400 Bad Request", 1), ("503 Service Unavailable", 5), ("200 OK", 5)]
    {
        let mut far = Far::begun_limited(
            move |got| match got.method.as_str() {
                "POST" if got.is("tools/call") => Some(stream("id: one\ndata:\n\n")),
                "GET" if got.header("last-event-id").is_some() && again == "200 OK" => Some(stream("")),
                "GET" if got.header("last-event-id").is_some() => Some(answer(again, "", "")),
                _ => None,
            },
            short(),
            "",
        )
        .await;
        let refused = far.client.call(1, "write", json!({})).await;
        assert_eq!(refused["result"]["_meta"]["omen/decision"]["ran"], "unknown", "{again}: {refused}");
        let (_, _, stand) = far.close().await;
        assert_eq!(stand.count("tools/call"), 1, "{again}");
        let tried = stand.seen().iter().filter(|got| got.header("last-event-id").is_some()).count();
        assert_eq!(tried, status, "{again}");
    }
}

#[tokio::test]
async fn more_requests_than_are_allowed_are_not_sent() {
    let mut limits = short();
    limits.requests = 2;
    let mut far = Far::begun_limited(|got| got.is("resources/read").then(|| vec![Step::Hang]), limits, "").await;
    for id in 1..=3 {
        far.client
            .send(json!({"jsonrpc": "2.0", "id": id, "method": "resources/read", "params": {"uri": "x"}}).to_string())
            .await;
    }
    let refused = far.client.value().await;
    assert_eq!(refused["id"], 3);
    assert!(refused["error"]["message"].as_str().unwrap().contains("2 requests are already open"), "{refused}");
    let (_, _, stand) = far.close().await;
    assert_eq!(stand.count("resources/read"), 2);
}

#[tokio::test]
async fn a_server_without_sessions_has_none() {
    let mut far = Far::begun(|got| {
        let result =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}});
        got.is("initialize").then(|| json_answer(&json!({"jsonrpc": "2.0", "id": got.id(), "result": result})))
    })
    .await;
    assert_eq!(far.client.call(1, "write", json!({})).await["result"], result(&json!(1))["result"]);
    let (_, _, stand) = far.close().await;
    assert!(stand.seen().iter().all(|got| got.header("mcp-session-id").is_none() && got.method != "DELETE"));
    assert_eq!(stand.seen().last().unwrap().header("mcp-protocol-version"), Some("2025-06-18"));
}

#[tokio::test]
async fn a_proxy_that_is_stopped_in_mid_call_records_it_and_ends_the_session() {
    let mut far = Far::begun(|got| got.is("tools/call").then(|| vec![Step::Hang])).await;
    far.client
        .send(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "write"}}).to_string())
        .await;
    until(|| far.stand.count("tools/call") == 1).await;
    far.stop();
    let (ended, log, stand) = far.end().await;
    assert_eq!(ended, Ended::Asked);
    let outcome = entries(&log).into_iter().find(|entry| entry["kind"] == "outcome").unwrap();
    assert_eq!(outcome["data"]["ran"], "unknown");
    assert_eq!(stand.ended().await.last().unwrap().method, "DELETE");
}
