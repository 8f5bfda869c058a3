//! How sessions end: the outcome of every call that was made is in the log.

use std::time::Duration;

use omen_gate::mcp::ServerLimits;
use omen_proxy::Ended;
use serde_json::{Value, json};

use crate::support::{End, World, entries, kinds, proxy, refusal, tools, within};

/// Shakes hands, and brings a call to the server.
async fn with_call(world: &mut World, server: &mut End) -> Value {
    let play = async {
        loop {
            let message = server.value().await;
            let result = match message["method"].as_str().unwrap() {
                "initialize" => json!({"serverInfo": {}}),
                "tools/list" => json!({"tools": tools()}),
                "tools/call" => return message,
                _ => continue,
            };
            server.send(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string()).await;
        }
    };
    let client = async {
        world.client.shake_hands(json!({})).await;
        let params = json!({"name": "write", "arguments": {}});
        world
            .client
            .send(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string())
            .await;
    };
    tokio::join!(play, client).0
}

fn assert_outcome(log: &omen_gate::audit::store::Memory, class: &str, ran: &str) {
    assert_eq!(kinds(log), ["decision", "intent", "outcome", "turn"]);
    let outcome = &entries(log)[2]["data"];
    assert_eq!((&outcome["class"], &outcome["ran"]), (&json!(class), &json!(ran)));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_goes_leaves_a_call_with_an_outcome() {
    let (mut world, mut server) = World::with_server(proxy());
    with_call(&mut world, &mut server).await;
    let server = tokio::spawn(async move { while server.line().await.is_some() {} });
    let (ended, log) = world.close().await;
    assert_eq!(ended, Ended::Client);
    assert_outcome(&log, "cancelled", "unknown");
    // The server's input is closed.
    within(server).await.unwrap();
}

#[tokio::test]
async fn a_call_that_runs_when_the_client_closes_its_end_is_answered_if_it_ends_soon() {
    let (mut world, mut server) = World::with_server(proxy());
    let call = with_call(&mut world, &mut server).await;
    world.client.close().await;
    server.send(json!({"jsonrpc": "2.0", "id": call["id"], "result": {"content": []}}).to_string()).await;
    assert_eq!(world.client.value().await["id"], 1);
    drop(server);
    let (ended, log) = world.close().await;
    assert_eq!(ended, Ended::Client);
    assert_eq!(kinds(&log), ["decision", "intent", "outcome", "turn"]);
    assert_eq!(entries(&log)[2]["data"]["ran"], "yes");
}

/// A server that never answers the handshake ends the session within the limit of a start, and the client reads why.
#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_the_handshake_ends_the_start() {
    let limits = ServerLimits { start: Duration::from_secs(30), ..ServerLimits::default() };
    for says_something in [false, true] {
        let (mut world, mut server) = World::limited(proxy(), limits);
        let server = tokio::spawn(async move {
            let asked = server.value().await;
            assert_eq!(asked["method"], "initialize");
            if says_something {
                // A sign of life is not an answer.
                server
                    .send(json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}).to_string())
                    .await;
            }
            // Its input is closed in the end.
            while server.line().await.is_some() {}
        });
        let began = tokio::time::Instant::now();
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let request = json!({"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": params});
        world.client.send(request.to_string()).await;
        let mut answer = world.client.value().await;
        if says_something {
            answer = world.client.value().await;
        }
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("first"), &json!(-32603)));
        let why = "it did not answer `initialize` within 30 s (`list_timeout_seconds` in `[limits]`)";
        assert_eq!(answer["error"]["message"], format!("the server is gone: {why}"));
        assert!(began.elapsed() < Duration::from_secs(33), "{:?}", began.elapsed());
        let (ended, log) = world.close().await;
        assert_eq!(
            (ended.to_string(), ended.unquoted()),
            (format!("the server was stopped: {why}"), ended.to_string())
        );
        assert_eq!(kinds(&log), ["turn"]);
        within(server).await.unwrap();
    }
}

#[tokio::test]
async fn a_server_that_dies_leaves_calls_and_requests_with_an_answer() {
    let (mut world, mut server) = World::with_server(proxy());
    with_call(&mut world, &mut server).await;
    world.client.send(r#"{"jsonrpc":"2.0","id":"r","method":"resources/list"}"#).await;
    assert_eq!(server.value().await["id"], "r");
    drop(server);
    let (one, other) = (world.client.value().await, world.client.value().await);
    let (call, request) = if one["id"] == 1 { (one, other) } else { (other, one) };
    assert_eq!((refusal(&call), &call["result"]["structuredContent"]["ran"]), ("R3".to_owned(), &json!("unknown")));
    assert_eq!(refusal(&request), "-32603");
    let (ended, log) = world.close().await;
    assert_eq!(ended, Ended::Server("it closed its output".to_owned()));
    assert_outcome(&log, "died", "unknown");
}

#[tokio::test(start_paused = true)]
async fn a_proxy_that_is_asked_to_stop_lets_calls_end_for_some_time() {
    let (mut world, mut server) = World::with_server(proxy());
    let call = with_call(&mut world, &mut server).await;
    world.stop();
    server.send(json!({"jsonrpc": "2.0", "id": call["id"], "result": {"content": []}}).to_string()).await;
    assert_eq!(world.client.value().await["id"], 1);
    drop(server);
    assert_eq!(within(&mut world.proxy).await.unwrap(), Ended::Asked);

    let (mut world, mut server) = World::with_server(proxy());
    with_call(&mut world, &mut server).await;
    world.stop();
    assert_eq!(within(&mut world.proxy).await.unwrap(), Ended::Asked);
    assert_outcome(&world.log, "cancelled", "unknown");
    drop(server);
}

#[tokio::test]
async fn a_server_that_breaks_the_protocol_ends_the_session() {
    for (line, why) in [
        ("Server listening on port 80", "invalid JSON"),
        (r#"{"jsonrpc":"2.0","id":"unknown","result":{}}"#, "unknown request `unknown`"),
        (r#"{"jsonrpc":"2.0","id":"omen-gate:999","result":{}}"#, "unknown request `omen-gate:999`"),
        (r#"{"jsonrpc":"2.0","method":"notifications/x","params":{"a":1,"a":2}}"#, "duplicate field `a`"),
        (r#"[{"jsonrpc":"2.0","method":"notifications/x"}]"#, "batch"),
    ] {
        let (mut world, mut server) = World::with_server(proxy());
        with_call(&mut world, &mut server).await;
        server.send(line).await;
        assert_eq!(refusal(&world.client.value().await), "R3");
        let (ended, log) = world.close().await;
        let Ended::BadServer(said) = ended else { panic!("{ended:?}") };
        assert!(said.contains(why), "{said}");
        assert_outcome(&log, "malformed", "unknown");
    }
}

#[tokio::test]
async fn a_message_that_is_too_large_is_not_read_to_its_end() {
    let limits = ServerLimits { line_bytes: 10_000, ..ServerLimits::default() };
    let (mut world, mut server) = World::limited(proxy(), limits);
    let endless = vec![b'x'; 1 << 20];
    let mut to = world.client.to.take().unwrap();
    tokio::spawn(async move { tokio::io::AsyncWriteExt::write_all(&mut to, &endless).await });
    assert_eq!(world.client.value().await["error"]["code"], -32_600);
    assert!(matches!(within(&mut world.proxy).await.unwrap(), Ended::BadClient(_)));
    assert_eq!(server.line().await, None);

    let (mut world, mut server) = World::with_server(proxy());
    with_call(&mut world, &mut server).await;
    let mut to = server.to.take().unwrap();
    // It is not read to its end.
    tokio::spawn(async move { tokio::io::AsyncWriteExt::write_all(&mut to, &vec![b'x'; 2 << 20]).await });
    assert_eq!(refusal(&world.client.value().await), "R3");
    let (ended, log) = world.close().await;
    assert!(matches!(ended, Ended::BadServer(_)), "{ended:?}");
    assert_outcome(&log, "oversized", "yes");
}

#[tokio::test]
async fn half_a_frame_at_the_end_counts_for_nothing() {
    let (mut world, mut server) = World::with_server(proxy());
    let to = world.client.to.as_mut().unwrap();
    tokio::io::AsyncWriteExt::write_all(to, br#"{"jsonrpc":"2.0","id":1,"method":"x"}"#).await.unwrap();
    world.client.close().await;
    assert_eq!(server.line().await, None);
    let (ended, _) = world.close().await;
    assert_eq!(ended, Ended::Client);
}
