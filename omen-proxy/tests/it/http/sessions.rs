//! Sessions, up to 2025-11-25.

use serde_json::{Value, json};

use super::client::Wire;
use super::world::{Http, until};
use crate::support::{kinds, proxy, refusal};

#[tokio::test]
async fn a_session_is_judged_as_on_standard_streams() {
    let (http, seen) = Http::new(proxy()).await;
    let client = http.client.shake_hands(json!({})).await;
    let listed = client.ask(1, "tools/list", json!({})).await;
    assert_eq!((listed.status, listed.header("content-type")), (200, Some("text/event-stream")));
    let names: Vec<_> =
        listed.last()["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["read", "write", "ask", "ungranted", "typed"]);
    assert_eq!(client.call(2, "read", json!({"x": 1})).await["result"]["content"][0]["text"], r#"{"x":1}"#);
    for (id, tool, code) in [(3, "unlisted", "PG-3"), (4, "ask", "G3"), (5, "ungranted", "G1")] {
        assert_eq!(refusal(&client.call(id, tool, json!({})).await), code);
    }
    assert_eq!(seen.calls().len(), 1);
    let kinds = kinds(&http.stop().await);
    assert_eq!(kinds.iter().filter(|kind| *kind == "intent").count(), 1, "{kinds:?}");
    assert_eq!(kinds.last().unwrap(), "turn", "the end of the session is in the log");
}

#[tokio::test]
async fn bodies_pass_as_they_came() {
    let (http, seen) = Http::new(proxy()).await;
    let client = http.client.shake_hands(json!({})).await;
    let body = r#" {"params":{"x":99999999999999999999999,"y":1.0e2,"é":"\u00e9"}, "method":"no/such" ,"id": "\u0061","jsonrpc":"2.0","more":[]} "#;
    let reply = client.send("POST", "/mcp", body).await;
    assert_eq!(reply.last()["id"], "a");
    assert_eq!(seen.lines.lock().unwrap().last().unwrap(), body);
    // Line breaks end messages on standard streams, and stand between values only.
    let broken = "{\r\n  \"jsonrpc\": \"2.0\",\n\t\"id\": 2, \"method\": \"no/such\"\n}";
    client.send("POST", "/mcp", broken).await;
    assert_eq!(seen.lines.lock().unwrap().last().unwrap(), &broken.replace(['\r', '\n'], " "));
    http.stop().await;
}

#[tokio::test]
async fn sessions_have_servers_of_their_own_and_names_that_nobody_else_knows() {
    let mut http = Http::with_servers(proxy(), super::world::local(), Default::default()).await;
    let mut ids = Vec::new();
    let mut servers = Vec::new();
    for n in 0..2 {
        let client = http.client.clone();
        let asked = tokio::spawn(async move {
            client.ask(7, "initialize", json!({"protocolVersion": "2025-06-18", "capabilities": {}})).await
        });
        let mut server = http.server().await;
        let asks = server.value().await;
        let result = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": n}});
        server.send(json!({"jsonrpc": "2.0", "id": asks["id"], "result": result}).to_string()).await;
        let reply = asked.await.unwrap();
        assert_eq!(reply.json()["result"], result);
        ids.push(reply.header("mcp-session-id").unwrap().to_owned());
        servers.push(server);
    }
    assert!(ids[0] != ids[1] && ids.iter().all(|id| id.len() == 48));
    // The same id of a request in both; each answer reaches its own.
    let ask = |n: usize| {
        let client = http.client.clone().with("mcp-session-id", &ids[n]);
        tokio::spawn(async move { client.ask(1, "ping", json!({"n": n})).await.last() })
    };
    let asked = [ask(0), ask(1)];
    for (n, server) in servers.iter_mut().enumerate().rev() {
        assert_eq!(server.value().await["params"]["n"], n);
        server.send(json!({"jsonrpc": "2.0", "id": 1, "result": {"n": n}}).to_string()).await;
    }
    for (n, asked) in asked.into_iter().enumerate() {
        assert_eq!(asked.await.unwrap()["result"]["n"], n);
    }
    let log = http.stop().await;
    assert_eq!(kinds(&log), ["turn", "turn"]);
}

#[tokio::test]
async fn a_session_is_known_by_its_id_alone_and_ends_with_delete() {
    let (http, seen) = Http::new(proxy()).await;
    let client = http.client.shake_hands(json!({})).await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let before = seen.lines.lock().unwrap().len();
    for (status, wrong) in [
        (400, client.clone().without("mcp-session-id")),
        (404, client.clone().with("mcp-session-id", "0".repeat(48).as_str())),
        (404, client.clone().with("mcp-session-id", "")),
        (400, client.clone().also("mcp-session-id", "x")),
        (400, client.clone().with("mcp-protocol-version", "2025-06-18")),
        (400, client.clone().with("mcp-protocol-version", "2026-07-28")),
        (400, client.clone().with("mcp-protocol-version", "nonsense")),
    ] {
        assert_eq!(wrong.post(&ping).await.status, status, "{wrong:?}");
        assert_eq!(wrong.send("GET", "/mcp", "").await.status, status, "{wrong:?}");
        assert_eq!(wrong.send("DELETE", "/mcp", "").await.status, status, "{wrong:?}");
        let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
        assert_eq!(wrong.post(&cancelled).await.status, status, "{wrong:?}");
    }
    // A second handshake is not one.
    let again = client.ask(9, "initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {}})).await;
    assert_eq!((again.status, &again.json()["id"]), (400, &json!(9)));
    assert_eq!(seen.lines.lock().unwrap().len(), before, "the server has heard of it");
    assert_eq!(client.post(&ping).await.last()["result"], json!({}));
    assert_eq!(client.clone().without("mcp-protocol-version").post(&ping).await.status, 200);
    assert_eq!(client.send("DELETE", "/mcp", "").await.status, 204);
    assert_eq!(client.post(&ping).await.status, 404);
    assert_eq!(client.send("DELETE", "/mcp", "").await.status, 404);
    until(|| http.noted("session 1: ended: the client closed the session")).await;
    http.stop().await;
}

#[tokio::test]
async fn a_handshake_that_fails_is_no_session() {
    let mut http = Http::with_servers(proxy(), super::world::local(), Default::default()).await;
    let asks = || {
        let client = http.client.clone();
        tokio::spawn(async move { client.ask(1, "initialize", json!({"capabilities": {}})).await })
    };
    let asked = asks();
    let mut server = http.server().await;
    server.value().await;
    server.send(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}"#).await;
    let reply = asked.await.unwrap();
    assert_eq!((reply.json()["error"]["message"].as_str(), reply.header("mcp-session-id")), (Some("no"), None));
    assert_eq!(server.line().await, None, "its server is stopped");
    // A server that ends before it has answered.
    let client = http.client.clone();
    let asked = tokio::spawn(async move { client.ask(1, "initialize", json!({"capabilities": {}})).await });
    drop(http.server().await);
    let reply = asked.await.unwrap();
    assert!(reply.json()["error"]["message"].as_str().unwrap().contains("the server"), "{reply:?}");
    assert_eq!(reply.header("mcp-session-id"), None);
    http.stop().await;
}

#[tokio::test]
async fn what_the_server_says_unasked_comes_on_one_stream() {
    let mut http = Http::with_servers(proxy(), super::world::local(), Default::default()).await;
    let (client, mut server) = begun(&mut http).await;
    let notify = |n: u64| json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"n": n}}).to_string();
    // Before anybody listens, it waits.
    server.send(notify(0)).await;
    let mut standing = client.open("GET", "").await;
    assert_eq!((standing.reply.status, standing.reply.header("content-type")), (200, Some("text/event-stream")));
    assert_eq!(standing.event().await.unwrap().1["params"]["n"], 0);
    // While one request is open, it is taken for a part of that.
    let mut asked =
        client.open("POST", r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"progressToken":"p"}}}"#).await;
    server.value().await;
    server.send(notify(1)).await;
    assert_eq!(asked.event().await.unwrap().1["params"]["n"], 1);
    // Of several, progress says to which it belongs.
    let mut other = client.open("POST", r#"{"jsonrpc":"2.0","id":2,"method":"b"}"#).await;
    server.value().await;
    server.send(notify(2)).await;
    server
        .send(
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "p", "n": 3}})
                .to_string(),
        )
        .await;
    assert_eq!(standing.event().await.unwrap().1["params"]["n"], 2);
    assert_eq!(asked.event().await.unwrap().1["params"]["n"], 3);
    // A request of the server, and the client's answer.
    server.send(r#"{"jsonrpc":"2.0","id":"r","method":"ping"}"#).await;
    assert_eq!(standing.event().await.unwrap().1["method"], "ping");
    let roots = json!({"jsonrpc": "2.0", "id": "r", "result": {"roots": []}});
    assert_eq!(client.post(&roots).await.status, 202);
    assert_eq!(server.value().await, roots);
    for id in [2, 1] {
        server.send(json!({"jsonrpc": "2.0", "id": id, "result": {}}).to_string()).await;
    }
    assert_eq!((asked.event().await.unwrap().1["id"].clone(), asked.event().await), (json!(1), None));
    assert_eq!((other.event().await.unwrap().1["id"].clone(), other.event().await), (json!(2), None));
    // Another reader takes the place of the first.
    let mut newer = client.open("GET", "").await;
    assert_eq!(standing.event().await, None);
    server.send(notify(4)).await;
    assert_eq!(newer.event().await.unwrap().1["params"]["n"], 4);
    http.stop().await;
    assert_eq!(newer.event().await, None);
}

#[tokio::test]
async fn a_stream_is_read_on_after_its_connection_was_lost() {
    let mut http = Http::with_servers(proxy(), super::world::local(), Default::default()).await;
    let (client, mut server) = begun(&mut http).await;
    let mut asked =
        client.open("POST", r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"progressToken":1}}}"#).await;
    let first = asked.text().await.unwrap();
    let stream = first.strip_prefix("id: ").unwrap().strip_suffix("-0\ndata:").unwrap().to_owned();
    server.value().await;
    let progress = |n: u64| {
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "n": n}})
            .to_string()
    };
    server.send(progress(1)).await;
    let (id, event) = asked.event().await.unwrap();
    assert_eq!((id, &event["params"]["n"]), (Some(format!("{stream}-1")), &json!(1)));
    drop(asked);
    // The request goes on, and its answer waits.
    server.send(progress(2)).await;
    server.send(r#"{"jsonrpc":"2.0","id":1,"result":{"done":true}}"#).await;
    let resumed = client.clone().with("last-event-id", &format!("{stream}-1"));
    let reply = resumed.send("GET", "/mcp", "").await;
    let events = reply.events();
    assert_eq!((events.len(), &events[0]["params"]["n"], &events[1]["result"]["done"]), (2, &json!(2), &json!(true)));
    // Once more from the start.
    let from_start = client.clone().with("last-event-id", &format!("{stream}-0")).send("GET", "/mcp", "").await;
    assert_eq!(from_start.events().len(), 3);
    for (status, id) in
        [(410, format!("{stream}-9")), (410, "77-0".to_owned()), (400, "x".to_owned()), (400, "1-01".to_owned())]
    {
        assert_eq!(client.clone().with("last-event-id", &id).send("GET", "/mcp", "").await.status, status, "{id}");
    }
    // Another session does not read it.
    let other = tokio::spawn({
        let client = http.client.clone();
        async move { client.shake_hands(json!({})).await }
    });
    let mut second = http.server().await;
    shake(&mut second).await;
    let other = other.await.unwrap().with("last-event-id", &format!("{stream}-0"));
    let foreign = other.send("GET", "/mcp", "").await;
    assert!(foreign.status == 410 || foreign.events().is_empty(), "{foreign:?}");
    http.stop().await;
}

#[tokio::test]
async fn a_client_confirms_over_the_stream_of_its_call() {
    let (http, seen) = Http::new(proxy().elicitation(std::time::Duration::ZERO)).await;
    let client = http.client.shake_hands(json!({"elicitation": {}})).await;
    let mut call = client
        .open("POST", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"x":5}}}"#)
        .await;
    let question = call.event().await.unwrap().1;
    assert_eq!(question["method"], "elicitation/create");
    let yes =
        json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"confirm": true}}});
    assert_eq!(client.post(&yes).await.status, 202);
    assert_eq!(call.event().await.unwrap().1["result"]["content"][0]["text"], r#"{"x":5}"#);
    assert_eq!(seen.calls().len(), 1);
    // Another session cannot answer in its place.
    let mut call = client
        .open("POST", r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","arguments":{"x":6}}}"#)
        .await;
    let question = call.event().await.unwrap().1;
    let other = http.client.shake_hands(json!({})).await;
    let yes =
        json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"confirm": true}}});
    assert_eq!(other.post(&yes).await.status, 202);
    let no = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}});
    assert_eq!(client.post(&no).await.status, 202);
    assert_eq!((refusal(&call.event().await.unwrap().1).as_str(), seen.calls().len()), ("G3", 1));
    http.stop().await;
}

#[tokio::test]
async fn a_connection_serves_several_requests_also_at_once() {
    let (http, _) = Http::new(proxy()).await;
    let client = http.client.shake_hands(json!({})).await;
    let call =
        |id: u64| client.text("POST", "/mcp", &json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string());
    let mut wire = Wire::connect(client.address).await;
    wire.send(format!("{}{}", call(1), call(2))).await;
    for id in [1, 2] {
        assert_eq!(wire.reply().await.unwrap().last()["id"], id);
    }
    http.stop().await;
    assert!(wire.is_closed().await);
}

/// A session, and its server.
pub(crate) async fn begun(http: &mut Http) -> (super::client::Client, crate::support::End) {
    let client = http.client.clone();
    let begins = tokio::spawn(async move { client.shake_hands(json!({})).await });
    let mut server = http.server().await;
    shake(&mut server).await;
    (begins.await.unwrap(), server)
}

async fn shake(server: &mut crate::support::End) {
    let asks = server.value().await;
    assert_eq!(asks["method"], "initialize");
    let result = json!({"protocolVersion": asks["params"]["protocolVersion"], "capabilities": {}, "serverInfo": {}});
    server.send(json!({"jsonrpc": "2.0", "id": asks["id"], "result": result}).to_string()).await;
    let notified: Value = server.value().await;
    assert_eq!(notified["method"], "notifications/initialized");
}
