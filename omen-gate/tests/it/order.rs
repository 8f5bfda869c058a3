//! Order between calls at the gate (O-1 to O-6): verdicts, waiting, the log, restarts, reloads, shadow mode.

mod killed;
mod live;
mod moments;

use std::sync::Arc;

use async_trait::async_trait;
use omen_gate::audit::store::{Memory, Store};
use omen_gate::audit::{Audit, Key, Kind, Options, Record};
use omen_gate::pipeline::{Dispatched, Request};
use omen_gate::server::{Dispatch, Local, ToolServer};
use omen_gate::summary::Summary;
use omen_gate::tool::{Answer, Tool};
use omen_gate::{
    Blocked, BuildError, Builder, Config, Fault, Gate, GateClock, GateCode, ManualClock, ServerName, Stopped, TurnId,
};
use serde_json::{Value, json};

use crate::gates::{Setting, local};
use crate::support::{all_logged, args, clock, secs, store_policy, tool};

/// Gate with the tools `store/get` and `store/set`, and the clock and the log that another one may have had.
struct Ordered {
    gate: Gate,
    memory: Memory,
    clock: Arc<ManualClock>,
}

async fn text(get: &str, set: &str, more: &str) -> String {
    format!("{}{more}", store_policy(get, set).await)
}

fn audit(store: impl Store + 'static, clock: &Arc<ManualClock>) -> Audit {
    let key = Key::from_bytes(&std::array::from_fn::<u8, 32, _>(|i| i as u8)).unwrap();
    Audit::over(store, key, clock.clone(), Options::default()).unwrap()
}

impl Ordered {
    fn on(text: &str, memory: &Memory, clock: &Arc<ManualClock>) -> Self {
        Self::try_on(text, memory, clock).unwrap()
    }

    fn try_on(text: &str, memory: &Memory, clock: &Arc<ManualClock>) -> Result<Self, BuildError> {
        Self::with(text, memory, clock, |builder| builder)
    }

    fn with(
        text: &str,
        memory: &Memory,
        clock: &Arc<ManualClock>,
        more: impl FnOnce(Builder) -> Builder,
    ) -> Result<Self, BuildError> {
        let shared: Arc<dyn GateClock> = clock.clone();
        let audit = audit(memory.clone(), clock);
        let builder =
            Gate::builder(Config::parse(text).unwrap()).audit(audit).clock(shared).output::<Setting>(tool("store/get"));
        let gate = more(builder.server(ServerName::new("store").unwrap(), Odd(local()))).build()?;
        Ok(Self { gate, memory: memory.clone(), clock: Arc::clone(clock) })
    }

    async fn new(get: &str, set: &str, more: &str) -> Self {
        let more = format!("[order]\ngather = '0s'\n{more}");
        Self::on(&text(get, set, &more).await, &Memory::default(), &clock())
    }

    async fn call(&self, session: &str, tool: &str, args: Value) -> Result<(), Blocked> {
        call(&self.gate, session, tool, args).await
    }

    async fn get(&self, key: &str) -> Result<(), Blocked> {
        self.call("s", "get", json!({ "key": key })).await
    }

    async fn set(&self, key: &str, value: i64) -> Result<(), Blocked> {
        self.call("s", "set", json!({ "key": key, "value": value })).await
    }

    /// Entries whose data have a member.
    fn logged(&self, member: &str) -> Vec<Value> {
        let data = all_logged(&self.memory).into_iter().map(|entry| entry["data"].clone());
        data.filter(|data| data.get(member).is_some()).collect()
    }
}

/// Store whose tool `get` does otherwise for some keys.
#[derive(Debug)]
struct Odd(Local);

#[async_trait]
impl ToolServer for Odd {
    async fn list(&self) -> Result<Vec<Tool>, Fault> {
        self.0.list().await
    }

    async fn call(&self, dispatch: Dispatch) -> Result<Answer, Fault> {
        match dispatch.args().get("key").and_then(Value::as_str) {
            Some("odd") => Ok(Answer { structured_content: Some(json!({ "value": "none" })), ..Answer::default() }),
            Some("asks") => Ok(Answer { more: args(json!({ "resultType": "input_required" })), ..Answer::default() }),
            Some("hangs") => std::future::pending().await,
            _ => self.0.call(dispatch).await,
        }
    }
}

async fn call(gate: &Gate, session: &str, tool: &str, args: Value) -> Result<(), Blocked> {
    dispatched(gate, session, tool, args).await.map(drop)
}

async fn dispatched(gate: &Gate, session: &str, tool: &str, args: Value) -> Result<Request<Dispatched>, Blocked> {
    static TURN: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let turn = format!("t{}", TURN.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
    let request = gate.request(TurnId::new(turn).unwrap(), "q").of_session(TurnId::new(session).unwrap());
    let plan = json!({ "type": "call_tool", "server": "store", "tool": tool, "args": args }).to_string();
    let planned = request.screen().await?.plan(&plan).await?.call().unwrap();
    match planned.conform().await?.authorize().await?.dispatch().await {
        Ok(request) => Ok(request),
        Err(Stopped::Blocked(blocked)) => Err(blocked),
        Err(other) => panic!("{other}"),
    }
}

fn code(result: Result<(), Blocked>) -> GateCode {
    result.unwrap_err().code
}

const READ_FIRST: &str = "after = [{ tool = 'get', same = ['/key'], within = '10min' }]";

#[tokio::test]
async fn o_1_a_premise_has_to_have_succeeded() {
    let gate = Ordered::new("", READ_FIRST, "").await;
    let refused = gate.set("pool", 1).await.unwrap_err();
    assert_eq!(refused.code, GateCode::O1);
    assert_eq!(
        refused.message,
        "`store/set` needs `store/get` with the same `/key` within 10 min before it; no such call was made in this session"
    );
    assert_eq!(refused.help, "call `store/get` with the same `/key`, then `store/set` again");
    gate.get("other").await.unwrap();
    assert_eq!(code(gate.set("pool", 1).await), GateCode::O1);
    gate.get("pool").await.unwrap();
    gate.set("pool", 1).await.unwrap();
    // Another session has to read by itself.
    assert_eq!(code(gate.call("t", "set", json!({ "key": "pool", "value": 1 })).await), GateCode::O1);
    gate.clock.advance(secs(600));
    let refused = gate.set("pool", 1).await.unwrap_err();
    assert!(refused.message.ends_with("the last one with the same `/key` ended 10 min ago"), "{refused}");
    // The intent names what it rests on.
    let intents: Vec<_> = gate.logged("order").into_iter().filter(|data| data["order"]["event"] == "made").collect();
    assert_eq!((intents.len(), intents[2]["order"]["for"].as_array().map(Vec::len)), (3, Some(1)), "{intents:?}");
    assert!(!intents[2]["order"].to_string().contains("pool"), "{}", intents[2]);
}

#[tokio::test]
async fn o_2_and_o_3_count_what_may_have_run() {
    let gate =
        Ordered::new("never_after = [{ tool = 'set', until = ['set'] }]", "max = { calls = 2, within = '1h' }", "")
            .await;
    gate.get("pool").await.unwrap();
    // It answers with an error, and may have changed something.
    gate.set("pool", -1).await.unwrap();
    assert_eq!(code(gate.get("pool").await), GateCode::O2);
    gate.set("pool", 1).await.unwrap();
    let refused = gate.set("pool", 1).await.unwrap_err();
    assert_eq!(refused.code, GateCode::O3);
    assert_eq!(
        refused.message,
        "`store/set` may be called at most 2 times within 1 h; this session has used all of them"
    );
    gate.clock.advance(secs(3600));
    gate.set("pool", 1).await.unwrap();
}

#[tokio::test]
async fn o_4_what_a_session_owes_is_in_the_log() {
    let gate = Ordered::new("", "before_end = [{ tool = 'get', same = ['/key'] }]", "").await;
    gate.set("a", 1).await.unwrap();
    gate.set("b", 1).await.unwrap();
    gate.get("a").await.unwrap();
    // Each refusal says so, whatever its code is.
    let refused = [
        gate.call("s", "get", json!({ "key": 5 })).await,
        gate.call("s", "set", json!({ "key": "c", "value": 1, "more": 1 })).await,
    ];
    for refused in refused {
        let refused = refused.unwrap_err();
        assert_eq!(refused.code, GateCode::Pg2);
        assert!(refused.help.contains("Still owed before the end: `store/get` for 1 call (entry "), "{refused:?}");
    }
    assert!(!gate.call("t", "get", json!({ "key": 5 })).await.unwrap_err().help.contains("owed"));
    let owed = gate.gate.turn_is_over(&TurnId::new("s").unwrap(), "the client left").await.unwrap();
    assert_eq!(owed.len(), 1);
    assert_eq!((owed[0].tools[0].to_string(), &owed[0].members), ("store/get".to_owned(), &vec!["/key".to_owned()]));
    let owed: Vec<_> = gate.logged("outcome").into_iter().filter(|data| data["outcome"] == "owed").collect();
    let [owed] = owed.as_slice() else { panic!("{owed:?}") };
    assert_eq!((&owed["code"], &owed["rule"]), (&json!("O-4"), &json!("allow[1].before_end[0]")));
    assert!(
        owed["why"].as_str().unwrap().contains("still owing `store/get` with the same `/key` for the call in entry"),
        "{owed}"
    );
}

#[tokio::test]
async fn o_5_a_call_waits_for_what_runs_and_no_longer() {
    let text = text("", READ_FIRST, "[order]\nwait = '30s'\ngather = '100ms'\n").await;
    let gate = Ordered::on(&text, &Memory::default(), &clock());
    // Sent first, and judged once the other one has ended.
    let early = tokio::spawn({
        let gate = gate.gate.clone();
        async move { call(&gate, "s", "set", json!({ "key": "pool", "value": 1 })).await }
    });
    tokio::task::yield_now().await;
    gate.get("pool").await.unwrap();
    early.await.unwrap().unwrap();
    // Nothing comes: it is refused after it was held back.
    let alone = tokio::spawn({
        let gate = gate.gate.clone();
        async move { call(&gate, "s", "set", json!({ "key": "other", "value": 1 })).await }
    });
    tokio::task::yield_now().await;
    gate.clock.advance(secs(1));
    assert_eq!(code(alone.await.unwrap()), GateCode::O1);
}

#[tokio::test]
async fn o_6_what_cannot_be_compared_is_refused() {
    let gate = Ordered::new("", "max = { sum = { '/value' = 100 }, within = '1h' }", "").await;
    gate.set("pool", 60).await.unwrap();
    assert_eq!(code(gate.set("pool", 41).await), GateCode::O3);
    let refused = gate.set("pool", -1).await.unwrap_err();
    assert_eq!(refused.code, GateCode::O6);
    gate.set("pool", 40).await.unwrap();
}

#[tokio::test]
async fn a_restart_changes_nothing() {
    let (get, set) = ("", "after = [{ tool = 'get', same = ['/key'] }]\nmax = { calls = 2, within = '1h' }");
    let gate = Ordered::new(get, set, "").await;
    gate.get("pool").await.unwrap();
    gate.set("pool", 1).await.unwrap();
    let Ordered { gate, memory, clock } = gate;
    drop(gate);
    clock.advance(secs(60));
    let again = Ordered::on(&text(get, set, "[order]\ngather = '0s'\n").await, &memory, &clock);
    assert_eq!(code(again.set("other", 1).await), GateCode::O1);
    again.set("pool", 2).await.unwrap();
    assert_eq!(code(again.set("pool", 3).await), GateCode::O3);
}

#[tokio::test]
async fn a_gate_does_not_start_with_an_entry_that_it_cannot_read() {
    let rules = text("", READ_FIRST, "").await;
    for (order, wrong) in [
        (json!({ "event": "postponed" }), "unknown variant `postponed`"),
        (json!({ "event": "ended", "end": "ok" }), "missing field `arrival`"),
        (json!(7), "invalid type: integer `7`"),
    ] {
        let (memory, clock) = (Memory::default(), clock());
        let data = json!({ "order": order }).as_object().unwrap().clone();
        let written =
            audit(memory.clone(), &clock).append(Record::new(Kind::Turn, &TurnId::new("t").unwrap(), data)).unwrap();
        let error = Ordered::try_on(&rules, &memory, &clock).err().unwrap();
        let message = error.to_string();
        let entry = format!("O-6: invalid member `order` in entry {} of the audit log: ", written.sequence);
        assert!(message.starts_with(&entry) && message.contains(wrong), "{message}");
        assert!(error.help().contains("start the gate with that version"), "{}", error.help());
    }
}

#[tokio::test]
async fn a_reload_judges_the_same_past_by_other_rules() {
    let gate = Ordered::new("", READ_FIRST, "").await;
    gate.get("pool").await.unwrap();
    // By name alone, the past is known; for a member that was not recorded, it is not.
    let by_name = text("", "after = ['get']", "[order]\ngather = '0s'\n").await;
    gate.gate.reload(Config::parse(&by_name).unwrap()).await.unwrap();
    gate.set("pool", 1).await.unwrap();
    let by_member = text(
        "",
        "after = [{ tool = 'get', same = [{ arg = '/value', earlier = '/key' }] }]",
        "[order]\ngather = '0s'\n",
    )
    .await;
    gate.gate.reload(Config::parse(&by_member).unwrap()).await.unwrap();
    let refused = gate.set("pool", 1).await.unwrap_err();
    assert_eq!(refused.code, GateCode::O6);
    assert!(refused.message.starts_with("the operator changed the order rules"), "{refused}");
}

#[tokio::test]
async fn shadow_mode_records_and_lets_pass() {
    let gate = Ordered::new("", READ_FIRST, "[policy]\nshadow = true\n").await;
    gate.set("pool", 1).await.unwrap();
    let shadow: Vec<_> = gate.logged("outcome").into_iter().filter(|data| data["outcome"] == "shadow").collect();
    let [shadow] = shadow.as_slice() else { panic!("{shadow:?}") };
    assert_eq!(shadow["code"], "O-1");
}

#[tokio::test]
async fn without_rules_the_log_says_nothing_of_order() {
    let gate = Ordered::new("", "", "").await;
    gate.get("pool").await.unwrap();
    assert_eq!(gate.logged("order"), [Value::Null; 0]);
}

#[tokio::test]
async fn mistakes_in_rules_have_their_place_and_a_fix() {
    for (keys, wrong, help) in [
        ("after = ['gett']", "the tool `gett` is not allowed", "did you mean `get`?"),
        ("after = [{ tool = 'get', withn = '1h' }]", "unknown key `allow[1].after[0].withn`", "did you mean `within`?"),
        (
            "after = [{ tool = 'get', was = 'faild' }]",
            "invalid value `faild` for `allow[1].after[0].was`",
            "did you mean `failed`?",
        ),
        (
            "after = [{ tool = 'get', within = '1week' }]",
            "invalid duration `1week`",
            "write a time of at most 31 days: `30s`, `10min`, `24h`, `7day`",
        ),
        (
            "after = [{ tool = 'get', where = { key = { equals = 'a' } } }]",
            "invalid JSON pointer `key`: expected a `/` at its start",
            "write `/key`",
        ),
        (
            "max = { calls = 3, per = '1h' }",
            "invalid value `1h` for `allow[1].max.per`",
            "expected one of `session`, `turn`, `all`",
        ),
        (
            "max = { calls = 3 }",
            "a rule over all sessions needs `within`",
            "add `within = \"1h\"`, or `per = \"session\"`",
        ),
        ("max = '10/week'", "invalid limit `10/week`", ""),
    ] {
        let text = text("", keys, "").await;
        let errors = Config::parse(&text).unwrap_err();
        let line = text.lines().position(|line| line == keys).unwrap() + 1;
        let error = &errors.0[0];
        assert!(error.message.starts_with(wrong) && error.help.contains(help), "{keys}: {error:?}");
        assert_eq!(error.line, line, "{keys}: {error:?}");
    }
    let text = text("", "", "[order]\nwait = 'soon'\n").await;
    assert_eq!(Config::parse(&text).unwrap_err().0[0].message, "invalid duration `soon`");
}

#[tokio::test]
async fn a_call_that_is_refused_elsewhere_is_no_fact() {
    // The premise is refused by its own rule on arguments, so it was not made.
    let get = "[allow.where]\n\"/key\" = { in = [\"pool\"] }";
    let gate = Ordered::new(get, "after = ['get']", "").await;
    assert_eq!(code(gate.get("other").await), GateCode::Pg3);
    assert_eq!(code(gate.set("pool", 1).await), GateCode::O1);
    let asked = Ordered::new(get, "after = [{ tool = 'get', was = 'refused' }]", "").await;
    assert_eq!(code(asked.get("other").await), GateCode::Pg3);
    asked.set("pool", 1).await.unwrap();
    assert_eq!(asked.logged("order").iter().filter(|data| data["order"]["event"] == "refused").count(), 1);
}

#[tokio::test]
async fn an_answer_that_is_withheld_has_failed() {
    let gate = Ordered::new("", READ_FIRST, "").await;
    // PG-4 withholds the first answer, and with the second one the tool has not said yet what it did.
    for (key, why) in [("odd", "failed"), ("asks", "may have run")] {
        gate.get(key).await.unwrap();
        let refused = gate.set(key, 1).await.unwrap_err();
        assert_eq!(refused.code, GateCode::O1);
        assert!(refused.message.contains(why), "{refused}");
    }
    // PG-5 is about the summary: the tool did its work.
    let request = dispatched(&gate.gate, "s", "get", json!({ "key": "pool" })).await.unwrap();
    let bullet = json!({ "text": "It is 80.", "evidence": "80" });
    let summary = json!({ "sections": [{ "heading": "pool", "bullets": [bullet] }] });
    let summary: Summary = serde_json::from_value(summary).unwrap();
    let typed = request.type_output::<Setting>().await.unwrap();
    assert_eq!(typed.ground(summary).await.unwrap_err().code, GateCode::Pg5);
    let Ordered { gate: first, memory, clock } = gate;
    drop(first);
    let again = Ordered::on(&text("", READ_FIRST, "[order]\ngather = '0s'\n").await, &memory, &clock);
    for key in ["odd", "asks"] {
        assert_eq!(code(again.set(key, 1).await), GateCode::O1);
    }
    again.set("pool", 1).await.unwrap();
}

#[tokio::test]
async fn a_call_whose_caller_has_gone_has_its_end_in_the_log() {
    let gate = Ordered::new("", "never_after = [{ tool = 'get', was = 'failed' }]", "").await;
    let gone = tokio::spawn({
        let gate = gate.gate.clone();
        async move { call(&gate, "s", "get", json!({ "key": "hangs" })).await }
    });
    while gate.logged("order").iter().all(|data| data["order"]["event"] != "made") {
        tokio::task::yield_now().await;
    }
    gone.abort();
    gone.await.unwrap_err();
    assert_eq!(code(gate.set("pool", 1).await), GateCode::O2);
    gate.gate.turn_is_over(&TurnId::new("t").unwrap(), "so that all entries are in the log").await.unwrap();
    let ended: Vec<_> = gate.logged("order").into_iter().filter(|data| data["order"]["event"] == "ended").collect();
    let [ended] = ended.as_slice() else { panic!("{ended:?}") };
    assert_eq!((&ended["ran"], &ended["order"]["end"]), (&json!("unknown"), &json!("may_have_run")));
}

#[tokio::test]
async fn a_call_that_a_step_before_refuses_was_asked_for() {
    for (was, is_counted) in [("asked", true), ("refused", true), ("made", false)] {
        let rule = format!("after = [{{ tool = 'get', was = '{was}' }}]");
        let gate = Ordered::new("", &rule, "").await;
        let refused = gate.call("s", "get", json!({ "key": 5 })).await;
        assert_eq!(code(refused), GateCode::Pg2);
        assert_eq!(gate.set("pool", 1).await.is_ok(), is_counted, "{was}");
    }
}

#[tokio::test]
async fn rules_that_follow_paths_are_judged_beside_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("a").display().to_string();
    let rule =
        format!("after = [{{ tool = 'get', where = {{ '/key' = {{ under = '{}' }} }} }}]", folder.path().display());
    let gate = Ordered::new("", &rule, "").await;
    gate.get("/elsewhere").await.unwrap();
    assert_eq!(code(gate.set("pool", 1).await), GateCode::O6);
    gate.get(&inside).await.unwrap();
    gate.set("pool", 1).await.unwrap();
}
