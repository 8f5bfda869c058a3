//! Confirmation in two rounds (2026-07-28): the answer of the client's user comes with a second request.

use std::time::Duration;

use async_trait::async_trait;
use omen_gate::confirm::{Confirmer, Question, Reply};
use serde_json::{Value, json};

use crate::support::{Seen, World, entries, kinds, proxy, refusal, serve};

pub(crate) fn meta(capabilities: Value) -> Value {
    json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities})
}

fn call(args: Value) -> Value {
    json!({"name": "ask", "arguments": args, "_meta": meta(json!({"elicitation": {}}))})
}

fn accept() -> Value {
    json!({"omen-gate.confirm": {"action": "accept", "content": {"confirm": true}}})
}

fn asking() -> omen_proxy::ProxyBuilder {
    proxy().elicitation(Duration::from_secs(1))
}

/// A session in the era without a handshake.
fn begun(proxy: omen_proxy::ProxyBuilder) -> (World, Seen) {
    let (world, server) = World::with_server(proxy);
    let seen = Seen::default();
    tokio::spawn(serve(server, seen.clone()));
    (world, seen)
}

/// The second round of a call.
fn again(first: &Value, asked: &Value, responses: Value) -> Value {
    let mut params = first.clone();
    params["requestState"] = asked["result"]["requestState"].clone();
    params["inputResponses"] = responses;
    params
}

async fn human() {
    tokio::time::sleep(Duration::from_millis(1_500)).await;
}

#[tokio::test(start_paused = true)]
async fn a_call_is_made_once_its_user_has_confirmed_it_in_a_second_round() {
    let (mut world, seen) = begun(asking());
    let first = call(json!({"x": "a\u{202e}b"}));
    let asked = world.client.ask(1, "tools/call", first.clone()).await;
    let result = &asked["result"];
    assert_eq!((&asked["id"], &result["resultType"]), (&json!(1), &json!("input_required")));
    let question = &result["inputRequests"]["omen-gate.confirm"];
    assert_eq!((&question["method"], &question["params"]["mode"]), (&json!("elicitation/create"), &json!("form")));
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("Tool: s/ask (WRITE)") && message.contains(r#"{"x":"a\u{202e}b"}"#), "{message}");
    assert_eq!(seen.calls().len(), 0);
    human().await;
    let answer = world.client.ask(2, "tools/call", again(&first, &asked, accept())).await;
    assert_eq!(answer["result"]["content"][0]["text"], json!({"x": "a\u{202e}b"}).to_string(), "{answer}");
    let calls = seen.calls();
    assert_eq!(calls.len(), 1);
    assert!(!calls[0].contains("omen-gate.v1") && !calls[0].contains("inputResponses"), "{}", calls[0]);
    let (_, log) = world.close().await;
    let expected = ["decision", "confirmation G3", "decision", "confirmation", "intent", "outcome", "turn"];
    assert_eq!(kinds(&log), expected);
    let confirmed = entries(&log).remove(3);
    assert_eq!(confirmed["data"]["by"]["via"], "input_required", "{confirmed}");
}

#[tokio::test(start_paused = true)]
async fn what_the_client_had_for_the_server_reaches_it_as_it_was() {
    let (mut world, seen) = begun(asking());
    let mut first = call(json!({}));
    first["requestState"] = "the server's".into();
    first["inputResponses"] = json!({"city": {"action": "accept", "content": {"city": "Oslo"}}});
    let asked = world.client.ask(1, "tools/call", first.clone()).await;
    human().await;
    // An answer for the server that nobody has confirmed does not come in by the second round.
    let mut responses = accept();
    responses["city"] = json!({"action": "accept", "content": {"city": "Rome"}});
    let answer = world.client.ask(2, "tools/call", again(&first, &asked, responses)).await;
    assert!(answer["result"].get("isError").is_none(), "{answer}");
    let made: Value = serde_json::from_str(&seen.calls()[0]).unwrap();
    assert_eq!(made["params"]["requestState"], "the server's");
    assert_eq!(made["params"]["inputResponses"], first["inputResponses"]);
}

/// Another way to confirm.
#[derive(Debug)]
struct Agrees;

#[async_trait]
impl Confirmer for Agrees {
    async fn confirm(&self, _: &Question) -> Reply {
        Reply::Confirmed
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_not_a_humans_leaves_it_to_the_next_one_and_a_no_is_final() {
    let no = json!({"omen-gate.confirm": {"action": "decline"}});
    let cancel = json!({"omen-gate.confirm": {"action": "cancel"}});
    for (responses, is_slow, made) in
        [(accept(), false, 1), (cancel, true, 1), (json!({}), true, 1), (no.clone(), false, 1), (no, true, 0)]
    {
        let (mut world, seen) = begun(asking().confirmer(Agrees));
        let first = call(json!({}));
        let asked = world.client.ask(1, "tools/call", first.clone()).await;
        if is_slow {
            human().await;
        }
        let answer = world.client.ask(2, "tools/call", again(&first, &asked, responses.clone())).await;
        assert_eq!(seen.calls().len(), made, "{responses}, slow: {is_slow}: {answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_cannot_ask_is_not_asked() {
    for (proxy, capabilities) in [
        (asking(), json!({})),
        (asking(), json!({"elicitation": {"url": {}}})),
        (asking(), json!({"elicitation": true})),
        (proxy(), json!({"elicitation": {}})),
    ] {
        let (mut world, seen) = begun(proxy);
        let params = json!({"name": "ask", "arguments": {}, "_meta": meta(capabilities.clone())});
        let answer = world.client.ask(1, "tools/call", params).await;
        assert_eq!((refusal(&answer), seen.calls().len()), ("G3".to_owned(), 0), "{capabilities}");
    }
    // Arguments that nobody could read are not confirmed in this way.
    let (mut world, _) = begun(asking());
    let answer = world.client.ask(1, "tools/call", call(json!({"x": "y".repeat(5_000)}))).await;
    assert_eq!(refusal(&answer), "G3");
}

type Forge = fn(&mut Value);

/// Changes the state of the second round.
fn state(params: &mut Value, change: impl FnOnce(&str) -> String) {
    params["requestState"] = change(params["requestState"].as_str().unwrap()).into();
}

fn part(text: &str, at: usize, with: impl FnOnce(&str) -> String) -> String {
    let mut parts: Vec<_> = text.split('.').map(str::to_owned).collect();
    parts[at] = with(&parts[at]);
    parts.join(".")
}

/// What a client, or somebody in its place, may try in the second round.
const FORGED: &[(&str, Forge)] = &[
    ("a state of its own", |params| params["requestState"] = "omen-gate.v1.1.00.00".into()),
    ("an empty state of ours", |params| params["requestState"] = "omen-gate.v1.".into()),
    ("another number", |params| state(params, |state| part(state, 2, |_| "2".to_owned()))),
    ("a number in another spelling", |params| state(params, |state| part(state, 2, |_| "01".to_owned()))),
    ("another call's hash", |params| state(params, |state| part(state, 3, |hash| hash.replace(['0', '1'], "2")))),
    ("no hash", |params| state(params, |state| part(state, 3, |_| String::new()))),
    ("another code", |params| state(params, |state| part(state, 4, |code| code.chars().rev().collect()))),
    ("half a code", |params| state(params, |state| part(state, 4, |code| code[..32].to_owned()))),
    ("no code", |params| state(params, |state| part(state, 4, |_| String::new()))),
    ("a code in capitals", |params| state(params, |state| part(state, 4, str::to_uppercase))),
    ("a blank behind it", |params| state(params, |state| format!("{state} "))),
    ("something behind it", |params| state(params, |state| format!("{state}.00"))),
    ("another version", |params| state(params, |state| state.replace("v1", "v2"))),
    ("a blank before it", |params| state(params, |state| format!(" {state}"))),
    ("a list", |params| params["requestState"] = json!([params["requestState"]])),
    ("no state", |params| drop(params.as_object_mut().unwrap().remove("requestState"))),
    ("other arguments", |params| params["arguments"] = json!({"x": "other"})),
    ("more arguments", |params| params["arguments"]["y"] = json!(1)),
    ("another tool", |params| params["name"] = "ungranted".into()),
    ("a no", |params| params["inputResponses"]["omen-gate.confirm"] = json!({"action": "decline"})),
    ("an unchecked form", |params| params["inputResponses"]["omen-gate.confirm"]["content"]["confirm"] = false.into()),
    ("a yes as a text", |params| params["inputResponses"]["omen-gate.confirm"]["content"]["confirm"] = "true".into()),
    ("a yes without a form", |params| params["inputResponses"]["omen-gate.confirm"] = json!({"action": "accept"})),
    ("a yes in capitals", |params| params["inputResponses"]["omen-gate.confirm"]["action"] = "ACCEPT".into()),
    ("a list of answers", |params| params["inputResponses"] = json!([params["inputResponses"]])),
    ("an answer under another name", |params| {
        params["inputResponses"] = json!({"confirm": {"action": "accept", "content": {"confirm": true}}});
    }),
    ("no answers", |params| drop(params.as_object_mut().unwrap().remove("inputResponses"))),
    ("answers in another case", |params| {
        let answers = params["inputResponses"].take();
        params.as_object_mut().unwrap().remove("inputResponses");
        params["InputResponses"] = answers;
    }),
    ("no version of the protocol", |params| drop(params.as_object_mut().unwrap().remove("_meta"))),
];

#[tokio::test(start_paused = true)]
async fn no_forged_round_makes_a_call() {
    for (what, forge) in FORGED {
        let (mut world, seen) = begun(asking());
        let first = call(json!({"x": "0"}));
        let asked = world.client.ask(1, "tools/call", first.clone()).await;
        human().await;
        let mut second = again(&first, &asked, accept());
        forge(&mut second);
        let answer = world.client.ask(2, "tools/call", second).await;
        let is_asked_again = answer["result"]["resultType"] == "input_required";
        assert!(is_asked_again || !refusal(&answer).is_empty(), "{what}: {answer}");
        assert_eq!(seen.calls().len(), 0, "{what}");
    }
    assert!(FORGED.len() >= 20);
}

#[tokio::test(start_paused = true)]
async fn a_state_is_good_once_for_its_session_and_for_a_time() {
    // Once: a second answer is none, whatever came of the first.
    for first_answer in [accept(), json!({"omen-gate.confirm": {"action": "decline"}}), json!({})] {
        let (mut world, seen) = begun(asking());
        let first = call(json!({}));
        let asked = world.client.ask(1, "tools/call", first.clone()).await;
        human().await;
        let made = usize::from(first_answer == accept());
        let _ = world.client.ask(2, "tools/call", again(&first, &asked, first_answer)).await;
        let replayed = world.client.ask(3, "tools/call", again(&first, &asked, accept())).await;
        assert_eq!((refusal(&replayed), seen.calls().len()), ("G3".to_owned(), made));
        assert!(replayed.to_string().contains("used before"), "{replayed}");
    }
    // Of two at the same time, one.
    let (mut world, seen) = begun(asking());
    let first = call(json!({}));
    let asked = world.client.ask(1, "tools/call", first.clone()).await;
    human().await;
    for id in [2, 3] {
        let params = again(&first, &asked, accept());
        let line = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        world.client.send(line.to_string()).await;
    }
    let both = [world.client.value().await, world.client.value().await];
    assert_eq!(both.iter().filter(|answer| answer["result"].get("isError").is_none()).count(), 1, "{both:?}");
    assert_eq!(seen.calls().len(), 1);
    // Its session: another one has another key.
    let (mut other, seen) = begun(asking());
    let _ = other.client.ask(1, "tools/call", first.clone()).await;
    human().await;
    let foreign = other.client.ask(2, "tools/call", again(&first, &asked, accept())).await;
    assert_eq!((refusal(&foreign), seen.calls().len()), ("G3".to_owned(), 0));
    assert!(foreign.to_string().contains("not created by this session"), "{foreign}");
    // For a time: as long as a confirmation is waited for.
    let (mut world, seen) = begun(asking());
    let asked = world.client.ask(1, "tools/call", first.clone()).await;
    tokio::time::sleep(Duration::from_secs(100)).await;
    let late = world.client.ask(2, "tools/call", again(&first, &asked, accept())).await;
    assert_eq!((refusal(&late), seen.calls().len()), ("G3".to_owned(), 0));
    let (_, log) = world.close().await;
    assert_eq!(kinds(&log), ["decision", "confirmation G3", "decision G3", "turn"]);
    assert!(entries(&log)[2]["data"]["why"].as_str().unwrap().contains("has expired"));
}

#[tokio::test(start_paused = true)]
async fn questions_that_nobody_answers_are_bounded() {
    let (mut world, seen) = begun(asking());
    let first = call(json!({"x": 0}));
    let oldest = world.client.ask(1, "tools/call", first.clone()).await;
    for id in 2..=300 {
        let asked = world.client.ask(id, "tools/call", call(json!({"x": id}))).await;
        assert_eq!(asked["result"]["resultType"], "input_required");
    }
    human().await;
    let forgotten = world.client.ask(301, "tools/call", again(&first, &oldest, accept())).await;
    assert_eq!((refusal(&forgotten), seen.calls().len()), ("G3".to_owned(), 0));
}
