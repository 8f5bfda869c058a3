//! Decisions of a running gate, and decisions from its log.

use std::time::Duration;

use omen_gate::audit::store::Memory;
use omen_gate::{GateCode, ManualClock, TurnId};
use omen_testkit::proofs::Proofs;
use serde_json::{Value, json};

use super::{Recording, Rules, judged, logged, word};
use crate::random::Random;
use crate::support::{clock, secs};

/// Rules of which each case has some.
const RULES: [(&str, &str); 14] = [
    ("after", "'get'"),
    ("after", "{ tool = 'get', same = ['/key'] }"),
    ("after", "{ tool = 'get', within = '30s' }"),
    ("after", "{ tool = 'get', was = 'failed' }"),
    ("after", "{ tool = 'get', same = ['/key'], until = ['set'] }"),
    ("after", "{ tool = 'get', only = [] }"),
    ("after", "{ tool = 'get', times = 2, per = 'all', within = '1min' }"),
    ("after", "{ tool = 'get', answer = { '/structuredContent/key' = { equals = 'a' } } }"),
    ("after", "{ tool = ['get', 'set'], was = 'done', if = { '/key' = { equals = 'b' } } }"),
    ("never_after", "{ tool = 'set', same = ['/key'], times = 2, within = '1min' }"),
    ("never_after", "{ tool = 'get', was = 'failed', until = ['get'] }"),
    ("never_after", "{ tool = 'set', was = 'done', same = ['/key'], per = 'all', within = '30s' }"),
    ("max", "{ calls = 2, within = '30s' }"),
    ("max", "{ sum = { '/value' = 9 }, within = '1min', was = 'done' }"),
];

/// Rules of `set`, or of `get`, which has no amount and needs nothing, so that many calls are made.
fn rules(random: &mut Random, is_set: bool) -> String {
    let mut text = String::new();
    for kind in if is_set { &["after", "never_after", "max"][..] } else { &["never_after", "max"] } {
        let all = RULES.iter().filter(|(key, rule)| key == kind && (is_set || !rule.contains("sum")));
        let chosen: Vec<_> = all.filter(|_| random.below(5) == 0).map(|(_, rule)| *rule).collect();
        if !chosen.is_empty() {
            text.push_str(&format!("{kind} = [{}]\n", chosen.join(", ")));
        }
    }
    if random.below(2) == 0 {
        text.push_str("before_end = [{ tool = 'get', same = ['/key'] }]\n");
    }
    text
}

/// Random calls, of which some overlap, through a real gate, which is sometimes restarted.
#[tokio::test(start_paused = true)]
async fn a_log_decides_as_the_gate_did() {
    let (mut made, mut refused, mut codes) = (0, 0, std::collections::BTreeMap::new());
    // With 118, an outcome comes after the end of its session, and the gate is restarted then.
    for seed in (0..cases()).chain([118]) {
        let random = &mut Random(seed);
        let text = Rules { get: &rules(random, false), set: &rules(random, true), audit: "hash" }.text().await;
        let (memory, clock) = (Memory::default(), clock());
        let mut gate = Recording::start(&text, &memory, &clock);
        let mut live = Vec::new();
        let mut running = Vec::new();
        for number in 0..25 {
            let session = ["s", "t"][random.below(2)];
            let key = ["a", "b", "bad", "lost", "held"][random.below(5)];
            let (tool, args) = match random.below(2) {
                0 => ("get", json!({ "key": key })),
                _ => ("set", json!({ "key": key, "value": random.below(6) })),
            };
            let (own, turn) = (gate.clone(), format!("turn-{number}"));
            let call = tokio::spawn(async move { own.call(session, &turn, tool, args).await });
            settle().await;
            running.push(call);
            match random.below(8) {
                0 => gate.held.notify_waiters(),
                // Whatever waits is refused now.
                1 => pass(&clock, 6).await,
                2 => drop(gate.gate.end_turn(&TurnId::new(session).unwrap())),
                3 if running.iter().all(tokio::task::JoinHandle::is_finished) => {
                    drop(gate);
                    settle().await;
                    gate = Recording::start(&text, &memory, &clock);
                }
                _ => pass(&clock, random.below(20)).await,
            }
            settle().await;
        }
        for _ in 0..4 {
            gate.held.notify_waiters();
            settle().await;
            pass(&clock, 6).await;
        }
        for call in running {
            live.push(call.await.unwrap().map_err(|blocked| blocked.code));
        }
        drop(gate);
        settle().await;
        let log = logged(&memory);
        let (verdicts, _) = judged(&text, &log, true);
        assert_eq!(verdicts.len(), live.len(), "seed {seed}");
        for (entry, is_refused, finding) in &verdicts {
            let data = &log[usize::try_from(entry - 1).unwrap()]["data"];
            let code = data["code"].as_str().filter(|_| *is_refused).unwrap_or("allow");
            // The end of its session has withdrawn a call that waited: that is not a verdict of a rule.
            let is_withdrawn = data["why"].as_str().is_some_and(|why| why.starts_with("the call was withdrawn"));
            if (code.starts_with("O-") && !is_withdrawn) || code == "allow" {
                assert_eq!(word(finding.as_ref()), code, "seed {seed}, entry {entry}: {data}\n{finding:?}\n{text}");
            }
            *codes.entry(code.to_owned()).or_insert(0) += 1;
            *if *is_refused { &mut refused } else { &mut made } += 1;
        }
        let by_gate = live.iter().filter(|result| result.is_ok()).count();
        assert_eq!(by_gate, verdicts.iter().filter(|(_, is_refused, _)| !is_refused).count(), "seed {seed}");
    }
    println!("{made} calls made, {refused} refused: {codes:?}");
    for code in [GateCode::O1, GateCode::O2, GateCode::O3, GateCode::O5] {
        assert!(codes.contains_key(code.as_str()), "{code} was not tried: {codes:?}");
    }
}

/// Debts that a gate reports are those that its log has.
#[tokio::test]
async fn a_log_owes_what_the_gate_says() {
    let text = Rules { set: "before_end = [{ tool = 'get', same = ['/key'], within = '1min' }]", ..Rules::default() };
    let text = text.text().await;
    let (memory, clock) = (Memory::default(), clock());
    let gate = Recording::start(&text, &memory, &clock);
    for (number, (tool, key)) in [("set", "a"), ("set", "b"), ("get", "a"), ("set", "c")].into_iter().enumerate() {
        let args = if tool == "get" { json!({ "key": key }) } else { json!({ "key": key, "value": 1 }) };
        gate.call("s", &format!("t{number}"), tool, args).await.unwrap();
        clock.advance(secs(25));
    }
    gate.gate.turn_is_over(&TurnId::new("s").unwrap(), "the client left").await.unwrap();
    let log = logged(&memory);
    let by_gate: Vec<&Value> = log.iter().filter(|entry| entry["data"]["outcome"] == "owed").collect();
    let (_, debts) = judged(&text, &log, false);
    assert_eq!(debts.len(), 2);
    for (debt, entry) in debts.iter().zip(by_gate) {
        assert_eq!((debt.code, debt.rule.as_deref()), (GateCode::O4, Some("allow[1].before_end[0]")));
        assert_eq!(Some(debt.message.as_str()), entry["data"]["why"].as_str());
    }
    assert!(debts[0].message.contains("overdue") && debts[1].message.contains("ended"), "{debts:?}");
}

/// Lets time pass, so that timers fire when they are due: the log has a refusal by one at its time and place.
async fn pass(clock: &ManualClock, seconds: usize) {
    for _ in 0..seconds {
        clock.advance(secs(1));
        tokio::time::sleep(Duration::from_millis(300)).await;
        settle().await;
    }
}

/// Lets all tasks run until each waits.
async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

fn cases() -> u64 {
    Proofs::wanted().choose(40, 1000)
}
