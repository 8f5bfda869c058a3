//! The proxy as the Integrity overlay: what halts an episode, and how an operator ends safe mode.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use omen_gate::ManualClock;
use omen_gate::config::OnVeto;
use omen_proxy::Proxy;
use omen_proxy::episode::{Budgets, Mode, Recording};
use serde_json::{Value, json};

use super::play::{Human, Lines, server, transcripts};
use crate::support::{World, config};

/// A session whose episode has decided to act, ten seconds at most, with a human who answers in this order.
struct Acting {
    world: World,
    log: Lines,
    made: Arc<Mutex<Vec<String>>>,
    clock: Arc<ManualClock>,
    human: Human,
    /// An observation, a belief, and a decision to act.
    lines: Vec<Value>,
    id: u64,
}

impl Acting {
    async fn new(on_veto: OnVeto, calls: usize) -> Self {
        let (log, human, made) = (Lines::default(), Human::default(), Arc::<Mutex<Vec<String>>>::default());
        let clock = Arc::new(ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_772_000_000)));
        let mut config = config("");
        config.on_veto = on_veto;
        let recording =
            Recording::new(Mode::Enforce, log.clone()).budgets(Budgets { tool_calls: None, seconds: Some(10) });
        let proxy = Proxy::builder(config, "session".parse().unwrap());
        let proxy = proxy.episode(recording).confirmer(human.clone()).clock(Arc::clone(&clock) as Arc<_>);
        let (mut world, end) = World::with_server(proxy);
        tokio::spawn(server(end, Arc::clone(&made)));
        world.client.shake_hands(json!({})).await;
        let (_, lines) = transcripts().into_iter().find(|(name, _)| name == "two-at-once").unwrap();
        let mut acting = Self { world, log, made, clock, human, lines, id: 0 };
        for line in 0..calls {
            acting.line(line, |_| {}).await;
        }
        acting
    }

    /// Makes one of the calls of the transcript, changed.
    async fn line(&mut self, line: usize, change: impl FnOnce(&mut Value)) -> Value {
        let mut args = self.lines[line]["arguments"].clone();
        change(&mut args);
        let call = self.lines[line]["call"].as_str().unwrap().to_owned();
        self.call(&call, args).await
    }

    async fn call(&mut self, tool: &str, args: Value) -> Value {
        self.id += 1;
        self.world.client.call(self.id, tool, args).await["result"].clone()
    }

    async fn veto(&mut self) -> Value {
        self.line(2, |args| args["constraints_satisfied"]["constitutional_check"] = false.into()).await
    }

    async fn escalate(&mut self, answer: Option<bool>) -> Value {
        self.human.answers(answer);
        self.call("omen_escalate", json!({"escalation_trigger": "other"})).await
    }

    fn alerts(&self) -> Vec<Value> {
        let alert = |packet: &Value| packet["header"]["packet_type"] == "IntegrityAlertPacket";
        self.log.all().into_iter().filter(alert).map(|packet| packet["payload"].clone()).collect()
    }

    /// The errors of a validator once the session has ended.
    async fn errors(self) -> Vec<String> {
        self.world.close().await;
        let found = self.log.findings();
        let errors = found.iter().filter(|finding| finding.diagnostic.severity == omen::Severity::Error);
        errors.map(|finding| finding.diagnostic.to_string()).collect()
    }
}

fn state(result: &Value) -> &str {
    result["structuredContent"]["state"].as_str().unwrap_or_else(|| panic!("{result}"))
}

fn code(result: &Value) -> &str {
    result["structuredContent"]["code"].as_str().unwrap_or_else(|| panic!("{result}"))
}

#[tokio::test]
async fn a_decision_to_act_that_violates_the_constitution_halts_the_episode_until_an_operator_ends_that() {
    let mut acting = Acting::new(OnVeto::Halt, 2).await;
    let refused = acting.veto().await;
    assert_eq!((code(&refused), state(&refused)), ("INV-006", "S9_SAFEMODE"), "{refused}");
    let [alert] = acting.alerts().try_into().unwrap();
    assert_eq!(alert["severity"], "CRITICAL");
    assert_eq!(alert["alert_type"], "constitutional_violation");
    assert_eq!(code(&acting.call("write", json!({"x": "tea"})).await), "E7");
    // Nobody answers, somebody says no, somebody says yes.
    for (answer, expected) in [(None, "S9_SAFEMODE"), (Some(false), "S9_SAFEMODE"), (Some(true), "S7_REVIEW")] {
        let asked = acting.escalate(answer).await;
        assert_eq!((asked["isError"].clone(), state(&asked)), (json!(false), expected), "{asked}");
    }
    let clear = acting.alerts().pop().unwrap();
    assert_eq!((clear["severity"].as_str(), clear["alert_type"].as_str()), (Some("CLEAR"), Some("recovery")));
    assert!(clear["rationale"].as_str().unwrap().contains("via test"), "{clear}");
    assert!(acting.made.lock().unwrap().is_empty());
    assert_eq!(acting.errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_budget_that_is_overrun_halts_the_episode_and_the_operator_may_go_beyond_it() {
    let mut acting = Acting::new(OnVeto::Halt, 3).await;
    acting.clock.advance(Duration::from_secs(11));
    let refused = acting.call("write", json!({"x": "tea"})).await;
    assert_eq!((code(&refused), state(&refused)), ("INV-005", "S9_SAFEMODE"), "{refused}");
    let [alert] = acting.alerts().try_into().unwrap();
    assert_eq!((alert["severity"].as_str(), alert["alert_type"].as_str()), (Some("CRITICAL"), Some("budget_overrun")));
    assert!(alert["summary"].as_str().unwrap().contains("10"), "{alert}");
    let asked = acting.escalate(Some(true)).await;
    assert_eq!(state(&asked), "S7_REVIEW", "{asked}");
    assert!(acting.alerts().pop().unwrap()["rationale"].as_str().unwrap().contains("budget override"));
    // What was approved holds: the episode goes on, and is not halted again.
    let observed = acting.line(0, |_| {}).await;
    assert_eq!(state(&observed), "S1_SENSE", "{observed}");
    for line in [1, 2] {
        let accepted = acting.line(line, |_| {}).await;
        assert_eq!(accepted["isError"], false, "{accepted}");
    }
    let written = acting.call("write", json!({"x": "tea"})).await;
    assert_eq!(written["content"][0]["text"], "{\"x\":\"tea\"}", "{written}");
    assert_eq!(acting.errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn an_episode_that_ends_over_its_budget_ends_halted() {
    let mut acting = Acting::new(OnVeto::Halt, 3).await;
    let _ = acting.call("write", json!({"x": "tea"})).await;
    acting.clock.advance(Duration::from_secs(11));
    assert_eq!(acting.errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn with_refuse_nothing_is_halted() {
    let mut acting = Acting::new(OnVeto::Refuse, 2).await;
    let refused = acting.veto().await;
    assert_eq!((code(&refused), state(&refused)), ("INV-006", "S2_MODEL"), "{refused}");
    acting.clock.advance(Duration::from_secs(11));
    let cancelled = acting.line(2, |args| {
        args["decision_outcome"] = "CANCEL".into();
        args.as_object_mut().unwrap().remove("tools");
    });
    assert_eq!(cancelled.await["isError"], false);
    assert!(acting.alerts().is_empty(), "{:?}", acting.alerts());
}
