//! Tasks of an episode through the gate.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use omen_fsm::episode::{
    Act, Arbitration, Belief, Claims, Decide, Directive, Episode, Execute, Fields, Numbered, Observation, Open,
    Pending, Ruling, Setup, TokenSpec, Tradeoff,
};
use omen_fsm::fields;
use omen_gate::confirm::Reply;
use omen_gate::server::{Dispatch, Local, ToolServer};
use omen_gate::tool::{Answer, Tool};
use omen_gate::{Fault, GateClock, GateCode, MAX_RAW_ANSWER, ManualClock, Permission, TurnId};
use omen_invariants::facts::{
    Budgets, Envelope, Epistemics, Evidence, Intent, LowStakes, Observed, OpenEnvelope, Operational, Par, Quality,
    Risk, Routing, Stakes, ToolsOk, adversariality, impact, irreversibility, op, uncertainty,
};
use omen_invariants::{scope, text, tool as typed_tool, unit};
use omen_types::{ErrorDetails, Instant, Packet, ResultStatus, TaskClass};
use serde_json::{Value, json};

use crate::gates::{MAY_WRITE, Person, World, local, world, world_with};
use crate::support::tool;

typed_tool!(Get = "store/get", Read);
typed_tool!(Set = "set", Write);
// Agent that claims that a tool only reads.
typed_tool!(Harmless = "store/set", Read);
typed_tool!(Elsewhere = "rm", Read);
scope!(Change: tools [Set], operations [Modify]);

pub(crate) fn envelope() -> Envelope<LowStakes, Par, ToolsOk> {
    OpenEnvelope {
        intent: Intent::new(text!("look after the pool"), text!("database orders")),
        stakes: Stakes {
            impact: impact::Low,
            irreversibility: irreversibility::Reversible,
            uncertainty: uncertainty::Low,
            adversariality: adversariality::Benign,
        },
        quality: Quality::par(text!("the pool is healthy"), ["pool.ok"]),
        budgets: Budgets { tokens: 1_000, tool_calls: 5, seconds: 600, risk: Risk::new(text!("conservative"), 10) },
        epistemics: Epistemics::new(Observed, Operational, unit!(0.9), text!("read from the live configuration")),
        evidence: Evidence::tool_output(text!("config.get#1"), "2025-12-31T23:59:00Z".parse().unwrap()),
        routing: Routing { task_class: TaskClass::Lookup, tools: ToolsOk },
    }
    .seal()
}

/// The episode uses the gate's clock.
pub(crate) fn setup(clock: &Arc<ManualClock>) -> Setup {
    let clock = Arc::clone(clock);
    let now = move || {
        let since = clock.wall().duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap();
        Instant::default().plus_seconds(since.as_secs())
    };
    // Unique ids: a directive allows one call.
    static NEXT: AtomicU64 = AtomicU64::new(1);
    Setup::new("corr_pool".parse().unwrap(), &envelope(), now)
        .ids(Numbered::from("pool", NEXT.fetch_add(100, Ordering::Relaxed)))
        .claims(&Claims::new())
}

fn acting(clock: &Arc<ManualClock>) -> Episode<Decide<Act>> {
    acting_in(setup(clock))
}

fn acting_in(setup: Setup) -> Episode<Decide<Act>> {
    let left = Arbitration::of(["go"]).veto(|_| true).unwrap().feasible(|_| true).unwrap();
    let ruling: Ruling<_> = left.tradeoff(Tradeoff::SafetyFirst, &text!("it is safe"));
    setup
        .start()
        .unwrap()
        .observe(Observation::user_input(Observed, fields!({ "ask": "raise the pool" })))
        .believe(Belief::new("db", "pool", 50))
        .act(ruling.to_act(), &envelope())
        .unwrap()
}

pub(crate) type Running = (Episode<Open<Execute, 1>>, Pending);

fn reading<T: omen_invariants::facts::Tool<Class = omen_invariants::facts::ReadClass>>(
    world: &World,
    it: T,
    params: Value,
) -> Running {
    let params = Fields::new(params).unwrap();
    let order = Directive::new(it, op::Read, params).timeout_seconds(20).ready();
    let (episode, [task]) = acting(&world.clock).execute([order]).unwrap();
    (episode, task)
}

/// Reading task on a clock.
pub(crate) fn reading_at(clock: &Arc<ManualClock>) -> Running {
    let order = Directive::new(Get, op::Read, fields!({ "key": "pool" })).timeout_seconds(20).ready();
    let (episode, [task]) = acting(clock).execute([order]).unwrap();
    (episode, task)
}

pub(crate) fn writing(world: &World, value: i64) -> Running {
    writing_in(setup(&world.clock), value)
}

pub(crate) fn writing_in(setup: Setup, value: i64) -> Running {
    order_to_write(setup, value, 60)
}

/// Task under a token that is valid for some seconds.
fn writing_within(world: &World, value: i64, seconds: u32) -> Running {
    order_to_write(setup(&world.clock), value, seconds)
}

fn order_to_write(setup: Setup, value: i64, seconds: u32) -> Running {
    let (episode, [permit]) =
        acting_in(setup).authorize::<Change, 1>(TokenSpec::new(seconds, text!("ticket OPS-77"))).unwrap();
    let order = Directive::new(Set, op::Modify, fields!({ "key": "pool", "value": value })).with(permit);
    let (episode, [task]) = episode.execute([order]).unwrap();
    (episode, task)
}

/// Result as in the episode's log.
async fn settle(world: &World, (episode, task): Running) -> (ResultStatus, Value, Option<ErrorDetails>, Option<u64>) {
    let settled = world.gate.run(task).await;
    let episode = episode.settle([settled]).unwrap();
    let mut findings: Vec<omen::Finding> = Vec::new();
    let mut validator = omen::Validator::new(omen::ValidatorOptions::default());
    for line in episode.lines() {
        let Ok(()) = validator.feed(format!("{line}\n").as_bytes(), &mut findings);
    }
    let contradicts = findings.iter().any(|finding| finding.diagnostic.code == omen::Code::Claim);
    assert!(!contradicts, "what the gate writes contradicts nothing: {findings:?}");
    let Packet::TaskResult(result) = episode.lines().last().unwrap().parse().unwrap() else { panic!("no result") };
    let calls = result.payload.execution_metadata.and_then(|used| used.tool_calls_used).map(|calls| calls.get());
    (result.payload.result_status, result.payload.result_data.unwrap_or_default(), result.payload.error_details, calls)
}

async fn refused(world: &World, running: Running) -> String {
    let (status, _, details, calls) = settle(world, running).await;
    assert_eq!((status, calls), (ResultStatus::Failure, Some(0)));
    assert_eq!(world.seen.calls(), 0, "no tool ran");
    details.unwrap().error_code.unwrap()
}

#[tokio::test]
async fn a_task_comes_back_with_the_typed_answer_and_the_log_tells_the_packet() {
    let world = world("", |builder| builder).await;
    let running = reading(&world, Get, json!({ "key": "pool" }));
    let directive = running.1.directive().to_string();
    let (status, data, _, calls) = settle(&world, running).await;
    assert_eq!((status, data, calls), (ResultStatus::Success, json!({ "key": "pool", "value": 50 }), Some(1)));
    assert_eq!(world.kinds(), ["decision", "intent", "outcome"]);
    for entry in world.entries() {
        assert_eq!((&entry["packet_id"], &entry["correlation_id"]), (&json!(directive), &json!("corr_pool")));
        assert_eq!(entry["turn"], "corr_pool", "the episode is the turn");
    }
}

#[tokio::test]
async fn token_grant_and_confirmation_are_asked_for_together() {
    let agreed = Person::who_says(Reply::Confirmed);
    let all = world(MAY_WRITE, |builder| builder.confirmer(agreed)).await;
    let (status, data, _, calls) = settle(&all, writing(&all, 80)).await;
    assert_eq!((status, calls), (ResultStatus::Success, Some(1)));
    assert_eq!(
        (&data["typed"], &data["structuredContent"]["value"]),
        (&json!(false), &json!(80)),
        "no type is registered"
    );

    // Without the grant, without the confirmation, without the token.
    let no_grant = world("", |builder| builder.confirmer(Person::who_says(Reply::Confirmed))).await;
    assert_eq!(refused(&no_grant, writing(&no_grant, 80)).await, "G1");
    let no_confirmation = world(MAY_WRITE, |builder| builder).await;
    assert_eq!(refused(&no_confirmation, writing(&no_confirmation, 80)).await, "G3");
    let no_token = world(MAY_WRITE, |builder| builder.confirmer(Person::who_says(Reply::Confirmed))).await;
    let dressed_up = reading(&no_token, Harmless, json!({ "key": "pool", "value": 80 }));
    assert_eq!(refused(&no_token, dressed_up).await, "G1", "what the agent says of a tool does not count");
    assert_eq!(no_token.kinds(), ["decision G1"]);
}

#[tokio::test]
async fn a_token_that_expires_before_the_call_is_worth_nothing() {
    let world = world(MAY_WRITE, |builder| builder.confirmer(Person::who_says(Reply::Confirmed))).await;
    let running = writing(&world, 80);
    world.clock.advance(Duration::from_secs(60));
    assert_eq!(refused(&world, running).await, "G2");
}

#[tokio::test]
async fn a_clock_that_is_set_back_does_not_revive_a_token() {
    let world = world(MAY_WRITE, |builder| builder.confirmer(Person::who_says(Reply::Confirmed))).await;
    let running = writing(&world, 80);
    world.clock.advance(Duration::from_secs(60));
    world.clock.set_wall(crate::support::start());
    assert_eq!(refused(&world, running).await, "G2");
}

#[tokio::test(start_paused = true)]
async fn g2_a_call_that_runs_is_broken_off_when_its_token_expires() {
    let world = world(MAY_WRITE, |builder| builder.confirmer(Person::who_says(Reply::Confirmed))).await;
    world.seen.fail_with(Some(Fault::Timeout { after: Duration::ZERO }));
    let running = writing_within(&world, 80, 10);
    let began = tokio::time::Instant::now();
    let (status, _, details, calls) = settle(&world, running).await;
    assert_eq!((status, calls, began.elapsed().as_secs()), (ResultStatus::Failure, Some(1), 10));
    assert_eq!(details.unwrap().error_code.as_deref(), Some("G2"));
    assert_eq!(world.kinds().last().unwrap(), "outcome G2");
}

#[tokio::test]
async fn a_directive_whose_time_is_over_calls_nothing() {
    let world = world("", |builder| builder).await;
    let running = reading(&world, Get, json!({ "key": "pool" }));
    world.clock.advance(Duration::from_secs(21));
    assert_eq!(refused(&world, running).await, "G2");
}

#[tokio::test]
async fn what_the_gate_refuses_is_a_failure_with_its_code() {
    let world = world("", |builder| builder).await;
    assert_eq!(refused(&world, reading(&world, Elsewhere, json!({ "path": "a" }))).await, "PG-3");
    let extra = json!({ "key": "pool", "operation": "read" });
    assert_eq!(refused(&world, reading(&world, Get, extra)).await, "PG-2");
    let operator = TurnId::new("operator").unwrap();
    world.gate.revoke(&operator, &tool("store/get"), Permission::Read).await.unwrap();
    assert_eq!(refused(&world, reading(&world, Get, json!({ "key": "pool" }))).await, "G2");
}

#[tokio::test(start_paused = true)]
async fn a_fault_is_a_failure_with_its_class_and_the_turn_ends_when_its_budget_is_spent() {
    let world = world("", |builder| builder).await;
    world.seen.fail_with(Some(Fault::Timeout { after: Duration::ZERO }));
    for calls in 1..=2 {
        let (status, _, details, used) = settle(&world, reading(&world, Get, json!({ "key": "pool" }))).await;
        let details = details.unwrap();
        assert_eq!((status, used), (ResultStatus::Failure, Some(1)));
        assert_eq!((details.error_code.as_deref(), details.is_transient), (Some("timeout"), Some(true)));
        assert_eq!(details.retry_recommended, Some(false), "it may have run");
        assert_eq!(world.seen.calls(), calls);
    }
    let (status, _, details, used) = settle(&world, reading(&world, Get, json!({ "key": "pool" }))).await;
    assert_eq!((status, used), (ResultStatus::Failure, Some(0)));
    assert_eq!(details.unwrap().error_code.unwrap(), GateCode::R2.as_str());
    assert_eq!(world.seen.calls(), 2);
}

#[tokio::test]
async fn an_answer_of_failure_is_no_success() {
    let world = world(MAY_WRITE, |builder| builder.confirmer(Person::who_says(Reply::Confirmed))).await;
    let (status, _, details, used) = settle(&world, writing(&world, -1)).await;
    assert_eq!((status, used), (ResultStatus::Failure, Some(1)));
    let details = details.unwrap();
    assert_eq!(details.error_code.as_deref(), Some("tool"));
    assert!(details.error_message.unwrap().contains("a pool is not negative"));
}

#[tokio::test]
async fn pg_6_a_directive_is_good_for_one_call() {
    let world = world("", |builder| builder).await;
    let (episode, first) = reading(&world, Get, json!({ "key": "pool" }));
    let log: Vec<String> = episode.lines().to_vec();
    // The caller that resumes the episode receives the open task again, in another process without knowledge of this
    // one.
    let again = Setup::new("corr_pool".parse().unwrap(), &envelope(), Instant::default).claims(&Claims::new());
    let again = omen_fsm::episode::AnyEpisode::resume(again, log.iter().map(String::as_str)).unwrap();
    let omen_fsm::episode::AnyEpisode::ExecuteOpen(again) = again else { panic!("{again:?}") };
    let second = again.tasks().remove(0);
    assert_eq!(world.gate.run(first).await.status(), ResultStatus::Success);
    assert_eq!(world.gate.run(second).await.status(), ResultStatus::Failure);
    assert_eq!(world.seen.calls(), 1);
    assert_eq!(world.kinds().last().unwrap(), "decision PG-6");
}

/// Server that lists the tools of a gate's configuration, and answers as configured.
#[derive(Debug)]
struct Says {
    local: Local,
    answer: Answer,
}

#[async_trait]
impl ToolServer for Says {
    async fn list(&self) -> Result<Vec<Tool>, Fault> {
        self.local.list().await
    }

    async fn call(&self, _: Dispatch) -> Result<Answer, Fault> {
        Ok(self.answer.clone())
    }
}

async fn world_that_says(answer: Value) -> World {
    let answer = serde_json::from_value(answer).unwrap();
    world_with("[limits]\nanswer_bytes = 4_194_304\n", Says { local: local(), answer }, |builder| builder).await
}

#[tokio::test]
async fn pg_4_an_answer_of_another_type_comes_back_raw_in_a_failure() {
    for answer in [
        json!({ "content": [{ "type": "text", "text": "50" }], "structuredContent": { "key": "pool", "value": "50" } }),
        json!({ "content": [{ "type": "text", "text": "50" }] }),
        json!({ "content": [], "structuredContent": { "key": "pool", "value": 1.5 }, "typed": true }),
    ] {
        let world = world_that_says(answer.clone()).await;
        let (status, data, details, calls) = settle(&world, reading(&world, Get, json!({ "key": "pool" }))).await;
        let details = details.unwrap();
        assert_eq!((status, calls), (ResultStatus::Failure, Some(1)));
        assert_eq!(details.error_code.as_deref(), Some("PG-4"));
        let message = details.error_message.unwrap();
        assert!(message.starts_with("PG-4: typed parsing blocked: "), "{message}");
        let mut expected = answer;
        expected["typed"] = json!(false);
        assert_eq!(data, expected);
        assert_eq!(world.kinds(), ["decision", "intent", "outcome", "decision PG-4"]);
    }
}

#[tokio::test]
async fn pg_4_a_raw_answer_is_cut_where_it_is_too_long_or_too_deep() {
    let long = json!({ "content": [{ "type": "text", "text": "ä".repeat(1 << 20) }] });
    let deep = (0..100).fold(json!(1), |value, _| json!([value]));
    let deep = json!({ "content": [], "structuredContent": { "key": deep, "value": 50 } });
    for answer in [long, deep] {
        let world = world_that_says(answer.clone()).await;
        let (status, data, details, _) = settle(&world, reading(&world, Get, json!({ "key": "pool" }))).await;
        assert_eq!((status, details.unwrap().error_code.as_deref()), (ResultStatus::Failure, Some("PG-4")));
        let mut whole = answer;
        whole["typed"] = json!(false);
        let whole = whole.to_string();
        assert_eq!((&data["typed"], &data["bytes"]), (&json!(false), &json!(whole.len())));
        let cut = data["cut"].as_str().unwrap();
        assert!(cut.len() <= MAX_RAW_ANSWER && cut.len() > 100);
        assert!(whole.starts_with(&cut[..20]) && whole.ends_with(&cut[cut.len() - 20..]), "both ends: {cut:.100}");
    }
}

#[tokio::test]
async fn pg_4_a_raw_answer_whose_mark_cannot_be_recorded_is_withheld() {
    let world = world_that_says(json!({ "content": [{ "type": "text", "text": "secret" }] })).await;
    let running = reading(&world, Get, json!({ "key": "pool" }));
    // The log has room for two groups, decision and intent, and outcome, but not for the mark.
    world.room.store(2, Ordering::SeqCst);
    let (status, data, details, _) = settle(&world, running).await;
    assert_eq!(
        (status, data, details.unwrap().error_code.as_deref()),
        (ResultStatus::Failure, Value::Null, Some("A1"))
    );
}
