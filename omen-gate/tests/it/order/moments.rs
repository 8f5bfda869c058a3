//! What changes while a call is between two steps, and what a caller says of refusals of its own.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use omen_gate::audit::store::Memory;
use omen_gate::pipeline::{Conformant, Request};
use omen_gate::{Blocked, Config, Gate, GateCode, TurnId};
use serde_json::{Value, json};

use super::{Ordered, audit, text};
use crate::gates::Disk;
use crate::support::clock;

const SHADOW: &str = "[order]\ngather = '0s'\n[policy]\nshadow = true\n";

/// Polls a future once, and says whether it waits for something.
async fn is_waiting<T>(mut future: Pin<&mut impl Future<Output = T>>) -> bool {
    poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_pending())).await
}

async fn conformant(gate: &Gate, turn: &str, tool: &str, args: Value) -> Request<Conformant> {
    let request = gate.request(TurnId::new(turn).unwrap(), "q").of_session(TurnId::new("s").unwrap());
    let plan = json!({ "type": "call_tool", "server": "store", "tool": tool, "args": args }).to_string();
    let planned = request.screen().await.unwrap().plan(&plan).await.unwrap().call().unwrap();
    planned.conform().await.unwrap()
}

#[tokio::test]
async fn a_call_that_is_refused_while_shadow_mode_begins_does_not_wait() {
    let folder = tempfile::tempdir().unwrap();
    // The order rule follows paths, so the call is read on another thread.
    let (get, set) = (
        "[allow.where]\n\"/key\" = { in = [\"pool\"] }",
        format!("after = [{{ tool = 'get', where = {{ '/key' = {{ under = '{}' }} }} }}]", folder.path().display()),
    );
    let gate = Ordered::new(get, &set, "").await;
    let mut authorizing =
        Box::pin(conformant(&gate.gate, "t", "get", json!({ "key": "/elsewhere" })).await.authorize());
    assert!(is_waiting(authorizing.as_mut()).await);
    gate.gate.reload(Config::parse(&text(get, &set, SHADOW).await).unwrap()).await.unwrap();
    let authorized = tokio::time::timeout(Duration::from_secs(30), authorizing).await.expect("it waits for ever");
    assert_eq!(authorized.err().map(|refused| refused.code), Some(GateCode::Pg3));
}

#[tokio::test]
async fn a_call_that_is_dropped_while_shadow_mode_records_its_refusal_was_refused() {
    let limited = "max = { calls = 1, within = '1h' }";
    let (memory, clock, waits) = (Memory::default(), clock(), Arc::<AtomicBool>::default());
    let gate = Ordered::with(&text("", limited, SHADOW).await, &memory, &clock, |builder| {
        let disk = Disk { memory: memory.clone(), room: Arc::new(u32::MAX.into()), waits: Arc::clone(&waits) };
        builder.audit(audit(disk, &clock))
    });
    let gate = gate.unwrap();
    let of = |key: &str| json!({ "key": key, "value": 1 });
    let authorized = conformant(&gate.gate, "t", "set", of("a")).await.authorize().await.unwrap();
    // After this one the limit is reached.
    gate.set("b", 1).await.unwrap();
    waits.store(true, Ordering::SeqCst);
    let mut dispatching = Box::pin(authorized.dispatch());
    for _ in 0..5 {
        assert!(is_waiting(dispatching.as_mut()).await);
        tokio::task::yield_now().await;
    }
    drop(dispatching);
    waits.store(false, Ordering::SeqCst);
    gate.gate.turn_is_over(&TurnId::new("t").unwrap(), "so that all entries are in the log").await.unwrap();
    assert!(gate.logged("outcome").iter().any(|data| data["outcome"] == "shadow"));
    let refused = gate.logged("order").iter().filter(|data| data["order"]["event"] == "refused").count();
    assert_eq!(refused, 1);
    let needs_refusal = text("after = [{ tool = 'set', was = 'refused' }]", "", "[order]\ngather = '0s'\n").await;
    gate.gate.reload(Config::parse(&needs_refusal).unwrap()).await.unwrap();
    gate.get("a").await.unwrap();
}

#[tokio::test]
async fn a_refusal_of_the_caller_says_what_is_owed() {
    let gate = Ordered::new("", "before_end = [{ tool = 'get', same = ['/key'] }]", "").await;
    let help = |session: &str, help: &str| {
        let refused = Blocked::new(GateCode::A2, "it names no turn", help);
        gate.gate.with_debts(&TurnId::new(session).unwrap(), refused).help
    };
    assert_eq!(help("s", "name it"), "name it");
    gate.set("a", 1).await.unwrap();
    assert!(help("s", "name it").starts_with("name it. Still owed before the end: `store/get` for 1 call (entry "));
    assert!(help("s", "").starts_with("Still owed before the end: `store/get` for 1 call (entry "));
    assert_eq!(help("t", ""), "");
}
