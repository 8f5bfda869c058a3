//! Which server a message goes to, method by method.

use std::time::Duration;

use async_trait::async_trait;
use omen_gate::confirm::{Confirmer, Question, Reply};
use omen_proxy::{Ended, Passage};
use serde_json::{Value, json};

use super::world::{Pair, config, proxy, until};
use crate::support::{entries, kinds, refusal};

#[tokio::test]
async fn calls_go_to_the_server_of_their_prefix_under_the_tools_own_name() {
    let (mut pair, a, b) = Pair::begun(proxy()).await;
    for (id, name, text) in [(1, "a__read", r#"a {"x":1}"#), (2, "b__read", r#"b {"x":1}"#)] {
        let answer = pair.client.call(id, name, json!({"x": 1})).await;
        assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(id), &json!(text)));
    }
    assert_eq!((a.calls().len(), b.calls().len()), (1, 1));
    assert!(a.calls()[0].contains(r#""name":"read""#), "{:?}", a.calls());
    // What is allowed on one is not on the other.
    assert!(pair.client.call(3, "a__write", json!({})).await["result"].get("isError").is_none());
    assert_eq!(refusal(&pair.client.call(4, "b__write", json!({})).await), "PG-3");
    assert_eq!(b.calls().len(), 1);
    let (ended, log) = pair.close().await;
    assert_eq!(ended, Ended::Client);
    let intents: Vec<_> = entries(&log).into_iter().filter(|entry| entry["kind"] == "intent").collect();
    let tools: Vec<_> = intents.iter().map(|entry| entry["data"]["tool"].clone()).collect();
    assert_eq!(
        tools,
        [("a", "read"), ("b", "read"), ("a", "write")].map(|(server, tool)| json!({"server": server, "tool": tool}))
    );
    assert_eq!(kinds(&log).iter().filter(|kind| *kind == "turn").count(), 3, "two servers, and the client");
}

#[tokio::test]
async fn what_is_answered_keeps_its_bytes() {
    let (mut pair, mut b) = Pair::with_b(proxy(), super::world::limits()).await;
    let call = r#" {"params" : {"_meta":{"x":1.0e2},"arguments":{"x":[1.50,"\u00e9"]},"name":"b__re\u0061d"},"method":"tools/call","id": "\u0061","jsonrpc":"2.0","more":[]} "#;
    pair.client.send(call).await;
    let asked = loop {
        let line = b.line().await.unwrap();
        let value: Value = serde_json::from_str(&line).unwrap();
        if value["method"] == "tools/call" {
            break line;
        }
        b.send(super::world::result(&value, super::world::answer("b", &value).unwrap())).await;
    };
    let id = serde_json::from_str::<Value>(&asked).unwrap()["id"].to_string();
    let expected = call.replace(r#""b__re\u0061d""#, r#""read""#).replace(r#""\u0061""#, &id);
    assert_eq!(asked, expected);
    let answer = r#"{"result" : {"content":[], "n":123456789012345678901234567890, "z":1,"a":"\u00e9"},"jsonrpc":"2.0", "id":ID}"#;
    b.send(answer.replace("ID", &id)).await;
    assert_eq!(pair.client.line().await.unwrap(), answer.replace("ID", r#""\u0061""#));
    // So does what no call is.
    let read = r#"{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"a":1.0e9,"name":"b__hello","b":[ ]}}"#;
    pair.client.send(read).await;
    assert_eq!(b.line().await.unwrap(), read.replace("b__hello", "hello"));
    let answer = r#"{"jsonrpc":"2.0" ,"id":7,"result":{"messages":[],"name":"hello","n":1.000}}"#;
    b.send(answer).await;
    assert_eq!(pair.client.line().await.unwrap(), answer);
    pair.close().await;
}

#[tokio::test]
async fn requests_about_one_server_reach_that_one() {
    let (mut pair, a, b) = Pair::begun(proxy().pass([Passage::Subscriptions])).await;
    let mut id = 0;
    let completion = |reference: Value| json!({"ref": reference, "argument": {"name": "n", "value": "v"}});
    for (method, params, by, as_seen) in [
        ("prompts/get", json!({"name": "a__hello"}), "a", json!({"name": "hello"})),
        ("prompts/get", json!({"name": "b__x__y"}), "b", json!({"name": "x__y"})),
        ("resources/read", json!({"uri": "a://own"}), "a", json!({"uri": "a://own"})),
        ("resources/read", json!({"uri": "b://t/7"}), "b", json!({"uri": "b://t/7"})),
        ("resources/subscribe", json!({"uri": "b://own"}), "b", json!({"uri": "b://own"})),
        ("resources/unsubscribe", json!({"uri": "b://own"}), "b", json!({"uri": "b://own"})),
        (
            "completion/complete",
            completion(json!({"type": "ref/prompt", "name": "b__hello"})),
            "b",
            completion(json!({"type": "ref/prompt", "name": "hello"})),
        ),
        (
            "completion/complete",
            completion(json!({"type": "ref/resource", "uri": "a://t/{n}"})),
            "a",
            completion(json!({"type": "ref/resource", "uri": "a://t/{n}"})),
        ),
    ] {
        id += 1;
        let answer = pair.client.ask(id, method, params).await;
        assert_eq!(answer["id"], id);
        assert_eq!(answer["result"], json!({"by": by, "method": method, "params": as_seen}), "{answer}");
    }
    let count = |seen: &crate::support::Seen, method: &str| {
        seen.lines.lock().unwrap().iter().filter(|line| line.contains(&format!("\"{method}\""))).count()
    };
    assert_eq!((count(&a, "prompts/get"), count(&b, "prompts/get")), (1, 1));
    // The resources of each were listed once.
    assert_eq!((count(&a, "resources/list"), count(&b, "resources/templates/list")), (1, 1));
    pair.close().await;
}

#[tokio::test]
async fn what_is_for_all_reaches_all_and_ping_nobody() {
    let (mut pair, a, b) = Pair::begun(proxy()).await;
    assert_eq!(pair.client.ask(1, "logging/setLevel", json!({"level": "error"})).await["result"], json!({}));
    assert_eq!(pair.client.ask(2, "ping", json!({})).await, json!({"jsonrpc": "2.0", "id": 2, "result": {}}));
    pair.client.send(r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#).await;
    let has =
        |seen: &crate::support::Seen, text: &str| seen.lines.lock().unwrap().iter().any(|line| line.contains(text));
    for seen in [&a, &b] {
        until(|| has(seen, "roots/list_changed")).await;
        assert!(has(seen, "setLevel") && has(seen, "notifications/initialized") && !has(seen, "ping"));
    }
    pair.close().await;
}

#[tokio::test]
async fn what_names_no_server_is_refused_with_a_reason() {
    let (mut pair, a, b) = Pair::begun(proxy()).await;
    let before = (a.lines.lock().unwrap().len(), b.lines.lock().unwrap().len());
    for (id, method) in
        (1..).zip(["x/y", "tasks/get", "roots/list", "Tools/call", "tools/call ", "notifications/initialized"])
    {
        let answer = pair.client.ask(id, method, json!({"name": "a__read"})).await;
        assert_eq!((refusal(&answer).as_str(), &answer["id"]), ("-32601", &json!(id)));
        assert!(answer["error"]["message"].as_str().unwrap().contains("nothing in it says which one"), "{answer}");
    }
    for method in ["notifications/x", "logging/setLevel"] {
        pair.client.send(json!({"jsonrpc": "2.0", "method": method}).to_string()).await;
        until(|| pair.noted(&format!("dropped the notification `{method}`"))).await;
    }
    assert_eq!((a.lines.lock().unwrap().len(), b.lines.lock().unwrap().len()), before);
    pair.close().await;
}

/// Says no, and keeps what it was shown.
#[derive(Debug)]
struct AsksNobody(std::sync::Arc<std::sync::Mutex<Vec<String>>>);

#[async_trait]
impl Confirmer for AsksNobody {
    async fn confirm(&self, question: &Question) -> Reply {
        self.0.lock().unwrap().push(question.tool.to_string());
        Reply::Denied { why: "the test says no".to_owned() }
    }
}

#[tokio::test]
async fn a_confirmation_shows_the_servers_own_name() {
    let shown = std::sync::Arc::default();
    let (mut pair, _, b) = Pair::begun(proxy().confirmer(AsksNobody(std::sync::Arc::clone(&shown)))).await;
    assert_eq!(refusal(&pair.client.call(1, "b__ask", json!({})).await), "G3");
    assert_eq!((shown.lock().unwrap().clone(), b.calls().len()), (vec!["b/ask".to_owned()], 0));
    pair.close().await;
}

#[tokio::test(start_paused = true)]
async fn the_clients_user_confirms_calls_of_both_servers() {
    let mut pair = Pair::new(proxy().elicitation(Duration::from_secs(1)));
    for name in ["a", "b"] {
        let end = pair.server(name).await;
        tokio::spawn(super::world::serve(name, end, Default::default()));
    }
    pair.client.shake_hands(json!({"elicitation": {}})).await;
    let mut ids = Vec::new();
    for (id, name) in [(1, "a"), (2, "b")] {
        let call = json!({"name": format!("{name}__ask"), "arguments": {}});
        let asked = pair.client.ask(id, "tools/call", call).await;
        assert_eq!(asked["method"], "elicitation/create");
        let message = asked["params"]["message"].as_str().unwrap();
        assert!(message.contains(&format!("Tool: {name}/ask")), "{message}");
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        let yes = json!({"action": "accept", "content": {"confirm": true}});
        pair.client.send(json!({"jsonrpc": "2.0", "id": asked["id"], "result": yes}).to_string()).await;
        let answer = pair.client.value().await;
        assert_eq!(
            (&answer["id"], &answer["result"]["content"][0]["text"]),
            (&json!(id), &json!(format!("{name} {{}}")))
        );
        ids.push(asked["id"].clone());
    }
    assert_ne!(ids[0], ids[1]);
    pair.close().await;
}

#[tokio::test]
async fn a_session_has_one_budget_whatever_server_it_calls() {
    let proxy = omen_proxy::Proxy::builder(config("[budget]\nsession_calls = 3"), "session".parse().unwrap());
    let (mut pair, a, b) = Pair::begun(proxy).await;
    for (id, name) in [(1, "a__read"), (2, "b__read"), (3, "a__read")] {
        assert!(pair.client.call(id, name, json!({"x": id})).await["result"].get("isError").is_none());
    }
    assert_eq!(refusal(&pair.client.call(4, "b__read", json!({})).await), "R2");
    assert_eq!((a.calls().len(), b.calls().len()), (2, 1));
    pair.close().await;
}
