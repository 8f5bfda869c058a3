//! What a verification loop proves, and what it does not prove (INV-003, D22).

use omen::*;
use serde_json::{Value, json};

use super::log::{Hands, setup};
use super::refusals::{modelling, ruling};

tool!(Get = "config.get", Read);

/// Returns an envelope with high stakes, where ACT requires verified assumptions.
fn high<T: ToolsStateFact>(tools: T) -> Envelope<HighStakes, Superb, T> {
    OpenEnvelope {
        intent: Intent::new(text!("wipe the disk"), text!("host db1")),
        stakes: Stakes {
            impact: impact::High,
            irreversibility: irreversibility::Partial,
            uncertainty: uncertainty::High,
            adversariality: adversariality::Benign,
        },
        quality: Quality::superb(text!("the disk is empty"), ["disk.used == 0"]),
        budgets: Budgets { tokens: 1_000, tool_calls: 10, seconds: 600, risk: Risk::new(text!("careful"), 1) },
        epistemics: Epistemics::new(Observed, Operational, unit!(0.9), text!("read just now")),
        evidence: Evidence::tool_output(text!("config.get#1"), "2026-03-01T09:59:00Z".parse().unwrap()),
        routing: Routing { task_class: TaskClass::Create, tools },
    }
    .seal()
}

fn target(assumption: Text) -> Target {
    Target::tool(assumption, text!("the tool says so"), Get)
}

fn read() -> Order<ReadOnly> {
    Directive::bare(Get, op::Read).ready()
}

fn seen() -> Observation<Observed> {
    Observation::tool_output(Observed, "config.get", fields!({ "used": 0 }))
}

/// An id source that fails for one packet id: a step without an error in its type fails, and the log is unchanged.
struct FailsAt(u32, Numbered);

impl FailsAt {
    fn packet(number: u32) -> Self {
        Self(number, Numbered::new("a"))
    }
}

impl IdSource for FailsAt {
    fn packet_id(&mut self) -> String {
        self.0 = self.0.wrapping_sub(1);
        if self.0 == 0 { String::from("no id") } else { self.1.packet_id() }
    }

    fn task_id(&mut self) -> String {
        self.1.task_id()
    }

    fn token_id(&mut self) -> String {
        self.1.token_id()
    }
}

#[test]
fn a_belief_that_was_refused_closes_no_loop_and_proves_nothing() {
    let high = high(ToolsOk);
    let (plan, assumption) = Plan::one(target(text!("nobody is logged in")));
    let setup = setup("corr_a", Hands::new()).ids(FailsAt::packet(8));
    let episode = modelling(setup).verify_first(ruling(), &high).unwrap();
    let episode = episode.verify(plan).unwrap().check(read(), |task| task.success(0)).unwrap().observe(seen());
    let (episode, proof) = episode.believe(Belief::new("a", "b", 1));
    assert!(episode.trouble().is_some(), "the belief was not written");

    // No other way out of the loop returns a proof.
    let order = Layer1::assume().order(text!("go on"));
    let episode = episode.into_any().halt(text!("stop")).clear(order);
    let episode = episode.observe(seen()).believe(Belief::new("a", "b", 1));
    let lines = episode.lines().len();
    let refused = episode
        .act(ruling().to_act().relies_on(proof.verifies(assumption)), &high)
        .expect_err("the loop was never closed");
    assert_eq!(refused.why.code(), Some(Code::Inv003));
    assert_eq!(refused.episode.lines().len(), lines, "nothing was written");
}

#[test]
fn a_loop_whose_closing_belief_was_refused_is_closed_with_another_one() {
    let high = high(ToolsOk);
    let (plan, _assumption) = Plan::one(target(text!("nobody is logged in")));
    let setup = setup("corr_a", Hands::new()).ids(FailsAt::packet(8));
    let episode = modelling(setup).verify_first(ruling(), &high).unwrap();
    let episode = episode.verify(plan).unwrap().check(read(), |task| task.success(0)).unwrap().observe(seen());
    let (episode, _none) = episode.believe(Belief::new("a", "b", 1));
    let AnyEpisode::Verify(mut episode) = episode.into_any() else { panic!("the log stands in the loop") };
    let Ok([assumption]) = <[_; 1]>::try_from(episode.assumptions()) else { panic!("the plan has one target") };
    let (episode, proof) = episode.complete().unwrap().believe(Belief::new("a", "b", 1));
    assert!(episode.trouble().is_none(), "the loop's evidence is still known: {:?}", episode.trouble());
    assert!(episode.act(ruling().to_act().relies_on(proof.verifies(assumption)), &high).is_ok());
}

#[test]
fn a_check_that_fails_after_one_that_succeeded_says_so() {
    let high = high(ToolsOk);
    let (plan, [_empty, _alone]) = Plan::of([target(text!("the disk is empty")), target(text!("nobody is logged in"))]);
    let episode = modelling(setup("corr_a", Hands::new())).verify_first(ruling(), &high).unwrap();
    let episode = episode.verify(plan).unwrap().check(read(), |task| task.success(0)).unwrap();
    let checked = episode.check(read(), |task| task.failure(text!("somebody is logged in")));
    let Err(CheckError::Unproven(unproven)) = checked else { panic!("the second check has failed") };
    assert_eq!(unproven.status, omen::packet::ResultStatus::Failure);
    // The first SUCCESS still counts.
    let (_episode, _proof) = unproven.episode.observe(seen()).believe(Belief::new("host", "users", 1));
}

#[test]
fn results_of_a_loop_that_all_fail_say_so_whatever_was_before() {
    let high = high(ToolsOk);
    let (plan, _assumption) = Plan::one(target(text!("nobody is logged in")));
    let episode = modelling(setup("corr_a", Hands::new())).verify_first(ruling(), &high).unwrap();
    let episode = episode.verify(plan).unwrap().check(read(), |task| task.success(0)).unwrap();
    let (episode, tasks) = episode.execute([read(), read()]).unwrap();
    let settled = episode.settle(tasks.map(|task| task.failure(text!("no route"))));
    let Err(SettleError::Unproven(unproven)) = settled else { panic!("none of them has succeeded") };
    let (_episode, _proof) = unproven.episode.observe(seen()).believe(Belief::new("host", "users", 1));
}

#[test]
fn a_loop_that_closed_on_a_waiver_verifies_nothing() {
    let high = high(ToolsPartial);
    let (plan, assumption) = Plan::one(target(text!("nobody is logged in")));
    let episode = modelling(setup("corr_a", Hands::new())).verify_first(ruling(), &high).unwrap();
    let checked = episode.verify(plan).unwrap().check(read(), |task| task.failure(text!("no route")));
    let Err(CheckError::Unproven(unproven)) = checked else { panic!("the check has failed") };
    let (episode, proof) = unproven.episode.observe(seen()).believe(Belief::new("host", "users", "unknown"));
    let verified = proof.verifies(assumption);
    let refused = episode.act(ruling().to_act().relies_on(verified), &high).expect_err("no check has succeeded");
    assert_eq!(refused.why.code(), Some(Code::Inv003));
}

#[test]
fn at_lower_stakes_the_log_says_that_a_waived_loop_verified_nothing() {
    let high = high(ToolsPartial);
    let (plan, assumption) = Plan::one(target(text!("nobody is logged in")));
    let episode = modelling(setup("corr_a", Hands::new())).verify_first(ruling(), &high).unwrap();
    let checked = episode.verify(plan).unwrap().check(read(), |task| task.failure(text!("no route")));
    let Err(CheckError::Unproven(unproven)) = checked else { panic!("the check has failed") };
    let (episode, proof) = unproven.episode.observe(seen()).believe(Belief::new("host", "users", "unknown"));
    let order = ruling().to_act().relies_on(proof.verifies(assumption));
    let episode = episode.act(order, &super::log::envelope()).unwrap();
    let line: Value = serde_json::from_str(episode.lines().last().unwrap()).unwrap();
    assert_eq!(line["payload"]["load_bearing_assumptions"][0]["verified"], json!(false));
}

#[test]
fn an_emergency_halt_is_sent_whatever_was_refused_before() {
    let setup = setup("corr_a", Hands::new()).ids(FailsAt::packet(3));
    let episode = modelling(setup).believe(Belief::new("a", "b", 1));
    assert!(episode.trouble().is_some());
    let lines = episode.lines().len();
    let episode = episode.alert(Alert::warning(AlertType::Drift, text!("odd values")));
    assert!(episode.trouble().is_some(), "an alert moves nothing, so the belief is still missing");
    assert_eq!(episode.lines().len(), lines + 1);
    let halted = episode.halt(text!("stop"));
    assert!(halted.trouble().is_none(), "the log stands where the type does");
    assert_eq!(halted.lines().len(), lines + 2);
    assert_eq!(halted.nodes().to_string(), "S9_SAFEMODE");
    assert!(halted.lines().last().unwrap().contains("an earlier step was refused"));
}
