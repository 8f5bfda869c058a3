//! PG-0 for the tasks of an episode: the user inputs are screened before any server is contacted, and without a user
//! input there is no call (D68).

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use omen_fsm::episode::{
    Answer, AnyEpisode, Arbitration, Belief, Claims, Directive, Episode, Escalation, Execute, Fields, Gap, Idle, Model,
    Observation, Open, Pending, Plan, Recommendation, Ruling, SettleError, Settled, Setup, Target, TokenSpec, Tradeoff,
};
use omen_fsm::fields;
use omen_gate::confirm::{Confirmer, Question, Reply};
use omen_invariants::facts::{Observed, op};
use omen_invariants::{scope, text, tool as typed_tool};
use omen_types::{EscalationTrigger, ResultStatus};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::bridge::{envelope, setup};
use crate::gates::{MAY_WRITE, Person, World, world, world_under};

typed_tool!(Get = "store/get", Read);
typed_tool!(Set = "set", Write);
scope!(Change: tools [Set], operations [Modify]);

fn ruling() -> Ruling {
    let left = Arbitration::of(["go"]).veto(|_| true).unwrap().feasible(|_| true).unwrap();
    left.tradeoff(Tradeoff::SafetyFirst, &text!("it is safe"))
}

fn input(data: Value) -> Observation<Observed> {
    Observation::user_input(Observed, Fields::new(data).unwrap())
}

fn telemetry() -> Observation<Observed> {
    Observation::tool_output(Observed, "probe", fields!({ "pool": 50 }))
}

fn start(world: &World) -> Episode<Idle> {
    setup(&world.clock).start().unwrap()
}

/// Episode that has observed the state of the world, and then some inputs.
fn modelling(episode: Episode<Idle>, inputs: impl IntoIterator<Item = Value>) -> Episode<Model> {
    let episode = inputs.into_iter().fold(episode.observe(telemetry()), |episode, data| episode.observe(input(data)));
    episode.believe(Belief::new("db", "pool", 50))
}

/// Decides to act, and orders a reading call.
fn reading(episode: Episode<Model>) -> (Episode<Open<Execute, 1>>, Pending) {
    let (episode, [task]) = episode.act(ruling().to_act(), &envelope()).unwrap().execute([read()]).unwrap();
    (episode, task)
}

fn asked(world: &World, inputs: impl IntoIterator<Item = Value>) -> (Episode<Open<Execute, 1>>, Pending) {
    reading(modelling(start(world), inputs))
}

#[track_caller]
fn was_halted(world: &World, settled: &Settled, message: &str) {
    let error = settled.error().unwrap();
    assert_eq!((settled.status(), error.error_code.as_deref()), (ResultStatus::Failure, Some("PG-0")), "{error:?}");
    let found = error.error_message.as_deref().unwrap();
    assert!(found.contains(message), "{found}");
    assert_eq!(world.kinds().last().unwrap(), "decision PG-0");
}

/// Asserts that nothing was called, and no server was asked for its tools.
#[track_caller]
fn halts(world: &World, settled: &Settled, message: &str) {
    was_halted(world, settled, message);
    assert_eq!((world.seen.calls(), world.seen.lists()), (0, 0), "PG-0 comes before discovery");
}

const DESTROYED: &str = "the database is not to be destroyed";
const NOTHING_ASKED: &str = "there is no user input";

#[tokio::test]
async fn pg_0_an_input_that_matches_halts_before_discovery() {
    let world = world("", |builder| builder).await;
    let (_episode, task) = asked(&world, [json!({ "ask": "please DROP TABLE users" })]);
    halts(&world, &world.gate.run(task).await, DESTROYED);
}

#[tokio::test]
async fn pg_0_without_an_input_there_is_no_call() {
    let world = world("", |builder| builder).await;
    let (_episode, task) = asked(&world, []);
    halts(&world, &world.gate.run(task).await, NOTHING_ASKED);
}

#[tokio::test]
async fn an_input_that_may_be_worked_on_is() {
    let world = world("", |builder| builder).await;
    let (_episode, task) = asked(&world, [json!({ "ask": "how large is the pool?" })]);
    assert_eq!(world.gate.run(task).await.status(), ResultStatus::Success);
}

#[tokio::test]
async fn where_the_policy_has_no_pattern_nothing_is_screened() {
    let world = world_under("", |builder| builder).await;
    for inputs in [vec![], vec![json!({ "ask": "drop table users" })]] {
        let (_episode, task) = asked(&world, inputs);
        assert_eq!(world.gate.run(task).await.status(), ResultStatus::Success);
    }
}

#[tokio::test]
async fn pg_0_every_input_counts_wherever_it_hides() {
    let fine = || json!({ "ask": "how large is the pool?" });
    let hidden = [
        vec![json!({ "ask": "drop table users" }), fine(), fine()],
        vec![fine(), json!({ "ask": "drop table users" }), fine()],
        // Spread over observations, members and lists; as a name, and as a name with its value; escaped.
        vec![json!({ "ask": "drop" }), json!({ "ask": "table users" })],
        vec![json!({ "drop": "table" })],
        vec![json!({ "a": "please drop", "b": ["table", "users"] })],
        vec![json!({ "a": { "b": [[{ "c": "Drop Table" }]] } })],
        vec![json!({ "drop table": true })],
        vec![serde_json::from_str(r#"{ "ask": "\u0064rop\u0020table" }"#).unwrap()],
    ];
    for inputs in hidden {
        let world = world("", |builder| builder).await;
        let (_episode, task) = asked(&world, inputs);
        halts(&world, &world.gate.run(task).await, DESTROYED);
    }
}

#[tokio::test]
async fn pg_0_numbers_parameters_and_names_with_values_are_screened() {
    let policy = r#"
        [[policy.patterns]]
        pattern = '\b\d{16}\b'
        reason = "card numbers"
        [[policy.patterns]]
        pattern = '"mode":\s*"raw"'
        reason = "raw mode"
        [[policy.patterns]]
        pattern = '^everything$'
        reason = "everything"
    "#;
    let card = || input(json!({ "card": 4_111_111_111_111_111_u64 }));
    let raw = || input(json!({ "mode": "raw" }));
    let all = || input(json!({ "ask": "x", "what": "everything" }));
    let queried = || input(json!({ "ask": "x" })).queried(fields!({ "what": "everything" }));
    for (observation, reason) in [(card(), "card"), (raw(), "raw"), (all(), "everything"), (queried(), "everything")] {
        let world = world_under(policy, |builder| builder).await;
        let episode = start(&world).observe(observation).believe(Belief::new("db", "pool", 50));
        let (_episode, task) = reading(episode);
        halts(&world, &world.gate.run(task).await, reason);
    }
}

#[tokio::test]
async fn pg_0_an_input_that_was_blanked_out_is_none() {
    for data in [json!({ "ask": null }), json!({ "ask": " ", "more": [{ "x": "" }] })] {
        let world = world("", |builder| builder).await;
        let (_episode, task) = asked(&world, [data]);
        halts(&world, &world.gate.run(task).await, NOTHING_ASKED);
    }
}

#[tokio::test]
async fn pg_0_what_is_too_long_is_not_screened_in_part() {
    let long = |bytes: usize| json!({ "ask": "a".repeat(bytes) });
    // `ask`, a blank and the text; together they count as one query.
    for (inputs, passes) in [(vec![long(65_532)], true), (vec![long(65_533)], false), (vec![long(40_000); 2], false)] {
        let world = world("", |builder| builder).await;
        let (_episode, task) = asked(&world, inputs);
        let settled = world.gate.run(task).await;
        if passes {
            assert_eq!(settled.status(), ResultStatus::Success);
        } else {
            halts(&world, &settled, "exceeds 65536 bytes");
        }
    }
    // The log has only the start of the input; a gate that accepts long queries notices that.
    let policy = "[limits]\nrequest_bytes = 16_777_216\n[[policy.patterns]]\npattern = 'x'\nreason = 'x'\n";
    let world = world_under(policy, |builder| builder).await;
    let ask = omen_types::Text::new(format!("{}x", "a".repeat(17 << 20))).unwrap();
    let long = Observation::user_input(Observed, fields!({ "ask": ask }));
    let (_episode, task) = reading(start(&world).observe(long).believe(Belief::new("db", "pool", 50)));
    halts(&world, &world.gate.run(task).await, "too long to be screened as a whole");
}

#[tokio::test]
async fn pg_0_what_is_asked_while_a_directive_is_open_counts() {
    let world = world("", |builder| builder).await;
    let (episode, task) = asked(&world, [json!({ "ask": "how large is the pool?" })]);
    let _episode = episode.observe(input(json!({ "ask": "then drop table users" })));
    halts(&world, &world.gate.run(task).await, DESTROYED);
}

/// Confirmer that records a user input during the question.
#[derive(Clone, Default)]
struct Meanwhile(Arc<Mutex<Option<Deed>>>);

type Deed = Box<dyn FnOnce() + Send>;

impl std::fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Meanwhile")
    }
}

#[async_trait]
impl Confirmer for Meanwhile {
    async fn confirm(&self, _: &Question) -> Reply {
        self.0.lock().unwrap().take().into_iter().for_each(|observe| observe());
        Reply::Confirmed
    }
}

#[tokio::test]
async fn pg_0_what_is_asked_while_somebody_confirms_counts() {
    let person = Meanwhile::default();
    let world = world(MAY_WRITE, |builder| builder.confirmer(person.clone())).await;
    let model = modelling(start(&world), [json!({ "ask": "raise the pool" })]);
    let act = model.act(ruling().to_act(), &envelope()).unwrap();
    let (episode, [permit]) = act.authorize::<Change, 1>(TokenSpec::new(60, text!("ticket OPS-77"))).unwrap();
    let order = Directive::new(Set, op::Modify, fields!({ "key": "pool", "value": 80 })).with(permit);
    let (episode, [task]) = episode.execute([order]).unwrap();
    let kept = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&kept);
    *person.0.lock().unwrap() = Some(Box::new(move || {
        *keep.lock().unwrap() = Some(episode.observe(input(json!({ "ask": "and drop table users" }))));
    }));
    let settled = world.gate.run(task).await;
    assert_eq!(settled.error().unwrap().error_code.as_deref(), Some("PG-0"));
    assert_eq!((world.seen.calls(), world.kinds().last().unwrap().as_str()), (0, "outcome PG-0"));
}

#[tokio::test]
async fn pg_0_each_settled_decision_needs_an_input_of_its_own() {
    let world = world("", |builder| builder).await;
    let (episode, task) = asked(&world, [json!({ "ask": "how large is the pool?" })]);
    let settled = world.gate.run(task).await;
    assert_eq!(settled.status(), ResultStatus::Success);
    let model = episode.settle([settled]).unwrap().remodel(Belief::new("db", "pool", 50));
    let (episode, task) = reading(model);
    let settled = world.gate.run(task).await;
    was_halted(&world, &settled, NOTHING_ASKED);
    assert_eq!(world.seen.calls(), 1);

    // The next request is screened separately.
    let review = episode.settle([settled]).unwrap().review(Belief::new("db", "pool", 50));
    let model = review.observe(input(json!({ "ask": "and now?" }))).believe(Belief::new("db", "pool", 50));
    let (episode, task) = reading(model);
    let settled = world.gate.run(task).await;
    assert_eq!(settled.status(), ResultStatus::Success);
    let review = episode.settle([settled]).unwrap().review(Belief::new("db", "pool", 50));
    let model = review.observe(input(json!({ "ask": "drop table users" }))).believe(Belief::new("db", "pool", 50));
    let (_episode, task) = reading(model);
    was_halted(&world, &world.gate.run(task).await, DESTROYED);
    assert_eq!(world.seen.calls(), 2);
}

fn read() -> omen_fsm::episode::Order<omen_fsm::episode::ReadOnly> {
    Directive::new(Get, op::Read, fields!({ "key": "pool" })).timeout_seconds(60).ready()
}

/// The gate's verdicts on a directive of a verification loop, and on one of the decision to act after it.
async fn of_the_loop_and_after(world: &World, ask: &str) -> [Option<String>; 2] {
    let code = |settled: &Settled| settled.error().and_then(|error| error.error_code.clone());
    let (plan, unchanged) = Plan::one(Target::tool(text!("the pool is healthy"), text!("it is 50"), Get));
    let model = modelling(start(world), [json!({ "ask": ask })]);
    let episode = model.verify_first(ruling(), &envelope()).unwrap().verify(plan).unwrap();
    let (episode, [task]) = episode.execute([read()]).unwrap();
    let settled = world.gate.run(task).await;
    let first = code(&settled);
    // The loop needs a success, even if the gate refused this directive.
    let episode = match episode.settle([settled]) {
        Ok(episode) => episode,
        Err(SettleError::Unproven(unproven)) => unproven.episode.check(read(), |task| task.success(50)).unwrap(),
        Err(refused) => panic!("{refused:?}"),
    };
    let (model, proof) = episode.observe(telemetry()).believe(Belief::revision("db", "pool", 50, 50));
    let order = ruling().to_act().relies_on(proof.verifies(unchanged));
    let (_episode, [task]) = model.act(order, &envelope()).unwrap().execute([read()]).unwrap();
    [first, code(&world.gate.run(task).await)]
}

#[tokio::test]
async fn pg_0_a_decision_to_verify_first_does_not_hide_the_input_before_it() {
    let fine = world("", |builder| builder).await;
    assert_eq!(of_the_loop_and_after(&fine, "how large is the pool?").await, [None, None]);
    let bad = world("", |builder| builder).await;
    let halted = Some("PG-0".to_owned());
    assert_eq!(of_the_loop_and_after(&bad, "drop table users").await, [halted.clone(), halted]);
    assert_eq!((bad.seen.calls(), bad.seen.lists()), (0, 0));
}

#[tokio::test]
async fn pg_0_a_decision_that_is_replaced_before_anything_is_done_does_not_hide_the_input_before_it() {
    let (plan, unchanged) = Plan::one(Target::tool(text!("the pool is healthy"), text!("it is 50"), Get));
    let world = world("", |builder| builder).await;
    let model = modelling(start(&world), [json!({ "ask": "drop table users" })]);
    let resting = model.act(ruling().to_act(), &envelope()).unwrap();
    let episode = resting.verify_first(ruling(), &envelope()).unwrap().verify(plan).unwrap();
    let episode = episode.check(read(), |task| task.success(50)).unwrap().observe(telemetry());
    let (model, proof) = episode.believe(Belief::revision("db", "pool", 50, 50));
    let order = ruling().to_act().relies_on(proof.verifies(unchanged));
    let (_episode, [task]) = model.act(order, &envelope()).unwrap().execute([read()]).unwrap();
    halts(&world, &world.gate.run(task).await, DESTROYED);
}

/// Question with two options, and without evidence.
fn question() -> Escalation<2, 1> {
    let choice = |id: &str| omen_fsm::episode::Choice {
        id: id.to_owned(),
        description: "as it says".to_owned(),
        pros: vec!["quick".to_owned()],
        cons: vec!["risky".to_owned()],
    };
    Escalation {
        trigger: EscalationTrigger::ContradictionUnresolved,
        options: [choice("go"), choice("stop")],
        gaps: [Gap { gap: "the load".to_owned(), impact_if_unknown: "none".to_owned() }],
        next_step: Recommendation { step: text!("go on"), rationale: "it is quick".to_owned() },
    }
}

#[tokio::test]
async fn pg_0_an_answer_of_a_human_does_not_hide_what_was_asked_before_it() {
    for (ask, answer, expected) in [
        ("raise the pool", "yes, do so", None),
        ("drop table users", "yes, do so", Some(DESTROYED)),
        ("raise the pool", "no: drop table users", Some(DESTROYED)),
    ] {
        let world = world("", |builder| builder).await;
        let model = modelling(start(&world), [json!({ "ask": ask })]);
        let escalated = model.to_escalate(ruling(), &envelope()).escalate(question());
        let episode = escalated.answered(Answer::data(fields!({ "answer": answer })));
        let (_episode, [task]) = episode.act(ruling().to_act(), &envelope()).unwrap().execute([read()]).unwrap();
        let settled = world.gate.run(task).await;
        match expected {
            None => assert_eq!(settled.status(), ResultStatus::Success),
            Some(reason) => halts(&world, &settled, reason),
        }
    }
}

#[tokio::test]
async fn pg_0_an_episode_that_is_resumed_brings_its_inputs() {
    for (ask, code) in [("drop table users", Some("PG-0")), ("how large is the pool?", None)] {
        let world = world("", |builder| builder).await;
        let (episode, _task) = asked(&world, [json!({ "ask": ask })]);
        let log = episode.lines().to_vec();
        let again = Setup::new("corr_pool".parse().unwrap(), &envelope(), omen_types::Instant::default);
        let again = AnyEpisode::resume(again.claims(&Claims::new()), log.iter().map(String::as_str)).unwrap();
        let AnyEpisode::ExecuteOpen(again) = again else { panic!("{again:?}") };
        let settled = world.gate.run(again.tasks().remove(0)).await;
        assert_eq!(settled.error().and_then(|error| error.error_code.as_deref()), code);
        assert_eq!(world.seen.calls(), u32::from(code.is_none()));
    }
}

#[tokio::test]
async fn pg_0_of_two_episodes_behind_a_gate_each_is_screened_by_its_own_inputs() {
    let world = world("", |builder| builder).await;
    let (_one, fine) = asked(&world, [json!({ "ask": "how large is the pool?" })]);
    let (_two, bad) = asked(&world, [json!({ "ask": "drop table users" })]);
    let (_three, silent) = asked(&world, []);
    was_halted(&world, &world.gate.run(silent).await, NOTHING_ASKED);
    was_halted(&world, &world.gate.run(bad).await, DESTROYED);
    assert_eq!(world.gate.run(fine).await.status(), ResultStatus::Success);
    assert_eq!(world.seen.calls(), 1);
}

fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn a2_every_entry_of_a_request_has_the_hash_of_its_query() {
    let person = Person::who_says(Reply::Confirmed);
    let world = world(MAY_WRITE, |builder| builder.confirmer(person)).await;
    let request = world.authorized("turn_1", "store/set", json!({ "key": "pool", "value": 80 })).await.unwrap();
    let _ = request.dispatch().await.unwrap();
    assert_eq!(world.kinds(), ["decision", "confirmation", "intent", "outcome"]);
    let expected = sha256("what is the pool?");
    for entry in world.entries() {
        assert_eq!(entry["data"]["query"], expected, "{entry}");
    }
    // A refused query can be found by its hash, and the log does not have the query itself.
    let halted = world.gate.request("turn_2".parse().unwrap(), "drop table users").screen().await.unwrap_err();
    let entry = world.entries().pop().unwrap();
    assert_eq!((&entry["data"]["query"], entry["turn"].as_str()), (&json!(sha256("drop table users")), Some("turn_2")));
    assert!(!entry.to_string().contains("users"), "{halted}: {entry}");
}

#[tokio::test]
async fn a2_every_entry_of_a_task_names_the_inputs_that_it_rests_on() {
    let world = world("", |builder| builder).await;
    let (episode, task) = asked(&world, [json!({ "b": 1.0, "ask": "how large?" }), json!({ "ask": "quick" })]);
    let ids: Vec<_> = task.user_inputs().iter().map(|input| input.packet_id().to_string()).collect();
    assert!(ids.iter().all(|id| episode.lines().iter().any(|line| line.contains(id))));
    assert_eq!(world.gate.run(task).await.status(), ResultStatus::Success);
    assert_eq!(world.kinds(), ["decision", "intent", "outcome"]);
    let expected = json!([
        { "packet_id": ids[0], "data": sha256(r#"{"ask":"how large?","b":1}"#) },
        { "packet_id": ids[1], "data": sha256(r#"{"ask":"quick"}"#) },
    ]);
    for entry in world.entries() {
        assert_eq!(entry["data"]["inputs"], expected, "{entry}");
    }
}

#[tokio::test]
async fn an_entry_lists_so_many_inputs_and_counts_the_others() {
    let world = world("", |builder| builder).await;
    let (_episode, task) = asked(&world, (0..40).map(|number| json!({ "ask": number })));
    assert_eq!(world.gate.run(task).await.status(), ResultStatus::Success);
    let entry = world.entries().pop().unwrap();
    assert_eq!((entry["data"]["inputs"].as_array().unwrap().len(), &entry["data"]["inputs_left_out"]), (32, &json!(8)));
}
