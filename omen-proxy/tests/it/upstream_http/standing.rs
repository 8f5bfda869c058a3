//! The stream for what the server says unasked, up to 2025-11-25.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use omen_proxy::Ended;
use serde_json::{Value, json};

use super::world::{Far, Got, JSON, Step, answer, event, result, send, short, stream};
use crate::http::world::until;

fn changed() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/resources/list_changed"})
}

fn gets(far: &Far) -> Vec<Got> {
    far.stand.seen().into_iter().filter(|got| got.method == "GET").collect()
}

#[tokio::test]
async fn what_the_server_says_unasked_reaches_the_client_and_back() {
    let mut far = Far::begun(|got| {
        let ask = json!({"jsonrpc": "2.0", "id": 5, "method": "ping"});
        (got.method == "GET").then(|| [stream(event(&changed())), vec![send(event(&ask)), Step::Hang]].concat())
    })
    .await;
    assert_eq!(far.client.value().await, changed());
    assert_eq!(far.client.value().await["id"], 5);
    far.client.send(r#"{"jsonrpc":"2.0","id":5,"result":{"roots":[]}}"#).await;
    until(|| far.stand.seen().iter().any(|got| got.body == r#"{"jsonrpc":"2.0","id":5,"result":{"roots":[]}}"#)).await;
    let (ended, _, _) = far.close().await;
    assert_eq!(ended, Ended::Client);
}

#[tokio::test]
async fn the_stream_is_opened_again_where_it_ended() {
    let opened = AtomicUsize::new(0);
    let mut far = Far::begun(move |got| {
        (got.method == "GET").then(|| match opened.fetch_add(1, Ordering::Relaxed) {
            0 => stream(format!("retry: 50\nid: 1\n{}", event(&changed()))),
            1 => answer("502 Bad Gateway", "", ""),
            2 => stream(format!("id: 2\n{}", event(&changed()))),
            _ => vec![Step::Hang],
        })
    })
    .await;
    assert_eq!((far.client.value().await, far.client.value().await), (changed(), changed()));
    until(|| gets(&far).len() == 4).await;
    let ids: Vec<_> = gets(&far).iter().map(|got| got.header("last-event-id").map(str::to_owned)).collect();
    assert_eq!(ids, [None, Some("1".to_owned()), Some("1".to_owned()), Some("2".to_owned())]);
    far.close().await;
}

#[tokio::test]
async fn a_stream_that_cannot_be_read_on_is_opened_anew() {
    let far = Far::begun_limited(
        |got| match (got.method.as_str(), got.header("last-event-id")) {
            ("GET", Some(_)) => Some(answer("400 Bad Request", "", "")),
            ("GET", None) => Some(stream(format!("id: 1\n{}", event(&changed())))),
            _ => None,
        },
        short(),
        "",
    )
    .await;
    until(|| gets(&far).len() >= 3).await;
    let ids: Vec<_> = gets(&far).iter().take(3).map(|got| got.header("last-event-id").is_some()).collect();
    assert_eq!(ids, [false, true, false]);
    far.close().await;
}

#[tokio::test]
async fn without_it_calls_are_answered_as_before() {
    for (status, tries) in [("405 Method Not Allowed", 1), ("500 Internal Server Error", 6), ("401 Unauthorized", 6)] {
        let mut far =
            Far::begun_limited(move |got| (got.method == "GET").then(|| answer(status, "", "")), short(), "").await;
        until(|| gets(&far).len() == tries).await;
        if tries > 1 {
            until(|| far.noted("gave up on the stream")).await;
        }
        assert_eq!(far.client.call(1, "write", json!({})).await["result"], result(&json!(1))["result"], "{status}");
        assert_eq!(gets(&far).len(), tries, "{status}");
        far.close().await;
    }
}

#[tokio::test]
async fn what_is_not_a_message_on_it_loses_the_session() {
    let twice = r#"data: {"jsonrpc":"2.0","method":"notifications/message","params":{"a":1,"a":2}}"#;
    let bad = [
        "data: hello\n\n".to_owned(),
        format!("{twice}\n\n"),
        event(&json!([changed()])),
        // A response on it answers nothing, wherever its id comes from.
        event(&result(&json!("omen-gate:1"))),
        event(&result(&json!(0))),
        event(&json!({"jsonrpc": "2.0", "id": 9, "error": {"code": 1, "message": "x"}})),
    ];
    for text in bad {
        let shown = text.clone();
        let far =
            Far::begun(move |got| (got.method == "GET").then(|| [stream(&text), vec![Step::Hang]].concat())).await;
        let (ended, _, stand) = far.end().await;
        assert!(matches!(ended, Ended::BadServer(_)), "{shown}: {ended:?}");
        assert_eq!(stand.ended().await.last().unwrap().method, "DELETE", "{shown}");
    }
}

#[tokio::test]
async fn a_flood_on_it_is_held_up_by_a_client_that_does_not_read() {
    let mut far = Far::begun(|got| {
        let message =
            json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x".repeat(1 << 10)}});
        (got.method == "GET").then(|| [stream(""), vec![Step::Flood(event(&message).into_bytes())]].concat())
    })
    .await;
    // The client reads one message, and then none for a while: what waits is bounded, and the session goes on.
    assert_eq!(far.client.value().await["method"], "notifications/message");
    tokio::time::sleep(Duration::from_millis(300)).await;
    far.client.send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
    while far.client.value().await["id"] != 1 {}
    far.close().await;
}

#[tokio::test]
async fn an_endless_event_on_it_loses_the_session() {
    let far = Far::begun(|got| {
        (got.method == "GET").then(|| [stream("data: "), vec![Step::Flood(vec![b'x'; 1 << 16])]].concat())
    })
    .await;
    assert!(matches!(far.end().await.0, Ended::BadServer(why) if why.contains("larger than the limit")));
}

#[tokio::test]
async fn a_session_that_is_gone_is_noticed_there_too() {
    let far = Far::begun(|got| (got.method == "GET").then(|| answer("404 Not Found", JSON, "{}"))).await;
    assert!(matches!(far.end().await.0, Ended::Server(why) if why.contains("404")));
}
