//! Programs that use generated payloads, and the refusals of such payloads.

use omen::packet::{ObservationPayload, TaskDirectivePayload};
use omen::*;
use serde_json::{Value, json};

use super::super::log::Hands;
use super::super::log::setup;
use super::payloads::{alert, belief, decision, directive, escalation, observation, plan, result, token};
use super::short::{Deploy, begin, envelope, envelopes};

pub(super) fn logs() -> Vec<String> {
    // Header and envelope are not payloads: an episode writes them in the same way.
    let mut logs = vec![works(), asks(), stops(), halts()];
    logs.extend(envelopes());
    logs
}

fn none() -> Value {
    json!({})
}

/// Returns an arbitration that chooses the outcome of the payloads of decisions.
fn ruling() -> Ruling {
    let left = Arbitration::of(["go", "wait"]).veto(|option| option.id != "wait").unwrap();
    left.feasible(|_| true).unwrap().tradeoff(Tradeoff::SafetyFirst, &text!("it is safe"))
}

fn new_belief() -> omen::packet::BeliefUpdatePayload {
    belief(json!({
        "update_type": "new_belief",
        "belief_changes": [{ "domain": "db", "key": "pool", "new_value": 20, "prior_value": null }],
        "contradiction_details": null,
    }))
}

fn modelling(setup: Setup) -> Episode<Model> {
    setup.start().unwrap().under(&envelope()).observe(observation(none())).believe(new_belief())
}

/// Returns the payload of a directive that reads.
fn reading(task: &str) -> TaskDirectivePayload {
    directive(json!({
        "task_id": task, "task_type": "verification", "tool_safety_class": "READ", "authorization_token_id": null,
        "execution_method": { "method": "memory_query" },
    }))
}

/// Verifies, acts, writes under a token, and closes.
fn works() -> String {
    let envelope = envelope();
    let episode = modelling(begin("corr_works"));
    let said = decision("VERIFY_FIRST", none());
    let episode = episode.verify_first(ruling().stating(said), &envelope).unwrap();
    let (plan, assumptions) = Plan::stating(plan(episode.decision().unwrap(), none()));
    let [assumption] = <[Assumption; 1]>::try_from(assumptions).unwrap();
    let check = |task: Pending| {
        let said = result("task_read", task.directive(), json!({ "error_details": null }));
        task.result(said).unwrap()
    };
    let (episode, proof) = episode
        .verify(plan)
        .unwrap()
        .check(reading("task_read"), check)
        .unwrap()
        .observe(observation(none()))
        .believe(belief(none()));
    let listed = json!({ "load_bearing_assumptions": [
        { "assumption": "the pool is 20", "verified": true, "verification_packet_id": "pkt_payloads_1" },
    ] });
    let order = ruling().stating(decision("ACT", listed)).to_act().relies_on(proof.verifies(assumption));
    let (episode, [one, other]) = episode.act(order, &envelope).unwrap().authorize::<Deploy, 2>(token(none())).unwrap();
    let order = |said: TaskDirectivePayload, permit| match Directive::stating(said).sort() {
        Sorted::Writes(unauthorized) => unauthorized.with(permit),
        Sorted::Reads(_) => panic!("it writes"),
    };
    let orders = [
        order(directive(json!({ "task_id": "task_1" })), one),
        order(directive(json!({ "task_id": "task_2", "tool_safety_class": "MIXED" })), other),
    ];
    let (episode, [set, moved]) = episode.execute(orders).unwrap();
    let set_said = result("task_1", set.directive(), none());
    let moved_said = result("task_2", moved.directive(), json!({ "result_status": "FAILURE", "result_data": null }));
    let episode = episode.settle([set.result(set_said).unwrap(), moved.result(moved_said).unwrap()]).unwrap();
    let (episode, [task]) = episode.execute([reading("task_3")]).unwrap();
    let said = result("task_3", task.directive(), json!({ "result_status": "CANCELLED", "result_data": null }));
    let episode = episode.settle([task.result(said).unwrap()]).unwrap();
    let closed = episode.remodel(belief(none())).cancel(ruling().stating(decision("CANCEL", none())), &envelope);
    closed.believe(belief(none())).close().unwrap().lines().join("\n")
}

fn asks() -> String {
    let envelope = envelope();
    let said = decision("ESCALATE", none());
    let episode = modelling(begin("corr_asks")).to_escalate(ruling().stating(said), &envelope);
    let answer = observation(json!({ "observation_type": "user_input" }));
    let episode = episode.escalate(escalation(none())).answered(answer);
    let episode = episode.defer(ruling().stating(decision("DEFER", none())), &envelope);
    episode.believe(belief(none())).close().unwrap().lines().join("\n")
}

fn stops() -> String {
    let envelope = envelope();
    let said = decision("CANCEL", none());
    let stopped = modelling(begin("corr_stops")).cancel(ruling().stating(said), &envelope);
    stopped.believe(belief(none())).close().unwrap().lines().join("\n")
}

fn halts() -> String {
    let order = Layer1::assume().order(text!("the disk was emptied"));
    let halted = modelling(begin("corr_halts")).alert(alert("WARNING", none())).halt(alert("CRITICAL", none()));
    halted.clear(order.stating(alert("CLEAR", none()))).close().unwrap().lines().join("\n")
}

/// Returns the last packet of an episode.
fn last(lines: &[String]) -> Value {
    serde_json::from_str(lines.last().unwrap()).unwrap()
}

/// Returns the error of a step as text.
#[track_caller]
fn why<T, S, G>(step: Result<T, Refused<S, G>>) -> String {
    match step {
        Ok(_) => panic!("it is taken"),
        Err(refused) => refused.why.to_string(),
    }
}

#[test]
fn a_payload_stands_in_the_log_as_it_is() {
    let said = observation(none());
    let episode = begin("corr_a").start().unwrap().observe(said.clone());
    assert_eq!(last(episode.lines())["payload"], serde_json::to_value(&said).unwrap());
    assert_eq!(last(episode.lines())["mcp"]["epistemics"]["status"], "OBSERVED");
    let episode = episode.observe(Observation::stating(Remembered, said));
    assert_eq!(last(episode.lines())["mcp"]["epistemics"]["status"], "REMEMBERED");
    let said = alert("INFO", none());
    let episode = episode.alert(said.clone());
    assert_eq!(last(episode.lines())["payload"], serde_json::to_value(&said).unwrap());
    let halted = episode.halt(alert("INFO", none()));
    assert_eq!(last(halted.lines())["payload"]["severity"], "CRITICAL", "a halt is one, whatever the payload says");
}

#[test]
fn a_value_that_is_nested_too_deep_becomes_its_text() {
    let deep = (0..60).fold(json!(1), |value, _| json!([value]));
    let mut said: ObservationPayload = observation(none());
    said.data.insert("deep".to_owned(), deep.clone());
    let episode = begin("corr_a").start().unwrap().observe(said);
    assert!(episode.trouble().is_none(), "{:?}", episode.trouble());
    let changes = json!([{ "domain": "db", "key": "deep", "new_value": deep, "prior_value": null }]);
    let mut said = new_belief();
    said.belief_changes[0].new_value = changes[0]["new_value"].clone();
    let episode = episode.believe(said);
    assert!(episode.trouble().is_none(), "{:?}", episode.trouble());
    assert_eq!(episode.packets(), 2);
}

#[test]
fn a_directive_that_writes_does_not_get_in_without_its_permit() {
    let envelope = envelope();
    let acting = |id: &str| modelling(begin(id)).act(ruling().to_act(), &envelope).unwrap();
    let unlabelled = directive(json!({
        "tool_safety_class": null, "authorization_token_id": null, "task_type": "tool_read",
    }));
    for (at, said) in [directive(none()), unlabelled].into_iter().enumerate() {
        let refused = why(acting(&format!("corr_a{at}")).execute([said.clone()]));
        assert!(refused.contains("a directive that may write needs a permit"), "{refused}");
        // Even if the payload names a live token of the episode.
        let (episode, [spent, kept]) = acting(&format!("corr_b{at}")).authorize::<Deploy, 2>(token(none())).unwrap();
        let write = Directive::new(super::short::Set, op::Modify, fields!({ "value": 7 })).with(spent);
        let (episode, [task]) = episode.execute([write]).unwrap();
        let episode = episode.settle([task.success(7)]).unwrap();
        let Err(refused) = episode.execute([said]) else { panic!("it is taken") };
        assert!(refused.why.to_string().contains("E4"), "{}", refused.why);
        let write = Directive::new(super::short::Set, op::Modify, fields!({ "value": 7 })).with(kept);
        assert!(refused.episode.execute([write]).is_ok(), "the use of the permit is still there");
    }
    let named = directive(json!({ "authorization_token_id": "token_other" }));
    let (episode, [one, _other]) = acting("corr_c").authorize::<Deploy, 2>(token(none())).unwrap();
    let Sorted::Writes(unauthorized) = Directive::stating(named).sort() else { panic!("it writes") };
    assert!(why(episode.execute([unauthorized.with(one)])).contains("E4"));
}

#[test]
fn a_token_says_what_its_permits_stand_for() {
    let envelope = envelope();
    for (at, (other, says)) in [
        (json!({ "max_usage_count": 3 }), "the payload allows 3 uses, but 2 permits are requested"),
        (json!({ "usage_count": 1 }), "a new token cannot have uses"),
        (json!({ "revoked": true }), "a new token cannot be revoked"),
        (json!({ "issuer_layer": 1 }), "the issuer is not the layer that issues tokens"),
        (
            json!({ "authorized_scope": { "tool_ids": ["config.set"], "operation_types": ["write"] } }),
            "lists the tools",
        ),
        (
            json!({ "authorized_scope": { "tool_ids": ["config.set", "config.move"], "operation_types": ["write"] } }),
            "lists the operations write",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let episode = modelling(begin(&format!("corr_{at}"))).act(ruling().to_act(), &envelope).unwrap();
        let refused = why(episode.authorize::<Deploy, 2>(token(other)));
        assert!(refused.contains(says) && refused.contains("INV-007"), "{refused}");
    }
    let episode = modelling(begin("corr_twice")).act(ruling().to_act(), &envelope).unwrap();
    let (episode, _permits) = episode.authorize::<Deploy, 2>(token(none())).unwrap();
    assert!(why(episode.authorize::<Deploy, 2>(token(none()))).contains("was already issued"));
}

#[test]
fn a_decision_says_what_its_ruling_has_proved() {
    let envelope = envelope();
    for (at, (said, says)) in [
        (decision("CANCEL", none()), "this move decides `ACT`, but the payload has `CANCEL`"),
        (decision("ACT", json!({ "chosen_option": { "option_id": "wait" } })), "has chosen option `go`"),
        (decision("ACT", json!({ "chosen_option": null })), "the payload names no option"),
        (
            decision("ACT", json!({ "load_bearing_assumptions": [{ "assumption": "it is quiet", "verified": true }] })),
            "the load-bearing assumptions of the payload differ",
        ),
        (
            decision(
                "ACT",
                json!({ "constraints_satisfied": {
                "constitutional_check": false, "budget_check": true, "tier_check": true } }),
            ),
            "INV-006",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let episode = modelling(begin(&format!("corr_{at}")));
        let refused = why(episode.act(ruling().stating(said).to_act(), &envelope));
        assert!(refused.contains(says), "{refused}");
    }
    // A step without an error in its type keeps the error, and writes nothing.
    let episode = modelling(begin("corr_defer")).defer(ruling().stating(decision("ACT", none())), &envelope);
    assert_eq!(episode.packets(), 2);
    assert!(episode.trouble().unwrap().to_string().contains("this move decides `DEFER`"));
    let AnyEpisode::Model(episode) = episode.into_any() else { panic!("nothing was decided") };
    // The stages and the policy are in the decision, and a setter after the payload adds to it.
    let order =
        ruling().stating(decision("ACT", json!({ "decision_summary": "so be it" }))).risk_profile("none").to_act();
    let decided = last(episode.act(order, &envelope).unwrap().lines());
    let payload = &decided["payload"];
    assert_eq!(payload["decision_summary"], format!("so be it [{}]", Tradeoff::SafetyFirst.as_str()));
    assert_eq!(payload["rejected_alternatives"][1]["option_id"], "wait");
    assert_eq!(payload["chosen_option"]["risk_profile"], "none");
    assert_eq!(payload["chosen_option"]["description"], "go on");
}

#[test]
fn a_plan_a_result_and_an_alert_are_those_of_their_move() {
    let envelope = envelope();
    let verifying = |id: &str| modelling(begin(id)).verify_first(ruling(), &envelope).unwrap();
    let refused = why(verifying("corr_plan").verify(plan(&"pkt_other".parse().unwrap(), none())));
    assert!(refused.contains("the plan names the decision `pkt_other`"), "{refused}");

    let episode = verifying("corr_result");
    let said = plan(episode.decision().unwrap(), none());
    let (_episode, [task]) = episode.verify(said).unwrap().execute([reading("task_a")]).unwrap();
    let id = task.directive().clone();
    let Err(error) = task.result(result("task_b", &id, none())) else { panic!("it is taken") };
    assert!(error.to_string().contains("the task is `task_a`, but the payload names `task_b`"), "{error}");
    let Err(error) = error.task.result(result("task_a", &"pkt_other".parse().unwrap(), none())) else { panic!() };
    assert!(error.to_string().contains("but the payload names `pkt_other`"), "{error}");
    let said = result("task_a", &id, json!({ "result_status": "FAILURE" }));
    let Err(error) = error.task.result(said) else { panic!("it is taken") };
    assert!(error.to_string().contains("unexpected `result_data` in a result of status `FAILURE`"), "{error}");

    for severity in ["CRITICAL", "CLEAR"] {
        let id = format!("corr_{}", severity.to_lowercase());
        let episode = modelling(begin(&id)).alert(alert(severity, none()));
        assert_eq!(episode.packets(), 2, "nothing is written");
        assert!(episode.trouble().unwrap().to_string().contains("it would change the state"));

        let episode = modelling(begin(&format!("{id}_any"))).into_any().alert(alert(severity, none()));
        let episode = episode.under(&super::super::log::envelope());
        assert_eq!(episode.lines().len(), 2, "nothing is written");
        let proposal = json!({ "packet_type": "BeliefUpdatePacket", "payload": new_belief() }).to_string();
        let NotMoved { episode, why } = episode.propose(&proposal).unwrap_err();
        assert!(why.to_string().contains("it would change the state"), "the next move fails with it: {why}");
        assert!(episode.trouble().is_none(), "{:?}", episode.trouble());
        assert!(episode.propose(&proposal).is_ok(), "and the episode goes on");
    }
    let order = Layer1::assume().order(text!("it is over"));
    let episode = modelling(begin("corr_clear")).halt(text!("stop")).clear(order.stating(alert("INFO", none())));
    assert!(episode.trouble().unwrap().to_string().contains("expected severity `CLEAR`"));
}

#[test]
fn what_is_new_has_no_prior_value_and_what_failed_has_no_data() {
    let envelope = super::super::log::envelope();
    let started = || setup("corr_a", Hands::new()).start().unwrap();
    let seen = Observation::user_input(Observed, fields!({ "pool": 20 }));
    let episode = started().observe(seen.clone()).believe(Belief::new("db", "pool", 20));
    let update = &last(episode.lines())["payload"];
    assert_eq!(
        (&update["update_type"], &update["belief_changes"][0]["prior_value"]),
        (&json!("new_belief"), &Value::Null)
    );
    let mixed = Belief::new("db", "pool", 20).and("db", "size", (), 2).unwrap().and("db", "load", 1, 2).unwrap();
    let revised = started().observe(seen).believe(mixed);
    assert_eq!(last(revised.lines())["payload"]["update_type"], "revision");

    let episode = episode.act(super::super::refusals::ruling().to_act(), &envelope).unwrap();
    let orders = [Inquiry::llm_call(None).ready(), Inquiry::memory_query(None).ready()];
    let (episode, [one, other]) = episode.execute(orders).unwrap();
    let episode = episode.settle([one.failure(text!("no answer")), other.cancelled()]).unwrap();
    for line in episode.lines().iter().rev().take(2) {
        let packet: Value = serde_json::from_str(line).unwrap();
        assert_eq!(packet["payload"].get("result_data"), Some(&Value::Null));
    }
}
