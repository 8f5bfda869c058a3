//! Evidence and budgets in the typed API: a hypothesis leads to verification (D31), and no episode over budget closes (D59).

use omen::packet::Packet;
use omen::*;

use super::drops::{Kept, kept};
use super::log::{Hands, envelope, setup};
use super::refusals::{acting, modelling, ruling};

tool!(Get = "config.get", Read);

fn read() -> Order<ReadOnly> {
    Directive::bare(Get, op::Read).ready()
}

/// Returns a guess about the present without evidence.
fn guess() -> Hypothesis<LowStakes, Par, ToolsOk> {
    OpenEnvelope::low(
        Intent::new(text!("find the leak"), text!("database orders")),
        Done::when(text!("the leak is found"), ["cause is named"]),
        Evidence::absent(text!("nobody has looked yet")),
    )
    .epistemics(Epistemics::new(Hypothesized, Operational, unit!(0.3), text!("a guess")))
    .hypothesis()
}

fn warnings(lines: &[String]) -> Vec<(Option<u64>, &'static str)> {
    let mut findings: Vec<Finding> = Vec::new();
    let mut validator = Validator::new(ValidatorOptions::default());
    validator.feed(lines.join("\n").as_bytes(), &mut findings);
    let Ok(_) = validator.finish(&mut findings);
    assert!(findings.iter().all(|finding| finding.diagnostic.severity == Severity::Warning), "{findings:#?}");
    // These logs end before their episodes do (D81).
    findings.retain(|finding| finding.diagnostic.code != Code::Fsm);
    findings.iter().map(|finding| (finding.packet_index, finding.diagnostic.code.as_str())).collect()
}

#[test]
fn a_hypothesis_leads_to_verification_and_claims_nothing() {
    let (plan, assumption) = Plan::one(Target::tool(text!("the pool leaks"), text!("connections grow"), Get));
    let episode = modelling(setup("corr_a", Hands::new())).verify_first(ruling(), &guess()).unwrap();
    let episode = episode.verify(plan).unwrap().check(read(), |task| task.success(1)).unwrap();
    let seen = Observation::tool_output(Observed, "config.get", fields!({ "grows": true }));
    let (episode, proof) = episode.observe(seen).believe(Belief::new("db", "leak", true));
    let order = ruling().to_act().relies_on(proof.verifies(assumption));
    let episode = episode.act(order, &envelope()).unwrap();

    // Only the decision, the plan and the directive are sent under the hypothesis, and have warnings.
    assert_eq!(warnings(episode.lines()), [(Some(2), "INV-004"), (Some(3), "INV-004"), (Some(4), "INV-004")]);
    let packets: Vec<Packet> = episode.lines().iter().map(|line| line.parse().unwrap()).collect();
    let absent = |packet: &Packet| packet.mcp().evidence.evidence_refs.is_empty();
    assert_eq!(packets.iter().filter(|packet| absent(packet)).count(), 3);
    let Packet::Decision(decision) = &packets[8] else { panic!("{:?}", packets[8]) };
    let checks = &decision.payload.constraints_satisfied;
    assert_eq!((checks.tier_check, checks.verification_check), (true, Some(true)));
}

#[test]
fn a_hypothesis_resumes_where_it_was() {
    let episode = modelling(setup("corr_a", Hands::new())).verify_first(ruling(), &guess()).unwrap();
    let resumed =
        AnyEpisode::resume(setup("corr_a", Hands::new()), episode.lines().iter().map(String::as_str)).unwrap();
    let AnyEpisode::Verify(resumed) = resumed else { panic!("{resumed:?}") };
    let (plan, _assumption) = Plan::one(Target::tool(text!("the pool leaks"), text!("connections grow"), Get));
    let resumed = resumed.verify(plan).unwrap().check(read(), |task| task.success(1));
    assert!(resumed.is_ok(), "its result takes the evidence of the envelope before");
}

#[test]
fn to_defer_cancel_or_escalate_takes_a_hypothesis_too() {
    for outcome in [DecisionOutcome::Defer, DecisionOutcome::Cancel, DecisionOutcome::Escalate] {
        let decided = modelling(setup("corr_a", Hands::new())).decide(outcome, ruling().to_act(), &guess()).unwrap();
        let episode = match decided {
            Decided::Stop(episode) => episode.believe(Belief::new("db", "leak", "unknown")).into_any(),
            Decided::Escalate(episode) => episode.into_any(),
            other => panic!("{other:?}"),
        };
        assert_eq!(warnings(episode.lines()), [(Some(2), "INV-004")], "{outcome}");
    }
    let refused = modelling(setup("corr_a", Hands::new())).decide(DecisionOutcome::Act, ruling().to_act(), &guess());
    assert_eq!(refused.expect_err("it would commit").why.code(), Some(Code::Inv004));
}

#[test]
fn checks_say_what_came_out_of_them() {
    let checks = |order: ActOrder<SomeUnverified>| {
        let episode = modelling(setup("corr_a", Hands::new())).act(order, &envelope()).unwrap();
        let Ok(Packet::Decision(decision)) = episode.lines()[2].parse() else { panic!("{}", episode.lines()[2]) };
        let checks = decision.payload.constraints_satisfied;
        (checks.tier_check, checks.verification_check, warnings(episode.lines()))
    };
    let warned = vec![(Some(2), "INV-003"), (Some(2), "INV-006")];
    assert_eq!(checks(ruling().to_act().assumes(&text!("it holds"))), (true, Some(false), warned));
}

/// Returns an episode in review whose result used more tokens than the budget allows.
fn spent(setup: Setup) -> Episode<Review> {
    let (episode, tasks) = acting(setup, &envelope()).execute([read()]).unwrap();
    let results = tasks.map(|task| task.success(1).used(300_000, 1));
    episode.settle(results).unwrap().review(Belief::new("db", "pool", 21))
}

#[test]
fn over_budget_no_episode_closes_until_layer_1_approves() {
    let refused = spent(setup("corr_a", Hands::new())).close().expect_err("300000 of 1000 tokens");
    assert_eq!(refused.why.code(), Some(Code::Inv005));
    assert!(refused.why.to_string().contains("300000 of 1000 tokens"), "{}", refused.why);
    let order = Layer1::assume().order(text!("the operator agrees"));
    let closed = refused.episode.alert(Alert::budget_override(order)).close().unwrap();
    assert_eq!(warnings(closed.lines()), [(Some(4), "INV-005")], "where it happened, once");
}

#[test]
fn over_budget_an_episode_may_end_in_safe_mode() {
    let refused = spent(setup("corr_a", Hands::new())).close().expect_err("300000 of 1000 tokens");
    assert!(!refused.episode.into_any().moves().contains(&omen_fsm::Event::Close));
    let episode = spent(setup("corr_b", Hands::new())).halt(text!("too much was spent"));
    assert_eq!(warnings(episode.lines()), [(Some(4), "INV-005")]);
}

#[test]
fn dropped_over_budget_an_episode_ends_legally() {
    for policy in [OnDrop::Cancel, OnDrop::Escalate, OnDrop::Halt] {
        let (setup, log): (Setup, Kept) = kept();
        drop(spent(setup.on_drop(policy)));
        let packets = log.is_clean();
        match packets.last() {
            Some(Packet::Escalation(escalation)) if policy == OnDrop::Escalate => {
                assert_eq!(escalation.payload.escalation_trigger, EscalationTrigger::BudgetInsufficient);
            }
            Some(Packet::IntegrityAlert(alert)) if policy != OnDrop::Escalate => {
                assert_eq!(alert.payload.severity, omen::packet::AlertSeverity::Critical);
            }
            last => panic!("{policy:?} ends with {last:?}"),
        }
    }
}
