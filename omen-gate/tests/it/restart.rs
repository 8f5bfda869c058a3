//! State from the audit log after a restart: directives, budgets, revocations and calls in doubt (PG-6, R2, G2). A
//! killed gate is a copy of its log at that moment.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use omen_fsm::episode::{AnyEpisode, Claims, Setup};
use omen_gate::audit::store::Memory;
use omen_gate::audit::{Audit, AuditError, InDoubt, Key, Options};
use omen_gate::breaker::BreakerState;
use omen_gate::pipeline::{Authorized, Dispatched, Request};
use omen_gate::server::{Dispatch, Local, ToolServer};
use omen_gate::tool::{Answer, Tool};
use omen_gate::{Fault, Gate, GateClock, GateCode, ManualClock, Permission, ServerName, Stopped, ToolName, TurnId};
use omen_types::{Instant, ResultStatus};
use serde_json::{Value, json};

use crate::bridge::{envelope, reading_at};
use crate::gates::{config, local};
use crate::random::Random;
use crate::support::{all_logged, clock, tool};

const MAY: &str = "[[grants]]\nserver = 'store'\ntool = 'set'\npermissions = ['WRITE']\npre_granted = true\n\
                   [breaker]\nfailures = 3\ncooldown_seconds = 60\n\
                   [audit]\nlog = 'l'\nkey_file = 'k'\narguments = 'full'\n";

/// Server that copies the log during a call, and answers as configured.
#[derive(Clone, Debug)]
struct Copies {
    local: Arc<Local>,
    log: Memory,
    copy: Arc<Mutex<Option<Memory>>>,
    fault: Arc<Mutex<Option<Fault>>>,
    calls: Arc<Mutex<Vec<Value>>>,
}

#[async_trait]
impl ToolServer for Copies {
    async fn list(&self) -> Result<Vec<Tool>, Fault> {
        self.local.list().await
    }

    async fn call(&self, dispatch: Dispatch) -> Result<Answer, Fault> {
        self.calls.lock().unwrap().push(json!(dispatch.args()));
        *self.copy.lock().unwrap() = Some(Memory::new(self.log.bytes(), self.log.head_bytes()));
        let fault = self.fault.lock().unwrap().clone();
        match fault {
            Some(fault) => Err(fault),
            None => self.local.call(dispatch).await,
        }
    }
}

struct Run {
    gate: Gate,
    server: Copies,
    clock: Arc<ManualClock>,
}

fn key() -> Key {
    Key::from_bytes(&std::array::from_fn::<u8, 32, _>(|i| i as u8)).unwrap()
}

impl Run {
    /// Gate on a log, at a time.
    async fn on(log: &Memory, clock: &Arc<ManualClock>, more: &str) -> Self {
        let server = Copies {
            local: Arc::new(local()),
            log: log.clone(),
            copy: Arc::default(),
            fault: Arc::default(),
            calls: Arc::default(),
        };
        let shared: Arc<dyn GateClock> = clock.clone();
        let audit = Audit::over(log.clone(), key(), Arc::clone(&shared), Options::default()).unwrap();
        let builder = Gate::builder(config(more).await).audit(audit).clock(shared);
        let gate = builder.server(ServerName::new("store").unwrap(), server.clone()).build().unwrap();
        Self { gate, server, clock: Arc::clone(clock) }
    }

    async fn new() -> (Self, Memory) {
        let log = Memory::default();
        (Self::on(&log, &clock(), MAY).await, log)
    }

    /// Kills the gate during a call, and returns the log that the next one finds.
    async fn killed_within(&self, turn: &str, name: &str, args: Value) -> Memory {
        let _ = self.call(turn, name, args).await;
        self.server.copy.lock().unwrap().take().unwrap()
    }

    async fn authorized(&self, turn: &str, name: &str, args: Value) -> Request<Authorized> {
        let (server, tool) = name.split_once('/').unwrap();
        let plan = json!({ "type": "call_tool", "server": server, "tool": tool, "args": args }).to_string();
        let request = self.gate.request(TurnId::new(turn).unwrap(), "what is the pool?");
        let way = request.screen().await.unwrap().plan(&plan).await.unwrap();
        way.call().unwrap().conform().await.unwrap().authorize().await.unwrap()
    }

    async fn call(&self, turn: &str, name: &str, args: Value) -> Result<Request<Dispatched>, Stopped> {
        self.authorized(turn, name, args).await.dispatch().await
    }

    fn fails_with(&self, fault: Option<Fault>) {
        *self.server.fault.lock().unwrap() = fault;
    }

    fn calls(&self) -> usize {
        self.server.calls.lock().unwrap().len()
    }
}

fn set(value: i64) -> Value {
    json!({ "key": "pool", "value": value })
}

fn code(stopped: Result<Request<Dispatched>, Stopped>) -> GateCode {
    stopped.unwrap_err().code()
}

#[tokio::test]
async fn pg_6_a_call_in_doubt_is_not_repeated() {
    let (run, _) = Run::new().await;
    let left = run.killed_within("turn_1", "store/set", set(60)).await;

    let again = Run::on(&left, &run.clock, MAY).await;
    let doubts = again.gate.in_doubt();
    let [InDoubt { sequence, turn, tool, packet_id: None, .. }] = doubts.as_slice() else { panic!("{doubts:?}") };
    assert_eq!((turn.as_str(), tool.as_str()), ("turn_1", "store/set"));
    let intent = &all_logged(&left)[*sequence as usize - 1];
    assert_eq!((&intent["kind"], &intent["data"]["args"]), (&json!("intent"), &set(60)));
    for turn in ["turn_1", "turn_2"] {
        let Err(Stopped::Blocked(why)) = again.call(turn, "store/set", set(60)).await else { panic!("it is refused") };
        assert_eq!(why.code, GateCode::Pg6);
        assert!(why.message.contains(&format!("(entry {sequence} of")), "{why:?}");
        assert!(why.help.contains("omen audit settle"), "{why:?}");
    }
    assert_eq!(again.calls(), 0);
    // A different call is not affected.
    let _ = again.call("turn_2", "store/set", set(61)).await.unwrap();
    assert_eq!(again.calls(), 1);
}

/// A tool that only reads may be called again, in another turn.
#[tokio::test]
async fn a_reading_call_in_doubt_may_be_made_in_another_turn() {
    let (run, _) = Run::new().await;
    let left = run.killed_within("turn_1", "store/get", json!({ "key": "pool" })).await;
    let again = Run::on(&left, &run.clock, MAY).await;
    assert_eq!(again.gate.in_doubt().len(), 1);
    assert_eq!(code(again.call("turn_1", "store/get", json!({ "key": "pool" })).await), GateCode::Pg6);
    let _ = again.call("turn_2", "store/get", json!({ "key": "pool" })).await.unwrap();
}

#[tokio::test]
async fn a_call_in_doubt_is_settled_by_an_entry() {
    for ran in [false, true] {
        let (run, _) = Run::new().await;
        let left = run.killed_within("turn_1", "store/set", set(60)).await;
        let audit = Audit::over(left.clone(), key(), run.clock.clone(), Options::default()).unwrap();
        let [InDoubt { sequence, .. }] = audit.in_doubt()[..] else { panic!("one") };
        assert!(matches!(audit.settle(sequence + 1, ran), Err(AuditError::NotInDoubt(_))));
        let _ = audit.settle(sequence, ran).unwrap();
        drop(audit);
        let outcome = all_logged(&left).pop().unwrap();
        let expect = if ran { "yes" } else { "no" };
        assert_eq!((&outcome["kind"], &outcome["data"]["ran"]), (&json!("outcome"), &json!(expect)));

        let again = Run::on(&left, &run.clock, MAY).await;
        assert!(again.gate.in_doubt().is_empty());
        let _ = again.call("turn_2", "store/set", set(60)).await.unwrap();
    }
}

/// An episode that is resumed after the restart returns its task again.
#[tokio::test]
async fn pg_6_a_directive_that_was_called_is_not_called_again() {
    let (run, log) = Run::new().await;
    let (episode, task) = reading_at(&run.clock);
    let lines: Vec<String> = episode.lines().to_vec();
    let resumed = Setup::new("corr_pool".parse().unwrap(), &envelope(), Instant::default).claims(&Claims::new());
    let resumed = AnyEpisode::resume(resumed, lines.iter().map(String::as_str)).unwrap();
    let AnyEpisode::ExecuteOpen(resumed) = resumed else { panic!("{resumed:?}") };
    let again = resumed.tasks().remove(0);
    assert_eq!(run.gate.run(task).await.status(), ResultStatus::Success);
    let clock = Arc::clone(&run.clock);
    drop(run);

    let next = Run::on(&log, &clock, MAY).await;
    let refused = next.gate.run(again).await;
    assert_eq!(refused.status(), ResultStatus::Failure);
    assert_eq!(next.calls(), 0);
    let last = all_logged(&log).pop().unwrap();
    assert_eq!((&last["kind"], &last["data"]["code"]), (&json!("decision"), &json!("PG-6")));
}

#[tokio::test]
async fn r2_the_failures_of_a_turn_count_after_a_restart() {
    let (run, log) = Run::new().await;
    run.fails_with(Some(Fault::Tool { message: "no".to_owned() }));
    assert!(run.call("turn_1", "store/get", json!({ "key": "a" })).await.is_err());
    assert!(run.call("turn_2", "store/get", json!({ "key": "a" })).await.is_err());
    assert!(run.call("turn_2", "store/get", json!({ "key": "b" })).await.is_err());
    let clock = Arc::clone(&run.clock);
    drop(run);

    let again = Run::on(&log, &clock, MAY).await;
    // Two failures in a row are the limit.
    assert_eq!(code(again.call("turn_2", "store/get", json!({ "key": "c" })).await), GateCode::R2);
    assert_eq!(again.calls(), 0);
    // One failure, then a success, then one more.
    let _ = again.call("turn_1", "store/get", json!({ "key": "c" })).await.unwrap();
    again.fails_with(Some(Fault::Tool { message: "no".to_owned() }));
    assert!(again.call("turn_1", "store/get", json!({ "key": "d" })).await.is_err());
    drop(again);
    let third = Run::on(&log, &clock, MAY).await;
    let _ = third.call("turn_1", "store/get", json!({ "key": "e" })).await.unwrap();
    third.fails_with(Some(Fault::Tool { message: "no".to_owned() }));
    assert!(third.call("turn_1", "store/get", json!({ "key": "f" })).await.is_err());
    drop(third);
    let fourth = Run::on(&log, &clock, MAY).await;
    assert_eq!(code(fourth.call("turn_1", "store/get", json!({ "key": "g" })).await), GateCode::R2, "three in all");
}

/// A call that may have run is a failure of its turn.
#[tokio::test]
async fn r2_a_call_in_doubt_is_a_failure() {
    let (run, _) = Run::new().await;
    run.fails_with(Some(Fault::Tool { message: "no".to_owned() }));
    assert!(run.call("turn_1", "store/get", json!({ "key": "a" })).await.is_err());
    run.fails_with(None);
    let left = run.killed_within("turn_1", "store/get", json!({ "key": "b" })).await;
    let again = Run::on(&left, &run.clock, MAY).await;
    assert_eq!(code(again.call("turn_1", "store/get", json!({ "key": "c" })).await), GateCode::R2);
}

#[tokio::test]
async fn r1_breakers_are_closed_after_a_restart() {
    let (run, log) = Run::new().await;
    let get = ToolName::new("get").unwrap();
    run.fails_with(Some(Fault::Died { why: "it is gone".to_owned() }));
    for turn in ["turn_1", "turn_2", "turn_3"] {
        assert!(run.call(turn, "store/get", json!({ "key": "a" })).await.is_err());
    }
    assert_eq!(run.gate.health().breakers.get(&get), Some(&BreakerState::Open { remaining_ms: 60_000 }));
    assert_eq!(code(run.call("turn_4", "store/get", json!({ "key": "a" })).await), GateCode::R1);
    let clock = Arc::clone(&run.clock);
    drop(run);
    // The log says that the breaker was open. No time has passed.
    let again = Run::on(&log, &clock, MAY).await;
    assert_eq!(again.gate.health().breakers.get(&get), None);
    let _ = again.call("turn_5", "store/get", json!({ "key": "a" })).await.unwrap();
    // A restart does not reset the failures of a turn (R2).
    again.fails_with(Some(Fault::Died { why: "it is gone".to_owned() }));
    assert!(again.call("turn_3", "store/get", json!({ "key": "a" })).await.is_err());
    assert_eq!(code(again.call("turn_3", "store/get", json!({ "key": "a" })).await), GateCode::R2);
}

#[tokio::test]
async fn g2_what_was_revoked_stays_revoked() {
    let (run, log) = Run::new().await;
    let operator = TurnId::new("operator").unwrap();
    run.gate.revoke(&operator, &tool("store/set"), Permission::Write).await.unwrap();
    let clock = Arc::clone(&run.clock);
    drop(run);
    // After any number of restarts.
    for _ in 0..3 {
        let again = Run::on(&log, &clock, MAY).await;
        let plan = json!({ "type": "call_tool", "server": "store", "tool": "set", "args": set(60) }).to_string();
        let request = again.gate.request(TurnId::new("turn_1").unwrap(), "raise the pool");
        let way = request.screen().await.unwrap().plan(&plan).await.unwrap();
        let refused = way.call().unwrap().conform().await.unwrap().authorize().await.unwrap_err();
        assert_eq!(refused.code, GateCode::G2);
        assert!(refused.message.contains("was revoked"), "{refused:?}");
        // Grants that were not revoked are in force.
        let _ = again.call("turn_2", "store/get", json!({ "key": "a" })).await.unwrap();
    }
    // A different grant in the configuration is a new one.
    let other = MAY.replace("pre_granted", "uses = 7\npre_granted");
    let again = Run::on(&log, &clock, &other).await;
    let _ = again.call("turn_3", "store/set", set(60)).await.unwrap();
}

/// An expired grant stays expired, even if the clock is set back between runs, any number of times: the log has the
/// earlier time.
#[tokio::test]
async fn g2_what_has_expired_stays_so_though_the_clock_is_set_back_between_runs() {
    let (log, time) = (Memory::default(), clock());
    let began = time.wall();
    let expires = humantime::format_rfc3339_seconds(began + Duration::from_secs(60));
    let short = format!(
        "[[grants]]\nserver = 'store'\ntool = 'set'\npermissions = ['WRITE']\npre_granted = true\nexpires = {expires}\n\
         [audit]\nlog = 'l'\nkey_file = 'k'\n"
    );
    let run = Run::on(&log, &time, &short).await;
    assert_eq!(attempt(&run, "turn_1", set(1)).await, Ok(()));
    time.advance(Duration::from_secs(61));
    assert_eq!(attempt(&run, "turn_2", set(2)).await, Err(GateCode::G2));
    drop(run);

    for number in 3..6 {
        // The last entry of the log is an earlier one from the second time on.
        let back = Arc::new(ManualClock::new(began + Duration::from_secs(number)));
        let again = Run::on(&log, &back, &short).await;
        assert_eq!(attempt(&again, &format!("turn_{number}"), set(3)).await, Err(GateCode::G2), "{number}");
        assert_eq!(again.calls(), 0);
    }
}

/// Makes a call, and returns the rule that refuses it, if any.
async fn attempt(run: &Run, turn: &str, args: Value) -> Result<(), GateCode> {
    let plan = json!({ "type": "call_tool", "server": "store", "tool": "set", "args": args }).to_string();
    let request = run.gate.request(TurnId::new(turn).unwrap(), "raise the pool");
    let planned = request.screen().await.unwrap().plan(&plan).await.unwrap().call().unwrap();
    let authorized = planned.conform().await.unwrap().authorize().await.map_err(|blocked| blocked.code)?;
    authorized.dispatch().await.map(drop).map_err(|stopped| stopped.code())
}

/// A default grant allows its number of calls in total, however often and whenever the gate is killed.
#[tokio::test]
async fn g2_uses_are_counted_over_kills_and_starts() {
    let grant = |uses: u32| {
        format!(
            "[[grants]]\nserver = 'store'\ntool = 'set'\npermissions = ['WRITE']\nuses = {uses}\npre_granted = true\n"
        )
    };
    // The same grant may be listed twice.
    for (configuration, uses) in [(grant(5), 5), ([grant(2), grant(2)].concat(), 4)] {
        let mut killed = 0;
        for seed in 0..40 {
            let mut random = Random(seed);
            let (mut log, clock) = (Memory::default(), clock());
            let (mut run, mut made) = (Run::on(&log, &clock, &configuration).await, 0);
            for number in 0.. {
                assert!(number < 200, "the grant is never used up");
                let called = attempt(&run, &format!("turn_{number}"), set(number)).await;
                match called {
                    Ok(()) => made += 1,
                    Err(code) => {
                        assert_eq!((code, made), (GateCode::G2, uses), "seed {seed}");
                        break;
                    }
                }
                match random.below(3) {
                    0 => {}
                    1 => run = Run::on(&log, &clock, &configuration).await,
                    // The gate was killed during the call.
                    _ => {
                        killed += 1;
                        let left = run.server.copy.lock().unwrap().take().unwrap();
                        log = left;
                        run = Run::on(&log, &clock, &configuration).await;
                    }
                }
            }
        }
        assert!(killed > 40, "{killed}");
    }
}

/// A grant that a configuration drops and then adds again is new, also for the next gate.
#[tokio::test]
async fn g2_a_grant_that_is_given_again_has_all_its_uses() {
    let counted = MAY.replace("pre_granted", "uses = 2\npre_granted");
    let without = MAY.split("[breaker]").nth(1).map(|rest| format!("[breaker]{rest}")).unwrap();
    let (log, clock) = (Memory::default(), clock());
    let run = Run::on(&log, &clock, &counted).await;
    for number in 0..2 {
        attempt(&run, "turn_1", set(number)).await.unwrap();
    }
    assert_eq!(attempt(&run, "turn_1", set(2)).await, Err(GateCode::G2));
    run.gate.reload(config(&without).await).await.unwrap();
    run.gate.reload(config(&counted).await).await.unwrap();
    attempt(&run, "turn_2", set(3)).await.unwrap();
    drop(run);
    let again = Run::on(&log, &clock, &counted).await;
    attempt(&again, "turn_3", set(4)).await.unwrap();
    assert_eq!(attempt(&again, "turn_3", set(5)).await, Err(GateCode::G2));
}

/// Data on the rules in force in the entries of a call.
#[tokio::test]
async fn entries_name_the_rules_they_were_judged_by() {
    let (run, log) = Run::new().await;
    let _ = run.call("turn_1", "store/set", set(60)).await.unwrap();
    let logged = all_logged(&log);
    let of = |kind: &str| logged.iter().rfind(|entry| entry["kind"] == kind).unwrap()["data"].clone();
    for kind in ["decision", "intent"] {
        let data = of(kind);
        assert_eq!(data["policy"], run.gate.policy_hash().to_string());
        assert_eq!(data["gate"], env!("CARGO_PKG_VERSION"));
        assert_eq!(data["schema"].as_str().unwrap().len(), 64);
    }
    let tools = run.server.list().await.unwrap();
    let pinned = omen_gate::catalog::pin(tools.iter().find(|tool| tool.name.as_str() == "set").unwrap()).unwrap();
    assert_eq!(of("intent")["pin"], pinned.to_string());
    assert_eq!(of("outcome").get("policy"), None);
}
