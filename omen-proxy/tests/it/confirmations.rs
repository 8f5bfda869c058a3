//! Who confirms a call: the client's user, then somebody else, or nobody.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use omen_gate::confirm::{Confirmer, Question, Reply};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::{Seen, World, entries, proxy, refusal, serve};

/// Another way to confirm.
#[derive(Debug)]
struct Other(bool);

#[async_trait]
impl Confirmer for Other {
    async fn confirm(&self, _: &Question) -> Reply {
        if self.0 { Reply::Confirmed } else { Reply::Denied { why: "the other one said no".to_owned() } }
    }
}

struct Asked {
    answer: Value,
    question: Option<Value>,
    why: Option<String>,
    made: usize,
}

/// Calls `ask`, and answers the question, if there is one, after some time.
async fn ask(proxy: omen_proxy::ProxyBuilder, capabilities: Value, after: u64, reply: Value) -> Asked {
    let (mut world, server) = World::with_server(proxy);
    let seen = Seen::default();
    tokio::spawn(serve(server, seen.clone()));
    world.client.shake_hands(capabilities).await;
    let args = json!({"x": "a\u{202e}b", "y": [1]});
    let mut answer = world.client.call(1, "ask", args).await;
    let mut question = None;
    if answer["method"] == "elicitation/create" {
        tokio::time::sleep(Duration::from_millis(after)).await;
        let mut reply = reply;
        reply["jsonrpc"] = "2.0".into();
        reply["id"] = answer["id"].clone();
        question = Some(answer);
        world.client.send(reply.to_string()).await;
        answer = world.client.value().await;
    }
    let (_, log) = world.close().await;
    let confirmation = entries(&log).into_iter().find(|entry| entry["kind"] == "confirmation").unwrap();
    let why = confirmation["data"]["why"].as_str().map(str::to_owned);
    Asked { answer, question, why, made: seen.calls().len() }
}

fn accept() -> Value {
    json!({"result": {"action": "accept", "content": {"confirm": true}}})
}

fn asking() -> omen_proxy::ProxyBuilder {
    proxy().elicitation(Duration::from_secs(1))
}

#[tokio::test(start_paused = true)]
async fn the_clients_user_confirms_what_is_shown_exactly() {
    let asked = ask(asking(), json!({"elicitation": {}}), 1_500, accept()).await;
    assert_eq!((asked.made, asked.why), (1, None));
    assert!(asked.answer["result"].get("isError").is_none(), "{}", asked.answer);
    let message = asked.question.unwrap()["params"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("Tool: s/ask (WRITE)"), "{message}");
    assert!(message.contains(r#"Arguments: {"x":"a\u{202e}b","y":[1]}"#), "{message}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_faster_than_a_human_is_the_clients_word_and_confirms_nothing() {
    for reply in [accept(), json!({"result": {"action": "decline"}})] {
        let asked = ask(asking(), json!({"elicitation": {"form": {}}}), 20, reply.clone()).await;
        assert_eq!((refusal(&asked.answer), asked.made), ("G3".to_owned(), 0));
        let why = asked.why.unwrap();
        assert!(why.contains("by itself") && why.contains("there is no confirmer"), "{why}");
        // The next one in the chain is asked.
        let asked = ask(asking().confirmer(Other(true)), json!({"elicitation": {}}), 20, reply).await;
        assert_eq!(asked.made, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_no_of_the_clients_user_is_final() {
    for reply in [
        json!({"result": {"action": "decline"}}),
        json!({"result": {"action": "accept", "content": {"confirm": false}}}),
    ] {
        let asked = ask(asking().confirmer(Other(true)), json!({"elicitation": {}}), 5_000, reply).await;
        assert_eq!((refusal(&asked.answer), asked.made), ("G3".to_owned(), 0));
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_an_answer_leaves_it_to_the_next_one() {
    for reply in [
        json!({"result": {"action": "cancel"}}),
        json!({"result": {"action": "accept"}}),
        json!({"result": {"action": "accept", "content": {"confirm": "true"}}}),
        json!({"result": {"action": ["accept"], "content": {"confirm": true}}}),
        json!({"error": {"code": -32601, "message": "no"}}),
    ] {
        for other in [true, false] {
            let asked = ask(asking().confirmer(Other(other)), json!({"elicitation": {}}), 5_000, reply.clone()).await;
            assert_eq!(asked.made, usize::from(other), "{reply}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_is_asked_only_if_it_can_ask_and_the_operator_lets_it() {
    for (proxy, capabilities) in
        [(proxy(), json!({"elicitation": {}})), (asking(), json!({})), (asking(), json!({"elicitation": {"url": {}}}))]
    {
        let asked = ask(proxy.confirmer(Other(true)), capabilities, 5_000, accept()).await;
        assert_eq!((asked.question.is_none(), asked.made), (true, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn no_answer_in_time_is_a_denial_and_the_question_is_taken_back() {
    let (mut world, server) = World::with_server(asking());
    let seen = Seen::default();
    tokio::spawn(serve(server, seen.clone()));
    world.client.shake_hands(json!({"elicitation": {}})).await;
    let question = world.client.call(1, "ask", json!({})).await;
    // In either order.
    let both = [world.client.value().await, world.client.value().await];
    let cancelled = both.iter().find(|message| message["method"] == "notifications/cancelled").unwrap();
    assert_eq!(cancelled["params"]["requestId"], question["id"]);
    assert_eq!(refusal(both.iter().find(|message| message["id"] == 1).unwrap()), "G3");
    // A late yes is nothing.
    world.client.send(json!({"jsonrpc": "2.0", "id": question["id"], "result": accept()["result"]}).to_string()).await;
    world.close().await;
    assert_eq!(seen.calls().len(), 0);
}

/// Somebody who never answers, and what is notified of each question.
#[derive(Clone, Debug, Default)]
struct Silent(Arc<Notify>);

#[async_trait]
impl Confirmer for Silent {
    async fn confirm(&self, _: &Question) -> Reply {
        self.0.notify_one();
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_call_that_is_cancelled_while_it_waits_is_recorded_as_denied() {
    let silent = Silent::default();
    let (mut world, seen) = World::begun(proxy().confirmer(silent.clone())).await;
    let params = json!({"name": "ask", "arguments": {"x": 1}});
    world.client.send(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()).await;
    silent.0.notified().await;
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    world.client.send(cancel.to_string()).await;
    let (_, log) = world.close().await;
    let entries = entries(&log);
    let said: Vec<_> = entries.iter().map(|entry| (&entry["kind"], &entry["data"]["outcome"])).collect();
    let (decision, confirmation, turn) = (json!("decision"), json!("confirmation"), json!("turn"));
    let (allowed, denied, over) = (json!("allowed"), json!("denied"), json!("over"));
    assert_eq!(said, [(&decision, &allowed), (&confirmation, &denied), (&turn, &over)]);
    assert_eq!(entries[1]["data"]["args"], json!({"x": 1}));
    assert_eq!(seen.calls().len(), 0);
}
