//! Errors at run time for what the types cannot check; each error holds the episode.

use omen::*;

use super::log::{Hands, envelope, setup};

tool!(Get = "config.get", Read);
tool!(Set = "config.set", Write);
scope!(Change: tools [Set], operations [Modify]);

type Plain = Envelope<LowStakes, Par, ToolsOk>;

pub(super) fn ruling() -> Ruling {
    let left = Arbitration::of(["go"]).veto(|_| true).unwrap().feasible(|_| true).unwrap();
    left.tradeoff(Tradeoff::SafetyFirst, &text!("it is safe"))
}

pub(super) fn modelling(setup: Setup) -> Episode<Model> {
    setup
        .start()
        .unwrap()
        .observe(Observation::tool_output(Observed, "config.get", fields!({ "pool": 20 })))
        .believe(Belief::new("db", "pool", 20))
}

pub(super) fn acting(setup: Setup, envelope: &Plain) -> Episode<Decide<Act>> {
    modelling(setup).act(ruling().to_act(), envelope).unwrap()
}

fn read() -> Order<ReadOnly> {
    Directive::new(Get, op::Read, fields!({ "key": "pool" })).ready()
}

fn write(permit: Permit<Change>) -> Order<ReadWrite> {
    Directive::new(Set, op::Modify, fields!({ "key": "pool", "value": 40 })).with(permit)
}

#[test]
fn over_budget_the_step_is_refused_and_layer_1_may_approve() {
    let (clock, envelope) = (Hands::new(), envelope());
    let (episode, tasks) = acting(setup("corr_a", clock), &envelope).execute([read(), read()]).unwrap();
    let results = tasks.map(|task| task.success(1).used(900, 2));
    let episode = episode.settle(results).unwrap().remodel(Belief::new("db", "pool", 21));

    let lines = episode.lines().len();
    let refused = episode.act(ruling().to_act(), &envelope).expect_err("1800 of 1000 tokens");
    assert_eq!(refused.why.code(), Some(Code::Inv005));
    assert_eq!(refused.episode.lines().len(), lines, "nothing was written");

    // The error holds the episode and the order: the program may escalate, or continue once layer 1 approves.
    let order = Layer1::assume().order(text!("the operator agrees"));
    let episode = refused.episode.alert(Alert::budget_override(order));
    assert!(episode.act(refused.given, &envelope).is_ok());
}

#[test]
fn what_a_step_was_given_comes_back_when_it_is_refused() {
    let (clock, envelope) = (Hands::new(), envelope());
    let late = |setup: &str| {
        let clock = Hands::new();
        let episode = acting(super::log::setup(setup, clock.clone()), &envelope);
        (episode, clock)
    };
    // An expired token.
    let (episode, hands) = late("corr_a");
    hands.pass(601);
    let refused = episode.authorize::<Change, 1>(TokenSpec::new(60, text!("ticket"))).expect_err("over time");
    let order = Layer1::assume().order(text!("the operator agrees"));
    let approved = refused.episode.alert(Alert::budget_override(order));
    let (_, [_permit]) = approved.authorize::<Change, 1>(refused.given).unwrap();
    // A ruling, then a plan.
    let (episode, hands) = late("corr_b");
    hands.pass(601);
    let refused = episode.verify_first(ruling(), &envelope).expect_err("over time");
    let order = Layer1::assume().order(text!("the operator agrees"));
    let episode = refused.episode.alert(Alert::budget_override(order)).verify_first(refused.given, &envelope).unwrap();
    let (plan, _assumption) = Plan::one(Target::tool(text!("it is up"), text!("200"), Get));
    let episode = episode.verify(plan).unwrap();
    drop(episode);
    let (plan, assumption) = Plan::one(Target::tool(text!("it is up"), text!("200"), Get));
    let episode = modelling(setup("corr_c", clock.clone())).verify_first(ruling(), &envelope).unwrap();
    clock.pass(601);
    let refused = episode.verify(plan).expect_err("over time");
    let order = Layer1::assume().order(text!("the operator agrees"));
    let episode = refused.episode.alert(Alert::budget_override(order)).verify(refused.given).unwrap();
    let episode = episode.check(read(), |task| task.success(1)).unwrap();
    let seen = Observation::tool_output(Observed, "config.get", fields!({ "up": true }));
    let (episode, proof) = episode.observe(seen).believe(Belief::new("net", "up", true));
    // The assumption of the returned plan is still usable.
    assert!(episode.act(ruling().to_act().relies_on(proof.verifies(assumption)), &envelope).is_ok());
}

#[test]
fn over_time_the_step_is_refused() {
    let (clock, envelope) = (Hands::new(), envelope());
    let episode = acting(setup("corr_a", clock.clone()), &envelope);
    clock.pass(601);
    let refused = episode.execute([read()]).expect_err("601 of 600 seconds");
    assert_eq!(refused.why.code(), Some(Code::Inv005));
    let [order] = refused.given;
    assert_eq!(order.method().tool_id.as_deref(), Some("config.get"), "the order comes back");
}

#[test]
fn an_expired_or_revoked_token_is_refused_and_the_permit_comes_back() {
    let (clock, envelope) = (Hands::new(), envelope());
    let acting = acting(setup("corr_a", clock.clone()), &envelope);
    let (episode, [first, second]) = acting.authorize::<Change, 2>(TokenSpec::new(60, text!("ticket"))).unwrap();
    let token = first.token_id().clone();
    clock.pass(60);
    let refused = episode.execute([write(first)]).expect_err("a token is void from its expiry on");
    assert_eq!(refused.why.code(), Some(Code::E4));
    assert_eq!(refused.given.len(), 1);

    // Another token is legal from here.
    let (episode, [third]) = refused.episode.authorize::<Change, 1>(TokenSpec::new(60, text!("again"))).unwrap();
    let revoked = third.token_id().clone();
    let episode = episode.alert(Alert::warning(AlertType::TokenRevocation, text!("stop")).revoking([revoked, token]));
    let refused = episode.execute([write(third)]).expect_err("it was revoked");
    assert_eq!(refused.why.code(), Some(Code::E4));
    let refused = refused.episode.execute([write(second)]).expect_err("it has expired, and was revoked");
    assert_eq!(refused.why.code(), Some(Code::E4));
}

#[test]
fn constraints_on_resources_hold() {
    let envelope = envelope();
    let spec = TokenSpec::new(60, text!("ticket")).constrained(fields!({ "max_value": 30 }));
    let (episode, [permit]) = acting(setup("corr_a", Hands::new()), &envelope).authorize::<Change, 1>(spec).unwrap();
    let refused = episode.execute([write(permit)]).expect_err("40 is more than 30");
    assert_eq!(refused.why.code(), Some(Code::Inv007));
}

#[test]
fn values_of_another_episode_are_refused() {
    let envelope = envelope();
    let mine = acting(setup("corr_a", Hands::new()), &envelope);
    let theirs = acting(setup("corr_b", Hands::new()), &envelope);
    let (mine, [_permit]) = mine.authorize::<Change, 1>(TokenSpec::new(60, text!("mine"))).unwrap();
    let (theirs, [foreign]) = theirs.authorize::<Change, 1>(TokenSpec::new(60, text!("theirs"))).unwrap();
    let refused = mine.execute([write(foreign)]).expect_err("a permit of another episode");
    assert_eq!(refused.why.code(), Some(Code::E4));
    // The same permit is accepted there.
    assert!(theirs.execute(refused.given).is_ok());

    let (mine, [_task]) = acting(setup("corr_c", Hands::new()), &envelope).execute([read()]).unwrap();
    let (theirs, [foreign]) = acting(setup("corr_d", Hands::new()), &envelope).execute([read()]).unwrap();
    let refused = mine.settle([foreign.success(1)]).expect_err("a task of another episode");
    assert_eq!(refused.why.code(), Some(Code::E6));
    let Ok([result]) = <[Settled; 1]>::try_from(refused.given) else { panic!("it comes back") };
    assert!(theirs.settle([result]).is_ok());
}

#[test]
fn a_proof_is_of_the_plan_that_it_verifies() {
    let envelope = envelope();
    let target = || Target::tool(text!("nobody changed it"), text!("it is 20"), Get);
    let (plan, assumption) = Plan::one(target());
    let (other, forgotten) = Plan::one(target());
    drop(other);
    let episode = modelling(setup("corr_a", Hands::new()))
        .verify_first(ruling(), &envelope)
        .unwrap()
        .verify(plan)
        .unwrap()
        .check(read(), |task| task.success(20))
        .unwrap()
        .observe(Observation::tool_output(Observed, "config.get", fields!({ "pool": 20 })));
    let (episode, proof) = episode.believe(Belief::new("db", "pool", 20));
    let order = ruling().to_act().relies_on(proof.verifies(forgotten));
    let refused = episode.act(order, &envelope).expect_err("that plan was never sent");
    assert_eq!(refused.why.code(), Some(Code::Inv003));
    let order = ruling().to_act().relies_on(proof.verifies(assumption));
    assert!(refused.episode.act(order, &envelope).is_ok());
}

#[test]
fn a_check_that_fails_may_be_tried_again() {
    let envelope = envelope();
    let (plan, _assumption) = Plan::one(Target::tool(text!("it is up"), text!("200"), Get));
    let episode = modelling(setup("corr_a", Hands::new())).verify_first(ruling(), &envelope).unwrap();
    let failed = episode.verify(plan).unwrap().check(read(), |task| task.failure(text!("no route")));
    let Err(CheckError::Unproven(unproven)) = failed else { panic!("{failed:?}") };
    let episode = unproven.episode.check(read(), |task| task.success(1)).unwrap();
    let episode = episode.observe(Observation::tool_output(Observed, "config.get", fields!({ "up": true })));
    let (_episode, _proof) = episode.believe(Belief::new("net", "up", true));
}

#[test]
fn a_log_that_cannot_be_written_stops_the_episode_and_nothing_is_claimed() {
    struct Full(u32);
    impl Log for Full {
        fn append(&mut self, _: &[Line<'_>]) -> std::io::Result<()> {
            self.0 += 1;
            if self.0 > 1 { Err(std::io::Error::other("disk full")) } else { Ok(()) }
        }
    }
    let episode = modelling(setup("corr_a", Hands::new()).log(Full(0)));
    assert!(episode.trouble().is_some(), "the belief was not written");
    let refused = episode.act(ruling().to_act(), &envelope()).expect_err("the log stands at the observation");
    assert!(matches!(*refused.why, Refusal::Log(_)));
    let halt = Halt::from(refused);
    assert!(matches!(*halt.episode, AnyEpisode::Sense(_)), "{halt:?}");
}

#[test]
fn tools_named_at_run_time_are_held_to_the_token() {
    use omen::packet::{OperationType, ToolSafetyClass};

    let envelope = envelope();
    let scope = || NamedScope::new(["config.set"], [OperationType::Modify], 2);
    let (episode, permits) = acting(setup("corr_a", Hands::new()), &envelope)
        .authorize_named(scope(), TokenSpec::new(60, text!("ticket")))
        .unwrap();
    let Ok([first, second]) = <[_; 2]>::try_from(permits) else { panic!("two uses") };
    let named = |tool: &str| {
        Directive::named(tool.parse().unwrap(), ToolSafetyClass::Write, Some(fields!({ "operation": "modify" })))
    };
    let Sorted::Writes(other) = named("mail.send").sort() else { panic!("it writes") };
    let refused = episode.execute([other.with(first)]).expect_err("the token does not list that tool");
    assert_eq!(refused.why.code(), Some(Code::Inv007));
    let Sorted::Writes(right) = named("config.set").sort() else { panic!("it writes") };
    let (episode, [task]) = refused.episode.execute([right.with(second)]).unwrap();
    let read = Directive::named(text!("config.get"), ToolSafetyClass::Read, None).timeout_seconds(5);
    let Sorted::Reads(read) = read.sort() else { panic!("it reads") };
    let episode = episode.settle([task.success(true)]).unwrap();
    assert!(episode.execute([read]).is_ok());

    let none = acting(setup("corr_b", Hands::new()), &envelope)
        .authorize_named(
            NamedScope::new(["config.set"], [OperationType::Modify], 0),
            TokenSpec::new(60, text!("ticket")),
        )
        .expect_err("a token for nothing");
    assert_eq!(none.why.code(), Some(Code::Schema));
    let none = none
        .episode
        .authorize_named(NamedScope::new([""; 0], [OperationType::Modify], 1), TokenSpec::new(60, text!("ticket")))
        .expect_err("a token for no tool");
    assert_eq!(none.why.code(), Some(Code::Schema));
    assert_eq!(none.episode.lines().len(), 3, "nothing of it was written");
}

#[test]
fn the_proof_of_another_run_is_not_taken() {
    let finish = |episode: Episode<Idle>| {
        let episode = episode
            .observe(Observation::tool_output(Observed, "config.get", fields!({ "pool": 20 })))
            .believe(Belief::new("db", "pool", 20));
        let episode = episode.cancel(ruling(), &envelope()).believe(Belief::new("db", "pool", 20));
        Ok::<_, Box<dyn std::error::Error>>(episode.close()?)
    };
    let first = setup("corr_a", Hands::new()).run(finish).unwrap();
    let error = setup("corr_a", Hands::new()).run(|_| Ok::<_, Box<dyn std::error::Error>>(first)).unwrap_err();
    assert!(error.to_string().contains("the agent closed another episode"), "{error}");
}
