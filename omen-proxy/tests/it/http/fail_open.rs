//! Tries to get past the gate over HTTP. Each carries a mark, and nothing with the mark may reach a server.

use serde_json::{Value, json};

use super::client::{Client, Wire};
use super::world::Http;
use crate::support::{kinds, proxy};

const MARK: &str = "FORBIDDEN";

fn call(name: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}","arguments":{{"x":"{MARK}"}}}}}}"#
    )
}

fn modern(name: &str) -> String {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    call(name).replace("\"arguments\"", &format!("{meta},\"arguments\""))
}

/// Bodies that a reader somewhere could take for a call that is allowed, or for one that was judged.
fn bodies() -> Vec<(&'static str, String)> {
    let with = |from: &str, to: &str| call("read").replacen(from, to, 1);
    vec![
        ("a tool that is not allowed", call("unlisted")),
        ("a tool in another form than the approved one", call("changed")),
        ("a tool without a grant", call("ungranted")),
        ("a tool that nobody confirms", call("ask")),
        ("a batch", format!("[{}]", call("read"))),
        ("a batch of two", format!("[{},{}]", call("read"), call("unlisted"))),
        ("a batch behind blanks", format!("\r\n\t [{}]", call("read"))),
        ("two messages", format!("{0}{0}", call("read"))),
        ("two messages on two lines", format!("{}\n{}", call("read"), call("unlisted"))),
        ("two messages, the first blank", format!("\n\n{}\n{}", call("unlisted"), call("read"))),
        ("a line break in a name", call("re\nad")),
        ("a line break that ends a string", with("\"read\"", &format!("\"read\n{}", call("unlisted")))),
        ("a carriage return in a name", call("unlisted\r")),
        ("a zero byte behind", format!("{}\0", call("unlisted"))),
        ("a byte order mark", format!("\u{feff}{}", call("read"))),
        ("a name twice", with("\"name\":\"read\"", "\"name\":\"read\",\"name\":\"unlisted\"")),
        ("a name twice, once escaped", with("\"name\":\"read\"", "\"name\":\"read\",\"n\\u0061me\":\"unlisted\"")),
        ("a method twice", with("\"method\":\"tools/call\"", "\"method\":\"ping\",\"method\":\"tools/call\"")),
        ("a method in another case", with("tools/call", "Tools/Call")),
        ("a method with a blank", with("tools/call", "tools/call ")),
        ("another method of tools", with("tools/call", "tools/run")),
        ("an id twice", with("\"id\":1", "\"id\":1,\"id\":2")),
        ("an id of the proxy", with("\"id\":1", "\"id\":\"omen-gate:1\"").replace("read", "unlisted")),
        ("no id", with("\"id\":1,", "")),
        ("a null id", with("\"id\":1", "\"id\":null")),
        ("an id that readers round", with("\"id\":1", "\"id\":9007199254740993")),
        ("parameters that are a list", with("{\"name\":\"read\"", "[{\"name\":\"read\"").replace("}}}", "}}]}")),
        ("arguments twice", with("\"arguments\"", "\"arguments\":{},\"arguments\"")),
        ("a response with a call in it", with("\"method\":\"tools/call\",\"params\"", "\"result\"")),
        ("a task", with("\"arguments\"", "\"task\":{},\"arguments\"")),
        ("resources that are subscribed to", with("tools/call", "resources/subscribe")),
        ("half of a call", call("read").split_at(90).0.to_owned()),
        ("nothing", String::new()),
    ]
}

/// What a server has read with the mark in it.
async fn reached(http: &Http, seen: &crate::support::Seen, client: &Client, body: &str) -> Vec<String> {
    // A response of whichever form, or none, within the time of a test.
    let reply = client.send("POST", "/mcp", body).await;
    assert!([200, 202, 400, 404, 409].contains(&reply.status), "{reply:?}");
    // What was sent before is handled before this.
    let ping = http.client.ask_modern(json!("after"), "ping", json!({})).await;
    assert_eq!(ping.status, 200);
    let lines = seen.lines.lock().unwrap();
    lines.iter().filter(|line| line.contains(MARK)).cloned().collect()
}

#[tokio::test]
async fn no_body_gets_past_the_gate_in_a_session() {
    let (http, seen) = Http::new(proxy()).await;
    for (what, body) in bodies() {
        let client = http.client.shake_hands(json!({"elicitation": {}})).await;
        assert_eq!(reached(&http, &seen, &client, &body).await, [""; 0], "{what}: {body}");
        // The session is in good order.
        let after = client.ask(77, "ping", json!({})).await;
        assert_eq!(after.last()["id"], 77, "{what}");
        assert_eq!(client.send("DELETE", "/mcp", "").await.status, 204);
    }
    assert!(!kinds(&http.stop().await).contains(&"intent".to_owned()));
}

#[tokio::test]
async fn no_body_gets_past_the_gate_without_a_session() {
    let (http, seen) = Http::new(proxy()).await;
    let (modern_client, _) = http.client.modern(&json!(1), "tools/call", json!({"name": "read"}));
    for (what, body) in bodies() {
        // As it is, without a session; and with what takes the place of a handshake.
        assert_eq!(reached(&http, &seen, &http.client, &body).await, [""; 0], "{what}: {body}");
        let meta = body.replacen(
            "\"arguments\"",
            &modern("read")
                .split("\"arguments\"")
                .next()
                .unwrap()
                .split("\"name\":\"read\",")
                .nth(1)
                .map(|meta| format!("{meta}\"arguments\""))
                .unwrap(),
            1,
        );
        for name in ["read", "unlisted"] {
            let client = modern_client.clone().with("mcp-name", name);
            assert_eq!(reached(&http, &seen, &client, &meta).await, [""; 0], "{what}: {meta}");
        }
    }
    // Headers that name an allowed tool, and a body that calls another one.
    for name in ["unlisted", "changed", "ungranted"] {
        let client = modern_client.clone().with("mcp-name", "read");
        assert_eq!(client.send("POST", "/mcp", &modern(name)).await.status, 400);
        assert_eq!(reached(&http, &seen, &client, &modern(name)).await, [""; 0]);
    }
    assert!(!kinds(&http.stop().await).contains(&"intent".to_owned()));
}

/// What stands between two readers of HTTP: where a request ends.
#[tokio::test]
async fn no_request_hides_in_another_one() {
    let (http, seen) = Http::new(proxy()).await;
    let client = http.client.shake_hands(json!({})).await;
    let hidden = client.text("POST", "/mcp", &call("read"));
    let head = |more: &str| client.text("POST", "/mcp", "").replace("content-length: 0\r\n", more);
    let body = r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#;
    let chunked = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    for (what, bytes) in [
        (
            "a length and chunks",
            format!("{}{chunked}{hidden}", head("content-length: 4\r\ntransfer-encoding: chunked\r\n")),
        ),
        (
            "two lengths",
            format!("{}{body}{hidden}", head(&format!("content-length: {}\r\ncontent-length: 0\r\n", body.len()))),
        ),
        (
            "a length that is a list",
            format!("{}{body}{hidden}", head(&format!("content-length: {}, 0\r\n", body.len()))),
        ),
        ("a length with a sign", format!("{}{body}{hidden}", head("content-length: +0\r\n"))),
        ("a negative length", format!("{}{body}{hidden}", head("content-length: -1\r\n"))),
        (
            "chunks that are not the last coding",
            format!("{}{chunked}{hidden}", head("transfer-encoding: chunked, identity\r\n")),
        ),
        ("an unknown coding", format!("{}{chunked}{hidden}", head("transfer-encoding: xchunked\r\n"))),
        ("a blank before the colon", format!("{}{body}{hidden}", head("content-length : 0\r\n"))),
        ("a folded header", format!("{}{body}{hidden}", head("x: y\r\n content-length: 0\r\n"))),
        ("a chunk with a negative size", format!("{}-1\r\n{hidden}", head("transfer-encoding: chunked\r\n"))),
        (
            "a chunk with an endless size",
            format!("{}fffffffffffffffff\r\n{hidden}", head("transfer-encoding: chunked\r\n")),
        ),
        ("a chunk with an extension", format!("{}5;x=\"\r\n{hidden}", head("transfer-encoding: chunked\r\n"))),
        ("a line feed in an extension", format!("{}5;x\n{hidden}", head("transfer-encoding: chunked\r\n"))),
        ("a chunk with a size in another form", format!("{}0x5\r\n{hidden}", head("transfer-encoding: chunked\r\n"))),
        ("chunks of an old protocol", {
            let head = head("transfer-encoding: chunked\r\n").replace("HTTP/1.1", "HTTP/1.0");
            format!("{head}{chunked}{hidden}")
        }),
        (
            "a line feed alone behind a length",
            format!("{}{hidden}", head(&format!("content-length: {}\r\nx: y\ncontent-length: 0\r\n", hidden.len()))),
        ),
        (
            "a line feed alone behind chunks",
            format!(
                "{}0\r\n\r\n{hidden}",
                head(&format!("content-length: {}\r\nx: y\ntransfer-encoding: chunked\r\n", hidden.len() + 5))
            ),
        ),
        ("a carriage return in a header", format!("{}{hidden}", head("x: y\rcontent-length: 0\r\n"))),
        ("a header with a zero byte", format!("{}{hidden}", head("x: \0\r\ncontent-length: 0\r\n"))),
        ("another protocol", format!("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n{hidden}")),
        ("an old protocol", head("").replace("HTTP/1.1", "HTTP/0.9") + &hidden),
    ] {
        let mut wire = Wire::connect(client.address).await;
        wire.send(bytes).await;
        // What is answered is refused, or is the outer request, read as RFC 9112 says; and the connection ends.
        while let Some(reply) = wire.reply().await {
            let is_outer = reply.status == 200 && reply.last()["id"] == 5;
            assert!((400..500).contains(&reply.status) || is_outer, "{what}: {reply:?}");
        }
        let lines = seen.lines.lock().unwrap();
        assert!(!lines.iter().any(|line| line.contains(MARK)), "{what}: {lines:?}");
    }
    assert!(!kinds(&http.stop().await).contains(&"intent".to_owned()));
}

/// A body is UTF-8, in its one form, whatever its headers say.
#[tokio::test]
async fn a_body_in_another_encoding_reaches_nobody() {
    let (http, seen) = Http::new(proxy()).await;
    let client = http.client.shake_hands(json!({})).await;
    let text = call("read");
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let (before, after) = text.as_bytes().split_at(text.find(MARK).unwrap());
    let with = |bytes: &[u8]| [before, bytes, after].concat();
    for (what, body) in [
        ("UTF-16", utf16.clone()),
        ("UTF-16 with a mark", [&b"\xFF\xFE"[..], &utf16].concat()),
        ("UTF-8 with a mark", [&b"\xEF\xBB\xBF"[..], text.as_bytes()].concat()),
        ("latin1", with(b"\xE9")),
        ("a long form of a quote", with(b"\xC0\xA2")),
        ("half of a pair", with(b"\xED\xA0\x80")),
        ("beyond Unicode", with(b"\xF4\x90\x80\x80")),
        ("a character that is not whole", with(b"\xE2\x80")),
    ] {
        let mut wire = Wire::connect(client.address).await;
        let head = client.text("POST", "/mcp", "");
        wire.send(head.replace("content-length: 0", &format!("content-length: {}", body.len()))).await;
        wire.send(&body).await;
        assert_eq!(wire.reply().await.unwrap().status, 400, "{what}");
    }
    for kind in
        ["application/json; charset=utf-16", "application/json; charset=latin1", "application/json; charset=utf-7"]
    {
        let reply = client.clone().with("content-type", kind).send("POST", "/mcp", &text).await;
        assert_eq!(reply.status, 415, "{kind}");
    }
    let twice = client.clone().also("content-type", "text/plain").send("POST", "/mcp", &text).await;
    assert_eq!(twice.status, 400);
    assert!(!seen.lines.lock().unwrap().iter().any(|line| line.contains(MARK)));
    http.stop().await;
}

/// Nobody answers, cancels or reads what belongs to another one.
#[tokio::test]
async fn no_session_has_a_hand_in_another_one() {
    let mut http = Http::with_servers(proxy(), super::world::local(), Default::default()).await;
    let (one, mut server) = super::sessions::begun(&mut http).await;
    let (other, mut other_server) = super::sessions::begun(&mut http).await;
    let mut asked = one.open("POST", r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#).await;
    server.value().await;
    server.send(r#"{"jsonrpc":"2.0","id":"r","method":"ping"}"#).await;
    assert_eq!(asked.event().await.unwrap().1["id"], "r");
    for message in [
        json!({"jsonrpc": "2.0", "id": "r", "result": {"roots": [MARK]}}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "reason": MARK}}),
    ] {
        assert_eq!(other.post(&message).await.status, 202);
        // Without a session there is nobody whose it could be.
        assert_eq!(http.client.post(&message).await.status, 400);
    }
    // The same id in the other session is another request.
    let theirs = tokio::spawn(async move { other.ask(1, "b", json!({})).await });
    let mut read = Vec::new();
    loop {
        let value: Value = other_server.value().await;
        read.push(value.clone());
        if value["method"] == "b" {
            break;
        }
    }
    other_server.send(r#"{"jsonrpc":"2.0","id":1,"result":{"for":"other"}}"#).await;
    assert_eq!(theirs.await.unwrap().last()["result"]["for"], "other");
    server.send(r#"{"jsonrpc":"2.0","id":1,"result":{"for":"one"}}"#).await;
    assert_eq!(asked.event().await.unwrap().1["result"]["for"], "one");
    // What the first server has read is what its own client has sent.
    http.stop().await;
    while let Some(line) = server.line().await {
        assert!(!line.contains(MARK), "{line}");
    }
}

#[tokio::test]
async fn an_id_that_is_in_use_is_refused_and_the_request_behind_it_goes_on() {
    let mut http = Http::with_servers(proxy(), super::world::local(), Default::default()).await;
    let (client, mut server) = super::sessions::begun(&mut http).await;
    let mut asked = client.open("POST", r#"{"jsonrpc":"2.0","id":"\u0031","method":"a"}"#).await;
    server.value().await;
    assert_eq!(client.send("POST", "/mcp", r#"{"jsonrpc":"2.0","id":"1","method":"b"}"#).await.status, 409);
    server.send(r#"{"jsonrpc":"2.0","id":"1","result":{}}"#).await;
    assert_eq!(asked.event().await.unwrap().1["result"], json!({}));
    // One that was given up is in use until its answer has come.
    let mut asked = client.open("POST", r#"{"jsonrpc":"2.0","id":2,"method":"a"}"#).await;
    server.value().await;
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}});
    assert_eq!(client.post(&cancelled).await.status, 202);
    assert_eq!(asked.event().await, None);
    assert_eq!(client.send("POST", "/mcp", r#"{"jsonrpc":"2.0","id":2,"method":"b"}"#).await.status, 409);
    http.stop().await;
}
