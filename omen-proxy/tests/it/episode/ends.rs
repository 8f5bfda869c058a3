//! How episodes end: with the client, with a call that is given up, and with a log that fails.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use omen_fsm::episode::{Line, Log};
use omen_proxy::episode::{Mode, Recording};
use serde_json::{Value, json};

use super::play::{Lines, server, transcripts};
use crate::support::{World, proxy};

type Made = Arc<Mutex<Vec<String>>>;

/// A session whose episode has decided to act.
async fn acting(log: impl Log) -> (World, Made) {
    let made = Made::default();
    let (mut world, end) = World::with_server(proxy().episode(Recording::new(Mode::Enforce, log)));
    tokio::spawn(server(end, Arc::clone(&made)));
    world.client.shake_hands(json!({})).await;
    let (_, lines) = transcripts().into_iter().find(|(name, _)| name == "two-at-once").unwrap();
    for (id, line) in (1..).zip(&lines[..3]) {
        world.client.call(id, line["call"].as_str().unwrap(), line["arguments"].clone()).await;
    }
    (world, made)
}

/// Asks for a call that is never answered, and waits until the server has it.
async fn hang(world: &mut World, made: &Made) {
    let params = json!({"name": "write", "arguments": {"x": "hang"}});
    world.client.send(json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params}).to_string()).await;
    while made.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
}

fn status(log: &Lines) -> Vec<Value> {
    log.all().iter().filter_map(|packet| packet["payload"].get("result_status").cloned()).collect()
}

#[tokio::test]
async fn the_intent_is_in_the_log_before_the_call_and_what_is_open_bars_the_way() {
    let log = Lines::default();
    let (mut world, made) = acting(log.clone()).await;
    hang(&mut world, &made).await;
    assert_eq!(log.types().last().unwrap(), "TaskDirectivePacket", "the call runs, and has no result");
    let state = world.client.call(10, "omen_state", json!({})).await;
    assert_eq!(state["result"]["structuredContent"]["open"], json!(["pkt_5"]));
    let change = json!({"domain": "note", "key": "k", "new_value": 1, "prior_value": null});
    let belief = json!({"update_type": "new_belief", "belief_changes": [change]});
    let refused = world.client.call(11, "omen_believe", belief).await;
    assert_eq!(refused["result"]["structuredContent"]["code"], "E6", "{refused}");
    world.client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#).await;
    while status(&log).is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(status(&log), ["CANCELLED"]);
    world.close().await;
    assert_eq!(log.findings().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_gone_leaves_an_episode_that_is_judged_clean() {
    let log = Lines::default();
    let (mut world, made) = acting(log.clone()).await;
    hang(&mut world, &made).await;
    let logs = world.logs.clone();
    world.close().await;
    assert_eq!(status(&log), ["CANCELLED"]);
    assert_eq!(log.findings().len(), 0, "{:?}", log.findings());
    let end = logs.lines().last().cloned().unwrap();
    assert!(end.starts_with("the episode `corr_session` ended in S6_EXECUTE with"), "{end}");
}

#[tokio::test]
async fn a_session_without_a_word_to_the_episode_writes_nothing() {
    let log = Lines::default();
    let (mut world, end) = World::with_server(proxy().episode(Recording::new(Mode::Enforce, log.clone())));
    tokio::spawn(server(end, Arc::default()));
    world.client.shake_hands(json!({})).await;
    let refused = world.client.call(1, "read", json!({})).await;
    assert_eq!(refused["result"]["structuredContent"]["code"], "INV-001", "{refused}");
    world.close().await;
    assert!(log.all().is_empty());
}

/// A log that fails after some packets.
struct Failing(AtomicUsize);

impl Log for Failing {
    fn append(&mut self, lines: &[Line<'_>]) -> io::Result<()> {
        let left = self.0.load(Ordering::Relaxed);
        if left < lines.len() {
            return Err(io::Error::other("the disk is full"));
        }
        self.0.store(left - lines.len(), Ordering::Relaxed);
        Ok(())
    }
}

#[tokio::test]
async fn what_cannot_be_recorded_is_not_done_and_what_it_gave_is_withheld() {
    // Three packets of the model's, then a token, a directive, a result.
    for (packets, calls, ran) in [(3, 0, "no"), (4, 0, "no"), (5, 1, "yes")] {
        let (mut world, made) = acting(Failing(AtomicUsize::new(packets))).await;
        let answer = world.client.call(9, "write", json!({"x": "tea"})).await;
        let decision = &answer["result"]["structuredContent"];
        assert_eq!(answer["result"]["isError"], true, "{packets}: {answer}");
        assert_eq!(decision["ran"], ran, "{packets}: {answer}");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("the disk is full") && !text.contains("Legal next"), "{text}");
        assert_eq!(made.lock().unwrap().len(), calls, "{packets}");
        let again = world.client.call(10, "read", json!({})).await;
        assert_eq!(again["result"]["isError"], true, "nothing more is called: {again}");
        world.close().await;
    }
}
