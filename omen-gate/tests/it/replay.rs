//! Replay of a log's calls under two policies: the exact difference, compared with an independent implementation.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use omen_gate::audit::{Audit, Key, Options, read_log};
use omen_gate::catalog::{Catalog, Pin, pin};
use omen_gate::replay::{Replay, ReplayCall, ReplayVerdict};
use omen_gate::server::{Dispatch, ToolServer};
use omen_gate::tool::{Answer, Tool};
use omen_gate::{Config, Fault, Gate, GateClock, ServerName, TurnId};
use serde_json::{Value, json};

use crate::random::Random;
use crate::support::{clock, secs, start};

/// Three tools that accept anything.
fn tools() -> Vec<Tool> {
    let schema = json!({ "type": "object", "properties": { "mode": {}, "amount": {}, "text": {}, "token": {} } });
    ["a", "b", "c"]
        .iter()
        .map(|name| serde_json::from_value(json!({ "name": name, "inputSchema": schema })).unwrap())
        .collect()
}

#[derive(Debug)]
struct Any;

#[async_trait]
impl ToolServer for Any {
    async fn list(&self) -> Result<Vec<Tool>, Fault> {
        Ok(tools())
    }

    async fn call(&self, _: Dispatch) -> Result<Answer, Fault> {
        Ok(Answer::default())
    }
}

/// Entry of one policy for one tool, in the brute-force implementation.
#[derive(Clone, Debug, Default)]
struct Entry {
    is_pinned: bool,
    modes: Option<Vec<&'static str>>,
    most: Option<i64>,
    grants: bool,
    expires: Option<u64>,
    pre_granted: bool,
    always: bool,
    rate: Option<(usize, u64)>,
}

type Policy = BTreeMap<&'static str, Entry>;

fn text(policy: &Policy, arguments: &str) -> String {
    let pins: BTreeMap<String, Pin> =
        tools().iter().map(|tool| (tool.name.as_str().to_owned(), pin(tool).unwrap())).collect();
    let mut text = format!("[audit]\nlog = 'audit.jsonl'\nkey_file = 'audit.key'\n{arguments}\n[servers.s]\n");
    for (name, entry) in policy {
        text += &format!("[[allow]]\nserver = 's'\ntool = '{name}'\npermissions = ['WRITE']\n");
        match entry.is_pinned {
            true => text += &format!("pin = '{}'\n", pins[*name]),
            false => text += &format!("pin = 'v1:{}'\n", "0".repeat(64)),
        }
        text += &format!("always_confirm = {}\n", entry.always);
        if let Some((calls, seconds)) = entry.rate {
            text += &format!("max = '{calls}/{seconds}s'\n");
        }
        let modes = entry.modes.as_ref().map(|modes| format!("\"/mode\" = {{ in = {modes:?} }}"));
        let most = entry.most.map(|most| format!("\"/amount\" = {{ max = {most}, optional = true }}"));
        let rules: Vec<_> = modes.into_iter().chain(most).collect();
        text += &format!("where = {{ {} }}\n", rules.join(", "));
        if entry.grants {
            text += &format!("[[grants]]\nserver = 's'\ntool = '{name}'\npermissions = ['WRITE']\n");
            text += &format!("pre_granted = {}\n", entry.pre_granted);
            if let Some(minutes) = entry.expires {
                text += &format!("expires = 2026-01-01T{:02}:{:02}:00Z\n", minutes / 60, minutes % 60);
            }
        }
    }
    text
}

/// Call as it was made, regardless of what the log has.
struct Made {
    tool: &'static str,
    args: Value,
    at: SystemTime,
}

/// Verdicts of one policy on all calls in turn, by brute force.
fn by_hand(policy: &Policy, calls: &[Made]) -> Vec<&'static str> {
    let mut passed: BTreeMap<&str, Vec<SystemTime>> = BTreeMap::new();
    let mut verdicts = Vec::new();
    for call in calls {
        let Some(entry) = policy.get(call.tool).filter(|entry| entry.is_pinned) else {
            verdicts.push("deny");
            continue;
        };
        let mode = entry.modes.as_ref().is_none_or(|modes| modes.iter().any(|mode| call.args["mode"] == *mode));
        let most = entry.most.is_none_or(|most| match call.args.get("amount") {
            None => true,
            Some(amount) => amount.as_i64().is_some_and(|amount| amount <= most),
        });
        let granted = entry.grants && entry.expires.is_none_or(|minutes| call.at < start() + secs(minutes * 60));
        let room = entry.rate.is_none_or(|(calls, seconds)| {
            let made = passed.entry(call.tool).or_default();
            made.iter().filter(|at| call.at.duration_since(**at).unwrap() < secs(seconds)).count() < calls
        });
        if !(mode && most && granted && room) {
            verdicts.push("deny");
            continue;
        }
        passed.entry(call.tool).or_default().push(call.at);
        verdicts.push(if entry.always || !entry.pre_granted { "confirm" } else { "allow" });
    }
    verdicts
}

fn name(verdict: &ReplayVerdict) -> &'static str {
    match verdict {
        ReplayVerdict::Allow => "allow",
        ReplayVerdict::Confirm => "confirm",
        ReplayVerdict::Deny(_) => "deny",
        ReplayVerdict::Undecidable(_) | ReplayVerdict::UndecidableOrder(_) => "undecidable",
    }
}

fn key() -> Key {
    Key::from_bytes(&std::array::from_fn::<u8, 32, _>(|i| i as u8)).unwrap()
}

/// Log of random calls through a gate, and the calls.
async fn recorded(folder: &std::path::Path, policy: &Policy, arguments: &str, count: usize) -> Vec<Made> {
    let clock = clock();
    let shared: Arc<dyn GateClock> = clock.clone();
    let options = Options { sync: false, ..Options::default() };
    let audit = Audit::open(folder.join("audit.jsonl"), key(), Arc::clone(&shared), options).unwrap();
    let config = Config::parse(&text(policy, arguments)).unwrap();
    let builder = Gate::builder(config).audit(audit).clock(shared);
    let gate = builder.server(ServerName::new("s").unwrap(), Any).build().unwrap();
    let mut random = Random(10_000);
    let mut calls = Vec::new();
    for number in 0..count {
        clock.advance(secs(u64::try_from(random.below(3)).unwrap()));
        let tool = ["a", "b", "c"][random.below(3)];
        let mut args = json!({ "text": "t" });
        match random.below(5) {
            0 => {}
            other => args["mode"] = [json!("r"), json!("w"), json!("x"), json!(7)][other - 1].clone(),
        }
        if random.below(2) == 0 {
            args["amount"] = json!(random.below(20));
        }
        let turn = TurnId::new(format!("turn_{number}")).unwrap();
        let plan = json!({ "type": "call_tool", "server": "s", "tool": tool, "args": args }).to_string();
        let planned =
            gate.request(turn.clone(), "q").screen().await.unwrap().plan(&plan).await.unwrap().call().unwrap();
        if let Ok(authorized) = planned.conform().await.unwrap().authorize().await {
            let _ = authorized.dispatch().await;
        }
        gate.end_turn(&turn);
        calls.push(Made { tool, args, at: GateClock::wall(clock.as_ref()) });
    }
    drop(gate);
    calls
}

fn policies() -> (Policy, Policy) {
    let old = BTreeMap::from([
        (
            "a",
            Entry {
                is_pinned: true,
                modes: Some(vec!["r", "w"]),
                most: Some(10),
                grants: true,
                pre_granted: true,
                ..Entry::default()
            },
        ),
        ("b", Entry { is_pinned: true, grants: true, pre_granted: true, rate: Some((4, 30)), ..Entry::default() }),
        ("c", Entry { is_pinned: true, grants: false, ..Entry::default() }),
    ]);
    let new = BTreeMap::from([
        (
            "a",
            Entry {
                is_pinned: true,
                modes: Some(vec!["r", "x"]),
                most: Some(12),
                grants: true,
                pre_granted: true,
                expires: Some(100),
                ..Entry::default()
            },
        ),
        (
            "b",
            Entry {
                is_pinned: true,
                grants: true,
                pre_granted: true,
                always: true,
                rate: Some((6, 40)),
                ..Entry::default()
            },
        ),
        ("c", Entry { is_pinned: true, most: Some(4), grants: true, pre_granted: true, ..Entry::default() }),
    ]);
    (old, new)
}

#[tokio::test]
async fn the_difference_over_ten_thousand_calls_is_the_one_by_brute_force() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = policies();
    let full = "arguments = 'full'";
    let calls = recorded(folder.path(), &old, full, 10_000).await;
    let config = |policy: &Policy| Config::parse(&text(policy, full)).unwrap();
    let mut replay = Replay::new(&config(&old), &config(&new), None, start());
    let mut found = Vec::new();
    let read = read_log(folder.path().join("audit.jsonl"), &key(), None, &mut |entry| {
        if let Some(call) = ReplayCall::of_entry(entry) {
            let (old, new) = replay.judge(&call);
            found.push((name(&old), name(&new)));
        }
    });
    assert!(read.unwrap().is_sound());
    let expect: Vec<_> = by_hand(&old, &calls).into_iter().zip(by_hand(&new, &calls)).collect();
    assert_eq!(found.len(), calls.len());
    let mut counts: BTreeMap<_, usize> = BTreeMap::new();
    for (number, (found, expect)) in found.iter().zip(&expect).enumerate() {
        assert_eq!(found, expect, "call {number}: {} {}", calls[number].tool, calls[number].args);
        *counts.entry(*found).or_default() += 1;
    }
    println!("{counts:?}");
    for change in [
        ("deny", "allow"),
        ("allow", "deny"),
        ("deny", "confirm"),
        ("allow", "confirm"),
        ("deny", "deny"),
        ("allow", "allow"),
    ] {
        assert!(counts.get(&change).is_some_and(|count| *count > 50), "{change:?}: {counts:?}");
    }
}

/// Unrecorded data is not guessed.
#[tokio::test]
async fn without_the_arguments_a_verdict_that_depends_on_them_is_undecidable() {
    let (old, new) = policies();
    for (arguments, undecidable) in [("arguments = 'hash'", true), ("arguments = 'redacted'", false)] {
        let folder = tempfile::tempdir().unwrap();
        let calls = recorded(folder.path(), &old, arguments, 300).await;
        let config = |policy: &Policy| Config::parse(&text(policy, arguments)).unwrap();
        let mut replay = Replay::new(&config(&old), &config(&new), None, start());
        let (expect_old, expect_new) = (by_hand(&old, &calls), by_hand(&new, &calls));
        let mut number = 0;
        let read = read_log(folder.path().join("audit.jsonl"), &key(), None, &mut |entry| {
            let Some(call) = ReplayCall::of_entry(entry) else { return };
            let (old, new) = replay.judge(&call);
            let tool = calls[number].tool;
            assert_eq!(call.tool.tool.as_str(), tool);
            if undecidable {
                let is_undecidable = |verdict: &ReplayVerdict| matches!(verdict, ReplayVerdict::Undecidable(_));
                assert_eq!(is_undecidable(&old), tool == "a", "{tool}: {old:?}");
                assert_eq!(is_undecidable(&new), tool != "b", "{tool}: {new:?}");
            } else {
                // Texts that the old policy has rules for were recorded, and numbers always are.
                assert_eq!((name(&old), name(&new)), (expect_old[number], expect_new[number]), "{tool}");
            }
            number += 1;
        });
        assert!(read.unwrap().is_sound() && number == 300);
    }
}

/// A rule about a hidden secret cannot be checked; a violation elsewhere counts.
#[tokio::test]
async fn a_rule_about_a_secret_is_undecidable() {
    let config = |rules: &str| {
        let pin = pin(&tools()[0]).unwrap();
        Config::parse(&format!(
            "[servers.s]\n[[allow]]\nserver = 's'\ntool = 'a'\npermissions = ['READ']\npin = '{pin}'\nwhere = {rules}\n\
             [[grants]]\nserver = 's'\ntool = 'a'\npermissions = ['READ']\n"
        ))
        .unwrap()
    };
    let call = |args: Value| ReplayCall {
        tool: crate::support::tool("s/a"),
        args: Some(args.as_object().unwrap().clone()),
        pin: Some(pin(&tools()[0]).unwrap()),
        time: Some(start()),
        refused: None,
    };
    let mut replay = Replay::new(
        &config("{ '/token' = { matches = 'a+' }, '/amount' = { max = 3 } }"),
        &config("{ '/amount' = { max = 9 } }"),
        None,
        start(),
    );
    let hidden = |amount: u32| call(json!({ "token": "[redacted]", "amount": amount }));
    let mut judged = |amount| {
        let (old, new) = replay.judge(&hidden(amount));
        (name(&old), name(&new))
    };
    assert_eq!(judged(3), ("undecidable", "allow"));
    assert_eq!(judged(4), ("deny", "allow"));
    assert_eq!(judged(10), ("deny", "deny"));
}

/// Plans do not contain the form of their tool: a catalogue does.
#[test]
fn plans_are_judged_by_both() {
    let (old, new) = policies();
    let config = |policy: &Policy| Config::parse(&text(policy, "")).unwrap();
    let catalog = || Some(Catalog::parse(&json!({ "s": tools() }).to_string()).unwrap());
    let plan =
        |tool: &str, args: Value| json!({ "type": "call_tool", "server": "s", "tool": tool, "args": args }).to_string();
    let mut replay = Replay::new(&config(&old), &config(&new), catalog(), start());
    let mut said = |text: &str| replay.judge_plan(text).map(|(old, new)| (name(&old), name(&new)));
    assert_eq!(said(&plan("a", json!({ "mode": "x" }))), Some(("deny", "allow")));
    assert_eq!(said(&plan("a", json!({ "mode": "w" }))), Some(("allow", "deny")));
    assert_eq!(said(&plan("b", json!({}))), Some(("allow", "confirm")));
    assert_eq!(said(&plan("b", json!({ "unnamed": 1 }))), Some(("deny", "deny")));
    assert_eq!(said(&plan("d", json!({}))), Some(("deny", "deny")));
    assert_eq!(said("```"), Some(("deny", "deny")));
    assert_eq!(said(r#"{"type":"final_answer","answer":"Which?","needs_more_info":true}"#), None);
    // Without it, a form that both policies approved is assumed; one that only one of them has is not.
    let mut without = Replay::new(&config(&old), &config(&new), None, start());
    assert!(matches!(
        without.judge_plan(&plan("a", json!({ "mode": "x" }))),
        Some((ReplayVerdict::Deny(_), ReplayVerdict::Allow))
    ));
    let mut fewer = new.clone();
    fewer.remove("b");
    let mut one = Replay::new(&config(&fewer), &config(&new), None, start());
    assert!(matches!(
        one.judge_plan(&plan("b", json!({}))),
        Some((ReplayVerdict::Deny(_), ReplayVerdict::Undecidable(_)))
    ));
}
