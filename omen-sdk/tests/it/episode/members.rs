//! The typed API can set the optional members of packets.

use omen::packet::{EstimatedCost, ExecutionMetadata, PacketId, RealNumber, ReliabilityMetadata, RetryPolicy};
use omen::*;
use serde_json::Value;

use super::log::{Hands, envelope, setup};
use super::refusals::ruling;

tool!(Get = "config.get", Read);

/// Returns the value at a pointer in the last line.
#[track_caller]
fn said(lines: &[String], pointer: &str) -> Value {
    let packet: Value = serde_json::from_str(lines.last().unwrap()).unwrap();
    packet.pointer(pointer).unwrap_or_else(|| panic!("nothing at {pointer} of {packet}")).clone()
}

#[test]
fn optional_members_that_no_method_sets_by_hand_have_setters() {
    let (clock, envelope) = (Hands::new(), envelope());
    let seen = Observation::tool_output(Observed, "config.get", fields!({ "pool": 20 }))
        .reliability_metadata(ReliabilityMetadata::builder().tool_success(true).build());
    let episode = setup("corr_a", clock).start().unwrap().observe(seen);
    assert_eq!(said(episode.lines(), "/payload/reliability_metadata"), json!({ "tool_success": true }));

    let belief = Belief::new("db", "pool", 20).and("db", "size", 1, 2).unwrap().epistemic_upgrade(true);
    let episode = episode.believe(belief);
    assert_eq!(said(episode.lines(), "/payload/belief_changes/1/epistemic_upgrade"), json!(true));
    assert!(said(episode.lines(), "/payload/belief_changes/0").get("epistemic_upgrade").is_none());

    let chosen = ruling().expected_value(RealNumber::new(2.5).unwrap()).risk_profile("small");
    let episode = episode.act(chosen.to_act(), &envelope).unwrap();
    let option = json!({ "option_id": "go", "expected_value": 2.5, "risk_profile": "small" });
    assert_eq!(said(episode.lines(), "/payload/chosen_option"), option);

    let policy = RetryPolicy::builder().max_retries(2_u32.into()).build();
    let read = Directive::new(Get, op::Read, fields!({ "key": "pool" })).retry_policy(policy).ready();
    let (episode, [task]) = episode.execute([read]).unwrap();
    assert_eq!(said(episode.lines(), "/payload/retry_policy"), json!({ "max_retries": 2 }));

    let used = ExecutionMetadata::builder().tokens_used(7_u32.into()).retry_count(1_u32.into()).build();
    let settled = task.success(20).execution_metadata(used).observation_packet_id("pkt_1");
    let episode = episode.settle([settled]).unwrap();
    assert_eq!(said(episode.lines(), "/payload/execution_metadata"), json!({ "tokens_used": 7, "retry_count": 1 }));
    assert_eq!(said(episode.lines(), "/payload/observation_packet_id"), json!("pkt_1"));

    let about: PacketId = "pkt_2".parse().unwrap();
    let alert = Alert::info(AlertType::Other, text!("for the record"));
    let episode = episode.alert(alert.related_packet_ids([about.clone()]).related_packet_ids([about]));
    assert_eq!(said(episode.lines(), "/payload/related_packet_ids"), json!(["pkt_2", "pkt_2"]));
}

#[test]
fn an_escalation_and_its_answer_say_all_that_the_schema_has() {
    let (clock, envelope) = (Hands::new(), envelope());
    let choice = |id: &str| Choice {
        id: id.into(),
        description: id.into(),
        pros: vec!["cheap".into()],
        cons: vec!["slow".into()],
    };
    let question = Escalation {
        trigger: EscalationTrigger::BudgetInsufficient,
        options: [choice("wait"), choice("go")],
        gaps: [Gap { gap: "load".into(), impact_if_unknown: "unknown".into() }],
        next_step: Recommendation { step: text!("ask"), rationale: "it is free".into() },
    };
    let blocking: PacketId = "pkt_3".parse().unwrap();
    let cost = EstimatedCost::builder().tokens(5_u32.into()).build();
    let episode = super::refusals::modelling(setup("corr_a", clock))
        .to_escalate(ruling(), &envelope)
        .escalate(question.full().blocking_decision_packet_id(blocking).estimated_cost(cost));
    assert_eq!(said(episode.lines(), "/payload/blocking_decision_packet_id"), json!("pkt_3"));
    assert_eq!(said(episode.lines(), "/payload/recommended_next_step/estimated_cost"), json!({ "tokens": 5 }));

    let answer = Answer::text(&text!("go")).source_tool("pager").query_params(fields!({ "of": "pkt_4" }));
    let episode = episode.answered(answer);
    assert_eq!(said(episode.lines(), "/payload/source_tool"), json!("pager"));
    assert_eq!(said(episode.lines(), "/payload/query_params"), json!({ "of": "pkt_4" }));
}
