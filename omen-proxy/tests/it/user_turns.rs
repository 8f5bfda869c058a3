//! The turn of the user behind a proxy: its failures count together (R2), and its entries are linked (A2).

use std::sync::{Arc, Mutex};

use omen_gate::audit::store::Memory;
use omen_proxy::episode::{Mode, Recording};
use omen_proxy::{Proxy, ProxyBuilder};
use serde_json::{Value, json};

use crate::episode::play::{Lines, server, transcripts};
use crate::support::{World, config, entries, refusal};

const TURN: &str = "[budget]\nuser_turn = 'example.com/turn'\nturn_calls = 4\n";

async fn world(proxy: ProxyBuilder) -> (World, Arc<Mutex<Vec<String>>>) {
    let made = Arc::<Mutex<Vec<String>>>::default();
    let (mut world, end) = World::with_server(proxy);
    tokio::spawn(server(end, Arc::clone(&made)));
    world.client.shake_hands(json!({})).await;
    (world, made)
}

fn proxy(more: &str) -> ProxyBuilder {
    Proxy::builder(config(more), "session".parse().unwrap())
}

async fn call(world: &mut World, id: u64, turn: &Value, x: &str) -> Value {
    let mut params = json!({"name": "read", "arguments": {"x": x}});
    if !turn.is_null() {
        params["_meta"] = json!({"example.com/turn": turn, "other": 1});
    }
    world.client.ask(id, "tools/call", params).await
}

fn of_turn(log: &Memory, turn: &str) -> Vec<String> {
    let all = entries(log);
    let of = all.iter().filter(|entry| entry["data"]["user_turn"] == turn);
    of.map(|entry| entry["kind"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn r2_the_failures_of_a_turn_of_the_user_count_together_and_a2_links_its_entries() {
    let (mut world, made) = world(proxy(TURN)).await;
    let (one, two) = (json!("t1"), json!("t2"));
    for id in 1..=2 {
        let failed = call(&mut world, id, &one, "fail").await;
        assert_eq!(failed["result"]["_meta"]["omen/fault"]["class"], "tool", "{failed}");
    }
    assert_eq!(refusal(&call(&mut world, 3, &one, "a").await), "R2", "two failures in a row end the turn");
    // Another turn has budgets of its own, also of calls.
    for id in 4..=7 {
        let answer = call(&mut world, id, &two, "a").await;
        assert_eq!(answer["result"]["content"][0]["text"], "{\"x\":\"a\"}", "{answer}");
    }
    assert_eq!(refusal(&call(&mut world, 8, &two, "a").await), "R2", "four calls are all that a turn makes");
    assert_eq!(made.lock().unwrap().len(), 6);
    let (_, log) = world.close().await;
    let first = of_turn(&log, "session/t1");
    assert_eq!(first.iter().filter(|kind| *kind == "intent").count(), 2, "{first:?}");
    assert_eq!(first.iter().filter(|kind| *kind == "outcome").count(), 2, "{first:?}");
    assert!(first.iter().any(|kind| kind == "turn"), "the end of the turn is in the log: {first:?}");
    assert_eq!(of_turn(&log, "session/t2").iter().filter(|kind| *kind == "intent").count(), 4);
}

#[tokio::test]
async fn a2_a_call_that_does_not_name_its_turn_is_refused() {
    let (mut world, made) = world(proxy(TURN)).await;
    let long = "x".repeat(65);
    let bad = [Value::Null, json!(""), json!("a b"), json!("a\u{7}"), json!(7), json!({}), json!(long)];
    for (id, turn) in (1..).zip(&bad) {
        assert_eq!(refusal(&call(&mut world, id, turn, "a").await), "A2", "{turn}");
    }
    assert!(made.lock().unwrap().is_empty());
    world.close().await;
    // Without the key, no call has to.
    let (mut world, _) = self::world(proxy("")).await;
    assert!(call(&mut world, 1, &Value::Null, "a").await["result"]["isError"].is_null());
    let (_, log) = world.close().await;
    assert!(entries(&log).iter().all(|entry| entry["data"].get("user_turn").is_none()));
}

#[tokio::test]
async fn r2_an_episode_is_a_turn() {
    let log = Lines::default();
    let (mut world, made) = world(proxy("").episode(Recording::new(Mode::Enforce, log.clone()))).await;
    let (_, lines) = transcripts().into_iter().find(|(name, _)| name == "two-at-once").unwrap();
    world.client.call(1, "omen_observe", lines[0]["arguments"].clone()).await;
    for id in 2..=3 {
        let failed = world.client.call(id, "read", json!({"x": "fail"})).await;
        assert_eq!(failed["result"]["_meta"]["omen/fault"]["class"], "tool", "{failed}");
    }
    assert_eq!(refusal(&world.client.call(4, "read", json!({"x": "a"})).await), "R2");
    assert_eq!(made.lock().unwrap().len(), 2);
    let (_, audit) = world.close().await;
    assert_eq!(of_turn(&audit, "corr_session").iter().filter(|kind| *kind == "intent").count(), 2);
    assert_eq!(log.findings().len(), 0, "{:?}", log.findings());
}

#[tokio::test]
async fn pg_0_what_a_model_reports_of_its_user_is_screened() {
    let patterns = "[[policy.patterns]]\npattern = '(?i)drop\\s+table'\nreason = 'no tables are dropped here'\n";
    let log = Lines::default();
    let (mut world, _) = world(proxy(patterns).episode(Recording::new(Mode::Enforce, log.clone()))).await;
    let (_, lines) = transcripts().into_iter().find(|(name, _)| name == "two-at-once").unwrap();
    for (id, kind) in [(1, "intel_update"), (2, "user_input")] {
        let mut args = lines[0]["arguments"].clone();
        args["observation_type"] = kind.into();
        args["data"] = json!({"the user says": ["please dr\u{6f}p", "TABLE users"]});
        let refused = world.client.call(id, "omen_observe", args).await;
        assert_eq!(refusal(&refused), "PG-0", "{refused}");
        assert!(refused.to_string().contains("no tables are dropped here"), "{refused}");
    }
    assert!(log.all().is_empty(), "nothing was recorded of it");
    let accepted = world.client.call(3, "omen_observe", lines[0]["arguments"].clone()).await;
    assert_eq!(accepted["result"]["structuredContent"]["accepted"], true, "{accepted}");
    let (_, audit) = world.close().await;
    let denied: Vec<_> = entries(&audit).into_iter().filter(|entry| entry["data"]["code"] == "PG-0").collect();
    assert_eq!(denied.len(), 2, "{denied:?}");
    assert!(denied.iter().all(|entry| entry["data"]["query"].is_string()), "{denied:?}");
}
