//! What goes wrong with a call: each is an error for the client and an outcome in the log, and no call is sent twice.

use std::time::Duration;

use omen_mcp::http::client::RemoteLimits;
use serde_json::{Value, json};

use super::world::{
    Far, Got, JSON, Reply, Stand, Step, answer, event, impatient, json_answer, result, send, short, stream,
};
use crate::support::{entries, kinds, within};

/// What the client, the log and the server have of a call that is answered in some way.
struct Seen {
    answer: Value,
    outcome: Value,
    calls: usize,
}

async fn called(name: &str, reply: impl Fn(&Got) -> Reply + Send + Sync + 'static) -> Seen {
    called_within(name, short(), reply).await
}

async fn called_within(
    name: &str,
    limits: RemoteLimits,
    reply: impl Fn(&Got) -> Reply + Send + Sync + 'static,
) -> Seen {
    let mut far = Far::begun_limited(move |got| got.is("tools/call").then(|| reply(got)), limits, "").await;
    let mut answer = far.client.call(7, "write", json!({"x": 1})).await;
    while answer.get("method").is_some() {
        answer = far.client.value().await;
    }
    assert_eq!(answer["id"], 7, "{name}: {answer}");
    let (_, log, stand) = within(far.close()).await;
    let entries = entries(&log);
    let outcomes: Vec<_> = entries.iter().filter(|entry| entry["kind"] == "outcome").collect();
    assert_eq!(outcomes.len(), 1, "{name}: {entries:?}");
    Seen { answer, outcome: outcomes[0].clone(), calls: stand.count("tools/call") }
}

/// The call was sent once, and whether it ran is unknown.
async fn in_doubt(name: &str, why: &str, reply: impl Fn(&Got) -> Reply + Send + Sync + 'static) {
    is_in_doubt(name, why, &called(name, reply).await);
}

fn is_in_doubt(name: &str, why: &str, seen: &Seen) {
    let decision = &seen.answer["result"]["_meta"]["omen/decision"];
    assert_eq!(
        (decision["code"].as_str(), decision["ran"].as_str()),
        (Some("R3"), Some("unknown")),
        "{name}: {}",
        seen.answer
    );
    assert!(decision["reason"].as_str().unwrap().contains(why), "{name}: {decision}");
    assert_eq!(seen.outcome["data"]["ran"], "unknown", "{name}: {}", seen.outcome);
    assert_eq!(seen.calls, 1, "{name}");
}

#[tokio::test]
async fn a_status_that_is_not_that_of_an_answer_leaves_in_doubt_whether_the_tool_ran() {
    for status in [
        "201 Created",
        "202 Accepted",
        "204 No Content",
        "206 Partial Content",
        "304 Not Modified",
        "400 Bad Request",
        "401 Unauthorized",
        "403 Forbidden",
        "405 Method Not Allowed",
        "406 Not Acceptable",
        "409 Conflict",
        "413 Payload Too Large",
        "415 Unsupported Media Type",
        "418 I'm a teapot",
        "429 Too Many Requests",
        "500 Internal Server Error",
        "502 Bad Gateway",
        "503 Service Unavailable",
        "504 Gateway Timeout",
    ] {
        in_doubt(status, &format!("HTTP {}", &status[..3]), move |_| answer(status, "", "")).await;
    }
    // Not even with a result.
    in_doubt("a result with 500", "HTTP 500", |got| {
        answer("500 Internal Server Error", JSON, result(got.id()).to_string())
    })
    .await;
    in_doubt("a result with 202", "HTTP 202", |got| answer("202 Accepted", JSON, result(got.id()).to_string())).await;
    let foreign = |_: &Got| {
        let error = json!({"jsonrpc": "2.0", "id": "omen-gate:99", "error": {"code": -1, "message": "x"}});
        answer("400 Bad Request", JSON, error.to_string())
    };
    in_doubt("an error for another request", "HTTP 400", foreign).await;
}

#[tokio::test]
async fn an_error_of_the_protocol_passes_whatever_its_status() {
    for status in ["200 OK", "400 Bad Request", "500 Internal Server Error"] {
        let seen = called(status, move |got| {
            let error = json!({"jsonrpc": "2.0", "id": got.id(), "error": {"code": -32602, "message": "no such tool"}});
            answer(status, JSON, error.to_string())
        })
        .await;
        let error = &seen.answer["error"];
        assert_eq!(error["code"], -32602, "{status}: {error}");
        assert!(error["message"].as_str().unwrap().contains("(-32602): no such tool"), "{status}: {error}");
        assert_eq!((seen.outcome["data"]["ran"].as_str(), seen.calls), (Some("unknown"), 1), "{status}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Stand::new(std::sync::Arc::new(|_| None)).await;
    for status in
        ["301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"]
    {
        let location = format!("location: http://{}/mcp\r\n", elsewhere.address);
        in_doubt(status, "redirects are not followed", move |_| answer(status, &location, "")).await;
    }
    assert!(elsewhere.seen().is_empty());
}

#[tokio::test]
async fn a_body_that_is_not_one_response_to_this_call_is_none() {
    in_doubt("html", "content type `text/html`", |_| answer("200 OK", "content-type: text/html\r\n", "<p>")).await;
    in_doubt("no type", "missing header `Content-Type`", |got| answer("200 OK", "", result(got.id()).to_string()))
        .await;
    in_doubt("two types", "repeated header", |got| {
        answer("200 OK", &format!("{JSON}{JSON}"), result(got.id()).to_string())
    })
    .await;
    in_doubt("latin1", "content type", |got| {
        answer("200 OK", "content-type: application/json; charset=latin1\r\n", result(got.id()).to_string())
    })
    .await;
    in_doubt("gzip", "content encoding `gzip`", |got| {
        answer("200 OK", &format!("{JSON}content-encoding: gzip\r\n"), result(got.id()).to_string())
    })
    .await;
    in_doubt("empty", "expected an object", |_| answer("200 OK", JSON, "")).await;
    in_doubt("no JSON", "expected an object", |_| answer("200 OK", JSON, "hello")).await;
    in_doubt("not UTF-8", "UTF-8", |_| answer("200 OK", JSON, b"{\"a\":\"\xFF\"}")).await;
    in_doubt("a batch", "batch", |got| answer("200 OK", JSON, json!([result(got.id())]).to_string())).await;
    in_doubt("two messages", "unexpected text", |got| {
        answer("200 OK", JSON, format!("{}{}", result(got.id()), result(got.id())))
    })
    .await;
    in_doubt("another id", "a response to another request", |_| json_answer(&result(&json!("omen-gate:1")))).await;
    in_doubt("the client's id", "a response to another request", |_| json_answer(&result(&json!(7)))).await;
    in_doubt("a number for a text", "invalid `id`", |_| json_answer(&result(&Value::Null))).await;
    in_doubt("a request", "not a response", |got| {
        json_answer(&json!({"jsonrpc": "2.0", "id": got.id(), "method": "ping"}))
    })
    .await;
    in_doubt("a notification", "not a response", |_| {
        json_answer(&json!({"jsonrpc": "2.0", "method": "notifications/message"}))
    })
    .await;
    in_doubt("a key twice", "duplicate field `id`", |got| {
        let id = got.id();
        answer("200 OK", JSON, format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"id\":{id},\"result\":{{\"content\":[]}}}}"))
    })
    .await;
    in_doubt("a key twice within", "duplicate field `content`", |got| {
        let id = got.id();
        answer(
            "200 OK",
            JSON,
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[],\"content\":[]}}}}"),
        )
    })
    .await;
    in_doubt("no content", "neither `content`", |got| {
        json_answer(&json!({"jsonrpc": "2.0", "id": got.id(), "result": {}}))
    })
    .await;
    in_doubt("a line break in a text", "control character", |got| {
        answer("200 OK", JSON, result(got.id()).to_string().replace("done", "do\nne"))
    })
    .await;
}

#[tokio::test]
async fn a_connection_that_breaks_in_mid_answer_leaves_the_call_in_doubt() {
    in_doubt("closed at once", "the connection broke", |_| vec![]).await;
    in_doubt("garbage", "the connection broke", |_| vec![send("hello\r\n\r\n")]).await;
    in_doubt("half a head", "the connection broke", |_| vec![send("HTTP/1.1 200 OK\r\ncontent-ty")]).await;
    in_doubt("half a body", "the answer was cut off", |_| {
        vec![send("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{\"jsonrpc\"")]
    })
    .await;
    in_doubt("half a chunk", "the answer was cut off", |_| {
        vec![send("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n40\r\n{")]
    })
    .await;
    in_doubt("a broken chunk", "the answer was cut off", |_| {
        vec![send("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{")]
    })
    .await;
    in_doubt("two lengths", "the connection broke", |_| {
        vec![send(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}",
        )]
    })
    .await;
    in_doubt("a length that is a list", "the connection broke", |_| {
        vec![send("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1, 2\r\n\r\n{}")]
    })
    .await;
    in_doubt("a folded header", "the connection broke", |got| {
        let body = result(got.id()).to_string();
        let length = body.len();
        vec![send(format!(
            "HTTP/1.1 200 OK\r\nx: y\r\n content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        ))]
    })
    .await;
    in_doubt("a carriage return in a header", "the connection broke", |got| {
        let body = result(got.id()).to_string();
        let length = body.len();
        vec![send(format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\rx: y\r\ncontent-length: {length}\r\n\r\n{body}"
        ))]
    })
    .await;
    in_doubt("an upgrade", "", |_| {
        vec![send("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n")]
    })
    .await;
}

#[tokio::test]
async fn a_stream_that_brings_no_answer_to_this_call_leaves_it_in_doubt() {
    in_doubt("an empty stream", "the stream ended before the answer", |_| stream("")).await;
    in_doubt("only progress", "the stream ended before the answer", |_| {
        stream(event(&json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})))
    })
    .await;
    in_doubt("half an event", "the stream ended before the answer", |got| {
        stream(event(&result(got.id())).trim_end_matches('\n'))
    })
    .await;
    in_doubt("another id", "a response to another request", |_| stream(event(&result(&json!("omen-gate:1"))))).await;
    in_doubt("garbage", "expected an object", |_| stream("data: hello\n\n")).await;
    in_doubt("an event of another type", "the stream ended before the answer", |got| {
        stream(format!("event: result\n{}", event(&result(got.id()))))
    })
    .await;
    in_doubt("latin1", "content type", |_| answer("200 OK", "content-type: text/event-stream; charset=latin1\r\n", ""))
        .await;
}

#[tokio::test]
async fn more_than_the_limits_is_not_read() {
    const HUGE: usize = 100 << 20;
    in_doubt("a body that says how long it is", "larger than 1048576 bytes", |_| {
        let head = format!("HTTP/1.1 200 OK\r\n{JSON}content-length: {HUGE}\r\n\r\n");
        vec![send(head), Step::Flood(vec![b'x'; 1 << 16])]
    })
    .await;
    in_doubt("a body that does not", "larger than 1048576 bytes", |_| {
        let head = format!("HTTP/1.1 200 OK\r\n{JSON}connection: close\r\n\r\n");
        vec![send(head), Step::Flood(vec![b' '; 1 << 16])]
    })
    .await;
    in_doubt("an endless event", "an event is larger than the limit", |_| {
        [stream("data: "), vec![Step::Flood(vec![b'x'; 1 << 16])]].concat()
    })
    .await;
    in_doubt("an event of endless lines", "an event is larger than the limit", |_| {
        [stream(""), vec![Step::Flood(b"data: 0123456789\n".repeat(1 << 10))]].concat()
    })
    .await;
    in_doubt("a long header", "the connection broke", |_| {
        answer("200 OK", &format!("{JSON}x: {}\r\n", "y".repeat(256 << 10)), "")
    })
    .await;
    in_doubt("many headers", "the connection broke", |_| answer("200 OK", &"x: y\r\n".repeat(500), "")).await;
    in_doubt("a long refusal", "HTTP 500", |_| {
        let head = format!("HTTP/1.1 500 Internal Server Error\r\n{JSON}content-length: {HUGE}\r\n\r\n");
        vec![send(head), Step::Flood(vec![b'x'; 1 << 16])]
    })
    .await;
}

#[tokio::test]
async fn what_does_not_come_is_not_waited_for() {
    let drip = |bytes: &str| -> Reply {
        bytes.bytes().flat_map(|byte| [send([byte]), Step::Wait(Duration::from_millis(100))]).collect()
    };
    async fn late(name: &str, why: &str, reply: impl Fn(&Got) -> Reply + Send + Sync + 'static) {
        is_in_doubt(name, why, &called_within(name, impatient(), reply).await);
    }
    late("nothing", "no answer within", |_| vec![Step::Hang]).await;
    late("a head that drips", "no answer within", move |_| drip("HTTP/1.1 200 OK\r\nx: yyyyyyyyyyyyyyyyy")).await;
    late("a body that drips", "no answer within", move |_| {
        let head = send(format!("HTTP/1.1 200 OK\r\n{JSON}content-length: 100\r\n\r\n"));
        [vec![head], drip("{\"jsonrpc\": \"2.0\", \"id\"")].concat()
    })
    .await;
    late("a silent stream", "no answer within", |_| [stream(":\n"), vec![Step::Hang]].concat()).await;
}

#[tokio::test]
async fn a_stream_of_comments_ends_with_the_time_of_the_call() {
    let script = |got: &Got| {
        let flood = || [stream(""), vec![Step::Flood(b": still here\n\n".repeat(1 << 10))]].concat();
        got.is("tools/call").then(flood)
    };
    let mut far = Far::begun_limited(script, short(), "[limits]\ncall_timeout_seconds = 1").await;
    let answer = far.client.call(1, "write", json!({})).await;
    assert_eq!(answer["result"]["_meta"]["omen/decision"]["ran"], "unknown", "{answer}");
    assert!(answer["result"]["_meta"]["omen/decision"]["reason"].as_str().unwrap().contains("no answer within 1s"));
    let (_, log, stand) = far.close().await;
    assert!(kinds(&log).contains(&"outcome".to_owned()), "{:?}", kinds(&log));
    assert_eq!(stand.count("tools/call"), 1);
}

#[tokio::test]
async fn of_two_answers_the_first_counts_and_the_second_is_dropped() {
    let mut far = Far::begun(|got| {
        let second =
            json!({"jsonrpc": "2.0", "id": got.id(), "result": {"content": [{"type": "text", "text": "other"}]}});
        got.is("tools/call").then(|| [stream(event(&result(got.id()))), vec![send(event(&second))]].concat())
    })
    .await;
    let answer = far.client.call(1, "write", json!({})).await;
    assert_eq!(answer["result"]["content"][0]["text"], "done");
    // The next call has nothing to do with it.
    let answer = far.client.call(2, "write", json!({})).await;
    assert_eq!((answer["id"].as_u64(), answer["result"]["content"][0]["text"].as_str()), (Some(2), Some("done")));
    crate::http::world::until(|| far.noted("dropped a message that the server sent after its answer")).await;
    let (_, log, _) = far.close().await;
    assert_eq!(kinds(&log).iter().filter(|kind| **kind == "outcome").count(), 2);
}

#[tokio::test]
async fn a_connection_that_was_not_made_shows_that_the_tool_did_not_run() {
    let mut far = Far::begun(|got| got.is("tools/call").then(Vec::new)).await;
    // Nobody listens there any more.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = gone.local_addr().unwrap();
    drop(gone);
    let answer = far.client.call(1, "write", json!({})).await;
    assert_eq!(answer["result"]["_meta"]["omen/decision"]["ran"], "unknown", "{answer}");
    let endpoint = omen_gate::config::Endpoint::new(&format!("http://{address}/"), false).unwrap();
    let mut far = Far::at(far.stand, &endpoint, short(), crate::support::config(""));
    let answer = far.client.ask(0, "initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {}})).await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("cannot be reached"), "{answer}");
    // The session goes on, and may be begun once the server is there.
    let answer = far.client.call(1, "write", json!({})).await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("not initialized"), "{answer}");
    let (_, log, _) = far.close().await;
    assert!(!kinds(&log).contains(&"intent".to_owned()));
}
