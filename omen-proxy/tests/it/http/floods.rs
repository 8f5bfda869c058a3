//! Too much, too long, too slow: memory stays bounded, and others go on.

use std::time::Duration;

use omen_mcp::http::server::{HttpLimits, Token};
use serde_json::json;

use super::client::Wire;
use super::sessions::begun;
use super::world::{Http, local, until};
use crate::support::proxy;

fn limits(change: impl FnOnce(&mut HttpLimits)) -> HttpLimits {
    let mut limits = HttpLimits::default();
    change(&mut limits);
    limits
}

#[tokio::test]
async fn sessions_are_few_and_one_that_ends_makes_room() {
    let (http, _) = Http::limited(proxy(), local(), limits(|limits| limits.sessions = 3)).await;
    let mut clients = Vec::new();
    for _ in 0..3 {
        clients.push(http.client.shake_hands(json!({})).await);
    }
    for _ in 0..50 {
        let reply = http.client.ask(0, "initialize", json!({"capabilities": {}})).await;
        assert_eq!((reply.status, reply.header("retry-after"), &reply.json()["id"]), (503, Some("5"), &json!(0)));
        assert_eq!(http.client.ask_modern(json!(1), "ping", json!({})).await.status, 503);
    }
    assert_eq!(clients[0].ask(1, "ping", json!({})).await.status, 200);
    assert_eq!(clients[1].send("DELETE", "/mcp", "").await.status, 204);
    until(|| http.noted("session 2: ended")).await;
    http.client.shake_hands(json!({})).await;
    http.stop().await;
}

/// A client that goes before the handshake has been answered leaves no session.
#[tokio::test]
async fn handshakes_that_nobody_waits_for_leave_nothing() {
    let mut http = Http::with_servers(proxy(), local(), limits(|limits| limits.sessions = 2)).await;
    for _ in 0..6 {
        let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
        let mut wire = Wire::connect(http.client.address).await;
        wire.send(http.client.text("POST", "/mcp", body)).await;
        let mut server = http.server().await;
        server.value().await;
        drop(wire);
        assert_eq!(server.line().await, None);
    }
    http.stop().await;
}

#[tokio::test]
async fn a_body_is_bounded_and_has_to_come() {
    let limits = limits(|limits| {
        limits.body = Duration::from_millis(80);
        limits.head = Duration::from_millis(80);
        limits.bodies = 1 << 20;
    });
    let (http, seen) = Http::limited(proxy(), local(), limits).await;
    let client = http.client.shake_hands(json!({})).await;
    let before = seen.lines.lock().unwrap().len();
    // 1 MiB, as the limit of a message is here.
    let most = 1 << 20;
    let ping = |bytes: usize| {
        let text = json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": ""}}).to_string();
        text.replace("\"x\":\"\"", &format!("\"x\":\"{}\"", "x".repeat(bytes - text.len())))
    };
    assert_eq!(client.send("POST", "/mcp", &ping(most)).await.status, 200);
    assert_eq!(seen.lines.lock().unwrap().len(), before + 1);
    assert_eq!(client.send("POST", "/mcp", &ping(most + 1)).await.status, 413);
    // Without a session, ids become longer, and no message too long for it.
    let meta = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":1},"x":"#;
    let (modern, _) = http.client.modern(&json!(1), "ping", json!({}));
    let text = ping(most + 2).replace("{\"x\":", meta);
    let text = text.replacen(&"x".repeat(text.len() - most), "", 1);
    for _ in 0..12 {
        assert_eq!((text.len(), modern.send("POST", "/mcp", &text).await.status), (most, 200));
    }
    let before = seen.lines.lock().unwrap().len() - 1;
    let head = |more: &str| client.text("POST", "/mcp", "").replace("content-length: 0\r\n", more);
    for (status, bytes) in [
        // It is not read to learn that it is too long.
        (413, head("content-length: 99999999999\r\n")),
        (413, head("transfer-encoding: chunked\r\n") + &format!("{:x}\r\n{}\r\n", 2 << 20, "x".repeat(2 << 20))),
        (408, head("content-length: 100\r\n") + "{\"jsonrpc\""),
        (408, head("transfer-encoding: chunked\r\n") + "5\r\n{\"jso\r\n"),
    ] {
        let mut wire = Wire::connect(client.address).await;
        wire.send(bytes).await;
        let reply = wire.reply().await;
        assert_eq!(reply.map(|reply| reply.status), Some(status));
    }
    // Half of a head, nothing at all, and nothing after a request.
    for bytes in ["POST /mcp HTTP/1.1\r\nhost: loc", "", "\r\n"] {
        let mut wire = Wire::connect(client.address).await;
        wire.send(bytes).await;
        while let Some(reply) = wire.reply().await {
            assert_eq!(reply.status, 408, "{bytes:?}");
        }
    }
    let mut wire = Wire::connect(client.address).await;
    wire.send(client.text("GET", "/nowhere", "")).await;
    assert_eq!(wire.reply().await.unwrap().status, 404);
    assert!(wire.is_closed().await);
    // A head without an end.
    let mut wire = Wire::connect(client.address).await;
    wire.send(format!("GET /mcp HTTP/1.1\r\nhost: localhost\r\nx: {}", "x".repeat(1 << 20))).await;
    if let Some(reply) = wire.reply().await {
        assert_eq!(reply.status, 431);
    }
    assert_eq!(seen.lines.lock().unwrap().len(), before + 1, "something else has reached the server");
    http.stop().await;
}

#[tokio::test]
async fn connections_that_say_nothing_do_not_keep_others_out() {
    let limits = limits(|limits| {
        limits.connections = 4;
        limits.head = Duration::from_millis(100);
    });
    let (http, _) = Http::limited(proxy(), local(), limits).await;
    let mut silent = Vec::new();
    for _ in 0..40 {
        silent.push(Wire::connect(http.client.address).await);
    }
    let client = http.client.shake_hands(json!({})).await;
    assert_eq!(client.ask(1, "ping", json!({})).await.status, 200);
    http.stop().await;
}

/// Anybody can send half of a head. A client with the token gets in, however many there are and however long they may take.
#[tokio::test]
async fn half_heads_keep_nobody_out() {
    let limits = limits(|limits| {
        limits.connections = 64;
        limits.waiting = 32;
        limits.head = Duration::from_secs(24 * 60 * 60);
    });
    let token = "0123456789abcdef0123456789abcdef";
    let access = local().token(Token::new(token.to_owned()).unwrap());
    let (http, _) = Http::limited(proxy(), access, limits).await;
    let mut halves = Vec::new();
    let half = async |halves: &mut Vec<Wire>| {
        let mut wire = Wire::connect(http.client.address).await;
        wire.send("POST /mcp HTTP/1.1\r\nhost: localhost\r\nx: ").await;
        halves.push(wire);
    };
    for _ in 0..128 {
        half(&mut halves).await;
    }
    let client = http.client.clone().with("authorization", &format!("Bearer {token}"));
    let client = client.shake_hands(json!({})).await;
    let mut standing = client.open("GET", "").await;
    assert_eq!(standing.reply.status, 200);
    for id in 1..=40 {
        half(&mut halves).await;
        half(&mut halves).await;
        assert_eq!(client.ask(id, "ping", json!({})).await.status, 200);
    }
    // What has a request is not closed for another one: its stream goes on.
    assert!(crate::support::within(halves[0].is_closed()).await, "the oldest was closed");
    assert!(tokio::time::timeout(Duration::ZERO, standing.text()).await.is_err(), "the stream is open");
    http.stop().await;
}

/// Without a token, anyone can send the head of a request and the body never. A client gets in, however many do, and however
/// long they may take.
#[tokio::test]
async fn bodies_that_do_not_come_keep_nobody_out() {
    let limits = limits(|limits| {
        limits.connections = 64;
        limits.waiting = 32;
        limits.bodies = 4 << 20;
        limits.body = Duration::from_secs(24 * 60 * 60);
    });
    let (http, _) = Http::limited(proxy(), local(), limits).await;
    let mut slow = Vec::new();
    let head = |more: &str| http.client.text("POST", "/mcp", "").replace("content-length: 0\r\n", more);
    let begin = async |slow: &mut Vec<Wire>| {
        for bytes in [
            head("content-length: 1000000\r\n") + "{\"jsonrpc\"",
            head("transfer-encoding: chunked\r\n") + "5\r\n{\"jso\r\n",
        ] {
            let mut wire = Wire::connect(http.client.address).await;
            wire.send(bytes).await;
            slow.push(wire);
        }
    };
    for _ in 0..64 {
        begin(&mut slow).await;
    }
    let client = http.client.shake_hands(json!({})).await;
    let mut standing = client.open("GET", "").await;
    for id in 1..=20 {
        begin(&mut slow).await;
        assert_eq!(client.ask(id, "ping", json!({"x": "x".repeat(100_000)})).await.status, 200);
    }
    assert!(crate::support::within(slow[0].is_closed()).await, "the oldest was closed");
    assert!(tokio::time::timeout(Duration::ZERO, standing.text()).await.is_err(), "the stream is open");
    http.stop().await;
}

/// With a token, who does not have it is answered before the body, and gone.
#[tokio::test]
async fn a_body_is_not_waited_for_without_the_token() {
    let limits = limits(|limits| {
        limits.connections = 8;
        limits.body = Duration::from_secs(24 * 60 * 60);
        limits.head = Duration::from_secs(24 * 60 * 60);
    });
    let token = "0123456789abcdef0123456789abcdef";
    let access = local().token(Token::new(token.to_owned()).unwrap());
    let (http, _) = Http::limited(proxy(), access, limits).await;
    let mut slow = Vec::new();
    for number in 0..40 {
        let length = if number % 2 == 0 { "content-length: 1000000\r\n" } else { "transfer-encoding: chunked\r\n" };
        let mut wire = Wire::connect(http.client.address).await;
        wire.send(http.client.text("POST", "/mcp", "").replace("content-length: 0\r\n", length)).await;
        assert_eq!(wire.reply().await.unwrap().status, 401);
        slow.push(wire);
    }
    let client = http.client.clone().with("authorization", &format!("Bearer {token}"));
    client.shake_hands(json!({})).await;
    for wire in &mut slow {
        assert!(crate::support::within(wire.is_closed()).await);
    }
    http.stop().await;
}

#[tokio::test]
async fn a_client_that_does_not_read_its_stream_is_cut_off_and_others_go_on() {
    let limits = limits(|limits| {
        limits.stall = Duration::from_millis(150);
        limits.kept = 256 << 10;
    });
    let mut http = Http::with_servers(proxy(), local(), limits).await;
    let (client, mut server) = begun(&mut http).await;
    let (other, mut other_server) = begun(&mut http).await;
    // It opens its stream, and never reads a byte of it.
    let mut deaf = Wire::connect(client.address).await;
    deaf.send(client.text("GET", "/mcp", "")).await;
    let floods = tokio::spawn(async move {
        let text = "x".repeat(64 << 10);
        for n in 0..400 {
            let params = json!({"n": n, "text": text});
            server
                .send(json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params}).to_string())
                .await;
        }
        server
    });
    // Another session goes on.
    let asked = tokio::spawn(async move { other.ask(1, "ping", json!({})).await });
    let id = other_server.value().await["id"].clone();
    other_server.send(json!({"jsonrpc": "2.0", "id": id, "result": {}}).to_string()).await;
    assert_eq!(asked.await.unwrap().status, 200);
    // And so does this one, once its reader is cut off: 25 MiB were said, of which 256 KiB are kept.
    let mut server = crate::support::within(floods).await.unwrap();
    let asked = tokio::spawn(async move { client.ask(1, "ping", json!({})).await });
    let id = server.value().await["id"].clone();
    server.send(json!({"jsonrpc": "2.0", "id": id, "result": {}}).to_string()).await;
    assert_eq!(asked.await.unwrap().status, 200);
    assert!(http.noted("messages that the client did not read"));
    http.stop().await;
}

/// A request that is lost because nobody listens is answered, so that the server does not wait for ever.
#[tokio::test]
async fn a_request_that_nobody_reads_is_answered_when_there_is_no_room() {
    let mut http = Http::with_servers(proxy(), local(), limits(|limits| limits.kept = 4 << 10)).await;
    let (client, mut server) = begun(&mut http).await;
    server.send(r#"{"jsonrpc":"2.0","id":"r","method":"ping"}"#).await;
    for _ in 0..20 {
        server
            .send(
                json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"x": "x".repeat(1_000)}})
                    .to_string(),
            )
            .await;
    }
    let answer = server.value().await;
    assert_eq!((&answer["id"], answer["error"].is_object()), (&json!("r"), true));
    let mut standing = client.open("GET", "").await;
    assert_eq!(standing.event().await.unwrap().1["method"], "notifications/message");
    http.stop().await;
}

#[tokio::test]
async fn a_stream_without_news_gives_a_sign_of_life() {
    let limits = limits(|limits| limits.keep_alive = Duration::from_millis(20));
    let mut http = Http::with_servers(proxy(), local(), limits).await;
    let (client, _server) = begun(&mut http).await;
    let mut standing = client.open("GET", "").await;
    assert_eq!(standing.text().await.unwrap(), ":");
    assert_eq!(standing.text().await.unwrap(), ":");
    // Without a session, a request that takes long becomes a stream.
    let (client, message) = http.client.modern(&json!(1), "a", json!({}));
    let asked = tokio::spawn(async move { client.open("POST", &message.to_string()).await });
    let mut server = http.server().await;
    let id = server.value().await["id"].clone();
    let mut stream = asked.await.unwrap();
    assert_eq!(stream.reply.header("content-type"), Some("text/event-stream"));
    assert_eq!(stream.text().await.unwrap(), ":");
    server.send(json!({"jsonrpc": "2.0", "id": id, "result": {}}).to_string()).await;
    assert_eq!(stream.event().await.unwrap().1["id"], 1);
    assert_eq!(stream.event().await, None);
    http.stop().await;
}
