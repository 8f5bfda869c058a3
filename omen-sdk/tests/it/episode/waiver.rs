//! Degraded tools waive the SUCCESS of a verification loop once a packet has reported them (D22).

use omen::*;

use super::log::{Hands, envelope, setup};
use super::refusals::{modelling, ruling};

tool!(Get = "config.get", Read);

fn degraded() -> Envelope<LowStakes, Par, ToolsPartial> {
    OpenEnvelope {
        intent: Intent::new(text!("read the pool"), text!("database orders")),
        stakes: Stakes {
            impact: impact::Low,
            irreversibility: irreversibility::Reversible,
            uncertainty: uncertainty::Low,
            adversariality: adversariality::Benign,
        },
        quality: Quality::par(text!("the pool is known"), ["pool is a number"]),
        budgets: Budgets { tokens: 1_000, tool_calls: 10, seconds: 600, risk: Risk::new(text!("low"), 1) },
        epistemics: Epistemics::new(Observed, Operational, unit!(0.9), text!("read just now")),
        evidence: Evidence::absent(text!("the tools fail")),
        routing: Routing { task_class: TaskClass::Create, tools: ToolsPartial },
    }
    .seal()
}

#[test]
fn an_envelope_counts_from_the_first_packet_that_is_sent_in_it() {
    let (plan, _assumption) = Plan::one(Target::tool(text!("the pool is 20"), text!("config.get says so"), Get));
    let episode = modelling(setup("corr_a", Hands::new())).verify_first(ruling(), &envelope()).unwrap();
    let read = Directive::bare(Get, op::Read).ready();
    let checked = episode.verify(plan).unwrap().check(read, |task| task.failure(text!("no answer")));
    let Err(CheckError::Unproven(unproven)) = checked else { panic!("the check has failed") };
    let seen = || Observation::user_input(Observed, fields!({ "pool": 20 }));

    let degraded = degraded();
    let episode = unproven.episode.observe(seen()).under(&degraded);
    let refused = episode.complete().expect_err("nothing was sent in the new envelope yet");
    assert_eq!(refused.why.code(), Some(Code::E3));

    let episode = refused.episode.observe(seen()).complete().expect("the tools are known to fail");
    let (episode, _proof) = episode.believe(Belief::new("db", "pool", 20));
    assert!(episode.trouble().is_none());
}
