//! Ids and tokens that two servers, or a server and the client, choose alike.

use omen_proxy::Passage;
use serde_json::{Value, json};

use super::world::{Pair, initialize, proxy, result, until};
use crate::support::{End, refusal};

async fn both(passages: &[Passage]) -> (Pair, End, End) {
    let mut pair = Pair::new(proxy().pass(passages.iter().copied()));
    let (mut a, mut b) = (pair.server("a").await, pair.server("b").await);
    pair.client.send(initialize(0, json!({"roots": {}}))).await;
    for (name, end) in [("a", &mut a), ("b", &mut b)] {
        let asked = end.value().await;
        end.send(result(&asked, super::world::answer(name, &asked).unwrap())).await;
    }
    assert!(pair.client.value().await["result"].is_object());
    (pair, a, b)
}

#[tokio::test]
async fn requests_of_servers_have_ids_of_their_own_and_answers_find_back() {
    let (mut pair, mut a, mut b) = both(&[Passage::Roots]).await;
    let roots = r#"{"jsonrpc":"2.0","id":"r\u0031","method":"roots/list","params":{"_meta":{"progressToken":5}}}"#;
    let mut asked = Vec::new();
    for end in [&mut a, &mut b] {
        end.send(roots).await;
        asked.push(pair.client.value().await);
    }
    assert_ne!(asked[0]["id"], asked[1]["id"]);
    for asked in &asked {
        assert_eq!(asked["id"], asked["params"]["_meta"]["progressToken"]);
    }
    let progress = |n: usize| json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": asked[n]["id"], "progress": n}});
    pair.client.send(progress(1).to_string()).await;
    assert_eq!(b.value().await["params"], json!({"progressToken": 5, "progress": 1}));
    // In the other order.
    for (n, end) in [(1, &mut b), (0, &mut a)] {
        pair.client
            .send(json!({"jsonrpc": "2.0", "id": asked[n]["id"], "result": {"roots": [], "n": n}}).to_string())
            .await;
        let line = end.line().await.unwrap();
        assert!(line.contains(r#""id":"r\u0031""#) && line.contains(&format!(r#""n":{n}"#)), "{line}");
    }
    // A second answer, and progress after the end, reach nobody.
    pair.client.send(json!({"jsonrpc": "2.0", "id": asked[0]["id"], "result": {}}).to_string()).await;
    pair.client.send(progress(0).to_string()).await;
    until(|| pair.noted("dropped progress of the client") && pair.noted("answered a request that no server has made"))
        .await;
    pair.client
        .send(json!({"jsonrpc": "2.0", "id": 9, "method": "prompts/get", "params": {"name": "a__x"}}).to_string())
        .await;
    assert_eq!(a.value().await["method"], "prompts/get", "nothing came before it");
    pair.close().await;
}

#[tokio::test]
async fn a_server_takes_back_its_own_request_alone() {
    let (mut pair, mut a, mut b) = both(&[Passage::Roots]).await;
    for end in [&mut a, &mut b] {
        end.send(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#).await;
    }
    let (one, other) = (pair.client.value().await, pair.client.value().await);
    b.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"x"}}"#).await;
    let cancelled = pair.client.value().await;
    assert_eq!(cancelled["method"], "notifications/cancelled");
    let of_b = cancelled["params"]["requestId"].clone();
    assert!(of_b == one["id"] || of_b == other["id"]);
    let of_a = if of_b == one["id"] { &other } else { &one };
    pair.client.send(json!({"jsonrpc": "2.0", "id": of_a["id"], "result": {"roots": []}}).to_string()).await;
    assert_eq!(a.value().await["id"], 1);
    // One that it does not have.
    b.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#).await;
    b.send(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#).await;
    assert_eq!(pair.client.value().await["method"], "notifications/message");
    pair.close().await;
}

#[tokio::test]
async fn progress_and_cancellation_reach_the_server_of_the_request() {
    let (mut pair, mut a, mut b) = both(&[]).await;
    let get = |id: u64, name: &str| {
        json!({"jsonrpc": "2.0", "id": id, "method": "prompts/get", "params": {"name": name, "_meta": {"progressToken": "t"}}}).to_string()
    };
    pair.client.send(get(1, "b__x")).await;
    assert_eq!(b.value().await["id"], 1);
    let progress =
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1.50}}"#;
    // The token is that of a request to the other server.
    a.send(progress).await;
    until(|| pair.noted("no request of this server has its token")).await;
    b.send(progress).await;
    assert_eq!(pair.client.line().await.unwrap(), progress);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"x"}}"#;
    pair.client.send(cancel).await;
    assert_eq!(b.line().await.unwrap(), cancel);
    // The answer may come all the same; then its token is nobody's.
    b.send(r#"{"jsonrpc":"2.0","id":1,"result":{"late":true}}"#).await;
    assert_eq!(pair.client.value().await["result"]["late"], true);
    pair.client.send(get(1, "a__x")).await;
    assert_eq!(a.value().await["id"], 1);
    pair.close().await;
}

#[tokio::test]
async fn an_id_in_use_is_refused_and_a_list_can_be_cancelled() {
    let (mut pair, mut a, mut b) = both(&[]).await;
    let get = json!({"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": {"name": "a__x"}}).to_string();
    pair.client.send(&get).await;
    assert_eq!(a.value().await["id"], 1);
    pair.client.send(get.replace("a__x", "b__x")).await;
    let refused = pair.client.value().await;
    assert_eq!((refusal(&refused).as_str(), &refused["id"]), ("-32600", &Value::Null));
    for reserved in ["omen-gate:1", "omen-several:1"] {
        let refused = get.replace("\"id\":1", &format!("\"id\":\"{reserved}\""));
        pair.client.send(refused).await;
        assert_eq!(refusal(&pair.client.value().await), "-32600");
    }
    pair.client.send(json!({"jsonrpc": "2.0", "id": 2, "method": "prompts/list"}).to_string()).await;
    let (at_a, at_b) = (a.value().await, b.value().await);
    pair.client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#).await;
    for (end, asked) in [(&mut a, at_a), (&mut b, at_b)] {
        let cancelled = end.value().await;
        assert_eq!(
            (&cancelled["method"], &cancelled["params"]["requestId"]),
            (&json!("notifications/cancelled"), &asked["id"])
        );
    }
    // The id is free again.
    pair.client.send(json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}).to_string()).await;
    assert_eq!(pair.client.value().await, json!({"jsonrpc": "2.0", "id": 2, "result": {}}));
    pair.close().await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_is_recorded_and_its_id_is_free() {
    let (mut pair, _a, mut b) = both(&[]).await;
    pair.client
        .send(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "b__read"}}).to_string())
        .await;
    let call = super::world::up_to(&mut b, "b", "tools/call").await;
    pair.client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#).await;
    let cancelled = b.value().await;
    assert_eq!(cancelled["params"]["requestId"], call["id"]);
    pair.client.send(json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string()).await;
    assert_eq!(pair.client.value().await["id"], 1);
    let (_, log) = pair.close().await;
    let outcome = crate::support::entries(&log).into_iter().find(|entry| entry["kind"] == "outcome").unwrap();
    assert_eq!((&outcome["data"]["class"], &outcome["data"]["ran"]), (&json!("cancelled"), &json!("unknown")));
}
