//! Cancellation and progress.

use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::support::{End, World, entries, kinds, proxy, tools, within};

/// A server that lists its tools, and hands over the calls.
fn server_of_calls(mut server: End) -> (mpsc::UnboundedReceiver<Value>, mpsc::UnboundedSender<String>) {
    let (calls, received) = mpsc::unbounded_channel();
    let (send, mut to_send) = mpsc::unbounded_channel::<String>();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                Some(line) = to_send.recv() => server.send(line).await,
                line = server.line() => {
                    let Some(line) = line else { return };
                    let message: Value = serde_json::from_str(&line).unwrap();
                    let result = match message["method"].as_str() {
                        Some("initialize") => json!({"serverInfo": {}}),
                        Some("tools/list") => json!({"tools": tools()}),
                        _ => { let _ = calls.send(message); continue }
                    };
                    server.send(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string()).await;
                }
            }
        }
    });
    (received, send)
}

async fn next(received: &mut mpsc::UnboundedReceiver<Value>) -> Value {
    loop {
        let message = within(received.recv()).await.unwrap();
        if message["method"] != "notifications/initialized" {
            return message;
        }
    }
}

fn call(id: u64, tool: &str) -> String {
    let params = json!({"name": tool, "arguments": {}, "_meta": {"progressToken": id}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

#[tokio::test]
async fn a_call_that_is_cancelled_is_cancelled_at_the_server_and_recorded() {
    let (mut world, server) = World::with_server(proxy());
    let (mut calls, send) = server_of_calls(server);
    world.client.shake_hands(json!({})).await;
    world.client.send(call(7, "write")).await;
    let made = next(&mut calls).await;
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    world.client.send(cancel.to_string()).await;
    let cancelled = next(&mut calls).await;
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], made["id"]);
    // An answer that comes all the same is nobody's, also under an id that is used again.
    world.client.send(call(7, "read")).await;
    let second = next(&mut calls).await;
    let answer = |id: &Value, text: &str| {
        json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": text}]}}).to_string()
    };
    send.send(answer(&made["id"], "late")).unwrap();
    send.send(answer(&second["id"], "right")).unwrap();
    let got = world.client.value().await;
    assert_eq!((&got["id"], &got["result"]["content"][0]["text"]), (&json!(7), &json!("right")));
    let (_, log) = world.close().await;
    assert_eq!(kinds(&log), ["decision", "intent", "outcome", "decision", "intent", "outcome", "turn"]);
    let outcome = &entries(&log)[2]["data"];
    assert_eq!((&outcome["class"], &outcome["ran"]), (&json!("cancelled"), &json!("unknown")));
}

#[tokio::test]
async fn progress_passes_while_a_call_runs() {
    let (mut world, server) = World::with_server(proxy());
    let (mut calls, send) = server_of_calls(server);
    world.client.shake_hands(json!({})).await;
    world.client.send(call(1, "read")).await;
    let made = next(&mut calls).await;
    assert_eq!(made["params"]["_meta"]["progressToken"], 1);
    for n in 0..3 {
        let line = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":1, "progress":{n}.50}}}}"#
        );
        send.send(line.clone()).unwrap();
        assert_eq!(world.client.line().await.unwrap(), line);
    }
    let result = json!({"jsonrpc": "2.0", "id": made["id"], "result": {"content": []}});
    send.send(result.to_string()).unwrap();
    assert_eq!(world.client.value().await["id"], 1);
}

#[tokio::test]
async fn a_request_that_passes_is_cancelled_as_it_is() {
    let (mut world, server) = World::with_server(proxy());
    let (mut calls, send) = server_of_calls(server);
    world.client.shake_hands(json!({})).await;
    world.client.send(r#"{"jsonrpc":"2.0","id":"r","method":"resources/read"}"#).await;
    assert_eq!(next(&mut calls).await["id"], "r");
    world.client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"r"}}"#).await;
    assert_eq!(next(&mut calls).await["params"]["requestId"], "r");
    // Its answer may still come, and passes; the id is in use until then.
    world.client.send(r#"{"jsonrpc":"2.0","id":"r","method":"resources/read"}"#).await;
    let refused = world.client.value().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&Value::Null, &json!(-32_600)));
    send.send(r#"{"jsonrpc":"2.0","id":"r","result":{}}"#.to_owned()).unwrap();
    assert_eq!(world.client.value().await["id"], "r");
}

#[tokio::test]
async fn a_call_is_cancelled_before_it_is_made_too() {
    let (mut world, mut server) = World::with_server(proxy());
    let (asked, is_asked) = tokio::sync::oneshot::channel();
    let play = async {
        let initialize = server.value().await;
        server.send(json!({"jsonrpc": "2.0", "id": initialize["id"], "result": {"serverInfo": {}}}).to_string()).await;
        server.line().await.unwrap();
        // The gate asks for the list, and gets no answer before the cancellation.
        let list = server.value().await;
        assert_eq!(list["method"], "tools/list");
        asked.send(()).unwrap();
        let cancelled = server.value().await;
        assert_eq!(
            (&cancelled["method"], &cancelled["params"]["requestId"]),
            (&json!("notifications/cancelled"), &list["id"])
        );
        server.send(json!({"jsonrpc": "2.0", "id": list["id"], "result": {"tools": tools()}}).to_string()).await;
        server
    };
    let client = async {
        world.client.shake_hands(json!({})).await;
        world.client.send(call(1, "write")).await;
        is_asked.await.unwrap();
        world.client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#).await;
    };
    let (mut server, ()) = tokio::join!(play, client);
    world.client.send(r#"{"jsonrpc":"2.0","id":2,"method":"x"}"#).await;
    assert_eq!(server.value().await["method"], "x", "no call comes between");
    drop(server);
    let (_, log) = world.close().await;
    assert_eq!(kinds(&log), ["turn"]);
}
