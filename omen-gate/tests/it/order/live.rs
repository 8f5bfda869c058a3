//! Ends of sessions, deadlines, and what the gate says of them while it runs and at its next start.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use omen_gate::audit::store::Memory;
use omen_gate::order::{DebtReport, DebtScope, SessionEnd};
use omen_gate::turn_steps::TurnStep;
use omen_gate::{Config, GateCode, ManualClock, Permission, StepId, Stopped, TurnId};
use serde_json::{Value, json};

use super::{Ordered, READ_FIRST, call, code, text};
use crate::support::{all_logged, clock, secs, tool};

/// What a gate has reported.
type Reports = Arc<Mutex<Vec<String>>>;

async fn gate(set: &str, more: &str, memory: &Memory, clock: &Arc<ManualClock>, clients: bool) -> (Ordered, Reports) {
    let text = text("", set, &format!("[order]\ngather = '0s'\n{more}")).await;
    let reports = Reports::default();
    let noted = Arc::clone(&reports);
    let gate = Ordered::with(&text, memory, clock, |builder| {
        let builder = if clients { builder.clients(false) } else { builder };
        builder.debts(move |debt| {
            noted.lock().unwrap().push(match debt {
                DebtReport::Overdue(message) => format!("overdue: {message}"),
                DebtReport::Ended { scope: DebtScope::Session, name, how, owed } => {
                    format!("{}: {name}, {}", how.as_str(), owed.len())
                }
                DebtReport::Ended { scope: DebtScope::Turn, name, how, owed } => {
                    format!("{}: turn {name}, {}", how.as_str(), owed.len())
                }
                other => panic!("{other:?}"),
            });
        })
    });
    (gate.unwrap(), reports)
}

/// Ends of sessions in the log: how, and the number of calls that were owed.
fn ends(memory: &Memory) -> Vec<(String, usize)> {
    let data = all_logged(memory).into_iter().map(|entry| entry["data"].clone());
    let ends = data.filter(|data| data["outcome"] == "session_ended");
    ends.map(|data| (data["how"].as_str().unwrap().to_owned(), data["owed"].as_array().map_or(0, Vec::len))).collect()
}

fn begins(memory: &Memory) -> usize {
    all_logged(memory).iter().filter(|entry| entry["data"]["outcome"] == "session_began").count()
}

/// Lets the timer of the gate run, which reads the clock once a second.
async fn until(holds: impl Fn() -> bool) {
    for _ in 0..400 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("it does not come");
}

const OWES: &str = "before_end = [{ tool = 'get', same = ['/key'] }]";

#[tokio::test]
async fn a_session_of_a_program_ends_when_it_makes_no_calls() {
    let (memory, clock) = (Memory::default(), clock());
    let (gate, reports) = gate(OWES, "idle = '1h'\n", &memory, &clock, false).await;
    gate.set("a", 1).await.unwrap();
    clock.advance(secs(3599));
    gate.set("b", 1).await.unwrap();
    clock.advance(secs(3599));
    gate.get("b").await.unwrap();
    assert_eq!((begins(&memory), ends(&memory)), (1, vec![]));
    // No call comes any more: a timer finds it.
    clock.advance(secs(3600));
    until(|| !reports.lock().unwrap().is_empty()).await;
    assert_eq!(*reports.lock().unwrap(), ["idle: s, 1"]);
    until(|| ends(&memory) == [("idle".to_owned(), 1)]).await;
    // A name that comes again is another session.
    gate.set("c", 1).await.unwrap();
    assert_eq!(begins(&memory), 2);
}

#[tokio::test]
async fn a_restart_ends_the_sessions_of_clients_and_keeps_those_of_programs() {
    for (clients, after) in [(true, vec![("lost".to_owned(), 1)]), (false, vec![])] {
        let (memory, clock) = (Memory::default(), clock());
        let (first, _) = gate(OWES, "", &memory, &clock, clients).await;
        first.set("a", 1).await.unwrap();
        drop(first);
        let (second, reports) = gate(OWES, "", &memory, &clock, clients).await;
        assert_eq!(ends(&memory), after);
        let said = reports.lock().unwrap().clone();
        assert_eq!(said, if clients { vec!["lost: s, 1"] } else { vec![] });
        let opener = all_logged(&memory).iter().find(|entry| entry["kind"] == "intent").unwrap()["sequence"].clone();
        let owed = second.logged("owed");
        assert_eq!(owed.first().map(|data| &data["owed"][0]["entry"]), clients.then_some(&opener), "{owed:?}");
        // What was reported is not reported again, and what still is owed can be settled.
        second.get("a").await.unwrap();
        drop(second);
        let (third, reports) = gate(OWES, "", &memory, &clock, clients).await;
        assert_eq!(reports.lock().unwrap().len(), 0);
        let left = third.gate.end_session(&TurnId::new("s").unwrap(), SessionEnd::Closed);
        assert_eq!(left, []);
    }
}

#[tokio::test]
async fn a_session_that_was_quiet_while_the_gate_was_stopped_is_idle() {
    let (memory, clock) = (Memory::default(), clock());
    let (first, _) = gate(OWES, "", &memory, &clock, false).await;
    first.set("a", 1).await.unwrap();
    drop(first);
    clock.advance(secs(86_400));
    let (_second, reports) = gate(OWES, "", &memory, &clock, false).await;
    assert_eq!(*reports.lock().unwrap(), ["idle: s, 1"]);
    assert_eq!(ends(&memory), [("idle".to_owned(), 1)]);
}

#[tokio::test]
async fn a_deadline_that_passes_is_reported_once_by_a_timer() {
    let (memory, clock) = (Memory::default(), clock());
    let owes = "before_end = [{ tool = 'get', same = ['/key'], within = '10min' }]";
    let (gate, reports) = gate(owes, "", &memory, &clock, false).await;
    gate.set("a", 1).await.unwrap();
    gate.set("b", 1).await.unwrap();
    gate.get("b").await.unwrap();
    clock.advance(secs(599));
    tokio::time::sleep(Duration::from_millis(1200)).await;
    assert_eq!(reports.lock().unwrap().len(), 0);
    clock.advance(secs(1));
    until(|| !reports.lock().unwrap().is_empty()).await;
    let said = reports.lock().unwrap().clone();
    assert!(
        said[0].starts_with("overdue: `store/get` with the same `/key` is overdue for the call in entry"),
        "{said:?}"
    );
    // Settled later, it is not reported again, neither at the end nor after a restart.
    gate.get("a").await.unwrap();
    assert_eq!(gate.gate.end_session(&TurnId::new("s").unwrap(), SessionEnd::Closed), []);
    until(|| ends(&memory) == [("closed".to_owned(), 0)]).await;
    assert_eq!((reports.lock().unwrap().len(), gate.logged("code").len()), (1, 1));
}

#[tokio::test]
async fn a_turn_that_is_finished_says_what_it_owes() {
    let gate = Ordered::new("", OWES, "").await;
    let step = StepId::new("write").unwrap();
    let steps = [TurnStep { id: step.clone(), after: Vec::new() }];
    let mut turn = gate.gate.turn(TurnId::new("turn").unwrap(), steps).await.unwrap();
    let written = turn.step(&step, "write", |request| async {
        let args = json!({ "key": "a", "value": 1 });
        let plan = json!({ "type": "call_tool", "server": "store", "tool": "set", "args": args }).to_string();
        let planned = request.screen().await?.plan(&plan).await?.call().unwrap();
        planned.conform().await?.authorize().await?.dispatch().await.map(drop)
    });
    written.await.unwrap();
    let report = turn.finish().await.unwrap();
    assert_eq!((report.steps.len(), report.owed.len()), (1, 1));
    assert_eq!(report.owed[0].tools[0].to_string(), "store/get");
}

#[tokio::test]
async fn a_turn_of_a_session_reports_what_it_owes_at_its_own_end() {
    let owes = "before_end = [{ tool = 'get', per = 'turn' }]";
    let (gate, reports) = gate(owes, "", &Memory::default(), &clock(), false).await;
    let request = gate.gate.request(TurnId::new("own").unwrap(), "q").of_session(TurnId::new("s").unwrap());
    let args = json!({ "key": "a", "value": 1 });
    let plan = json!({ "type": "call_tool", "server": "store", "tool": "set", "args": args }).to_string();
    let planned = request.screen().await.unwrap().plan(&plan).await.unwrap().call().unwrap();
    drop(planned.conform().await.unwrap().authorize().await.unwrap().dispatch().await.unwrap());
    assert_eq!(gate.gate.end_turn(&TurnId::new("own").unwrap()).len(), 1);
    assert_eq!(*reports.lock().unwrap(), ["closed: turn own, 1"]);
    assert_eq!(gate.gate.end_session(&TurnId::new("s").unwrap(), SessionEnd::Closed), []);
}

#[tokio::test]
async fn a_call_that_is_revoked_before_its_intent_was_refused() {
    for (was, is_counted) in [("refused", true), ("asked", true), ("failed", false), ("made", false)] {
        let gate = Ordered::new("", &format!("after = [{{ tool = 'get', was = '{was}' }}]"), "").await;
        let request = gate.gate.request(TurnId::new("t").unwrap(), "q").of_session(TurnId::new("s").unwrap());
        let plan = json!({ "type": "call_tool", "server": "store", "tool": "get", "args": { "key": "a" } }).to_string();
        let planned = request.screen().await.unwrap().plan(&plan).await.unwrap().call().unwrap();
        let authorized = planned.conform().await.unwrap().authorize().await.unwrap();
        gate.gate.revoke(&TurnId::new("t").unwrap(), &tool("store/get"), Permission::Read).await.unwrap();
        let Err(Stopped::Blocked(refused)) = authorized.dispatch().await else { panic!("it was called") };
        assert_eq!(refused.code, GateCode::G2);
        assert_eq!(gate.set("a", 1).await.is_ok(), is_counted, "{was}");
    }
}

#[tokio::test]
async fn a_refusal_says_as_data_what_it_needs_and_what_came_nearest() {
    let gate = Ordered::new("", READ_FIRST, "").await;
    let data = |refused: omen_gate::Blocked| Value::Object(refused.order().unwrap().data());
    let none = data(gate.set("pool", 1).await.unwrap_err());
    let needs = json!({ "tools": ["store/get"], "members": ["/key"], "within_ms": 600_000 });
    assert_eq!(none, json!({ "rule": "allow[1].after[0]", "needs": needs }));
    // The one that meets most demands is the nearest, and the latest of those.
    gate.get("pool").await.unwrap();
    gate.get("other").await.unwrap();
    gate.clock.advance(secs(601));
    let old = data(gate.set("pool", 1).await.unwrap_err());
    let intents = all_logged(&gate.memory).into_iter().filter(|entry| entry["kind"] == "intent");
    let entries: Vec<_> = intents.map(|entry| entry["sequence"].clone()).collect();
    let nearest = json!({ "tool": "store/get", "entry": entries[0], "age_ms": 601_000, "why": "too old" });
    assert_eq!(old["nearest"], nearest);
    let other = data(gate.set("none", 1).await.unwrap_err());
    assert_eq!((&other["nearest"]["entry"], &other["nearest"]["why"]), (&entries[1], &json!("other /key")));
    let elsewhere = data(gate.call("t", "set", json!({ "key": "pool", "value": 1 })).await.unwrap_err());
    assert_eq!(elsewhere["nearest"]["why"], "other session");
}

#[tokio::test]
async fn the_numbers_of_a_limit_are_of_one_session_or_are_not_told() {
    let gate = Ordered::new("", "max = { sum = { '/value' = 100 }, within = '1h' }", "").await;
    gate.set("a", 82).await.unwrap();
    gate.clock.advance(secs(60));
    let own = gate.set("a", 20).await.unwrap_err();
    let needs = json!({ "limit": 100, "members": ["/value"], "left": 18 });
    let data = own.order().unwrap().data();
    assert_eq!((&data["needs"], &data["retry_after_ms"]), (&needs, &json!(3_540_000)));
    assert!(own.message.contains("82") && own.help.starts_with("ask for 18 or less"), "{own:?}");
    let other = gate.call("t", "set", json!({ "key": "a", "value": 20 })).await.unwrap_err();
    let data = other.order().unwrap().data();
    assert_eq!(
        (&data["needs"], &data["retry_after_ms"]),
        (&json!({ "limit": 100, "members": ["/value"] }), &json!(3_540_000))
    );
    assert!(!other.message.contains("82") && !other.to_string().contains("18"), "{other:?}");
}

#[tokio::test]
async fn a_rule_per_turn_does_not_come_by_a_reload_where_each_call_is_a_turn() {
    let (memory, clock) = (Memory::default(), clock());
    let (gate, _) = gate(READ_FIRST, "", &memory, &clock, true).await;
    let per_turn = text("", "after = [{ tool = 'get', per = 'turn' }]", "[order]\ngather = '0s'\n").await;
    let refused = gate.gate.reload(Config::parse(&per_turn).unwrap()).await.unwrap_err();
    assert_eq!(refused.code, GateCode::C1);
    assert!(refused.message.starts_with("the rule `allow[1].after[0]` applies per turn"), "{refused}");
    // The old rules are in force.
    assert_eq!(code(gate.set("pool", 1).await), GateCode::O1);
    gate.get("pool").await.unwrap();
    gate.set("pool", 1).await.unwrap();
}

#[tokio::test]
async fn a_call_that_waits_is_read_by_the_rules_of_a_reload() {
    let folder = tempfile::tempdir().unwrap();
    let text_of = async |keys: &str| text("", keys, "[order]\ngather = '1min'\n").await;
    let gate = Ordered::on(&text_of("after = ['get']").await, &Memory::default(), &clock());
    let inside = folder.path().join("a").display().to_string();
    let waits = tokio::spawn({
        let (gate, inside) = (gate.gate.clone(), inside.clone());
        async move { call(&gate, "s", "set", json!({ "key": inside, "value": 1 })).await }
    });
    tokio::task::yield_now().await;
    // The new rule follows paths, and applies to the call that waits.
    let folder = folder.path().display();
    let rule = format!("after = [{{ tool = 'get', if = {{ '/key' = {{ under = '{folder}' }} }} }}]");
    gate.gate.reload(Config::parse(&text_of(&rule).await).unwrap()).await.unwrap();
    gate.clock.advance(secs(61));
    assert_eq!(code(waits.await.unwrap()), GateCode::O1);
}
