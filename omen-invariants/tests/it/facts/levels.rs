//! Constructors by level of stakes: their envelopes seal at that level, and every member can be changed.

use omen_invariants::facts::{
    Budgets, CriticalStakes, Done, DynEnvelope, Envelope, Epistemics, Evidence, HighStakes, Intent, Live, LowStakes,
    MediumStakes, Observed, OpenEnvelope, Par, Quality, Realtime, Risk, Stakes, Superb, ToolsDown, ToolsOk,
    adversariality, impact, irreversibility, uncertainty,
};
use omen_invariants::{text, unit};
use omen_types::{QualityTier, StakesLevel, TaskClass, VerificationRequirement};

fn parts() -> (Intent, Done, Evidence<Live>) {
    let seen = "2026-03-01T09:59:00Z".parse().unwrap();
    (
        Intent::new(text!("drain pool 7"), text!("pool 7")),
        Done::when(text!("no request goes to pool 7"), ["connections == 0", "healthy"]),
        Evidence::user_observation(text!("chat/1"), seen),
    )
}

/// Returns the envelopes of all levels, lowest first.
fn all() -> [omen_types::McpEnvelope; 4] {
    let (intent, done, evidence) = parts();
    let low: Envelope<LowStakes, Par, ToolsOk> =
        OpenEnvelope::low(intent.clone(), done.clone(), evidence.clone()).seal();
    let medium: Envelope<MediumStakes, Par, ToolsOk> =
        OpenEnvelope::medium(intent.clone(), done.clone(), evidence.clone()).seal();
    let high: Envelope<HighStakes, Superb, ToolsOk> =
        OpenEnvelope::high(intent.clone(), done.clone(), evidence.clone()).seal();
    let critical: Envelope<CriticalStakes, Superb, ToolsOk> = OpenEnvelope::critical(intent, done, evidence).seal();
    [low.mcp().clone(), medium.mcp().clone(), high.mcp().clone(), critical.mcp().clone()]
}

#[test]
fn each_level_is_what_its_axes_justify_and_passes_the_checks_of_run_time() {
    let expected = [StakesLevel::Low, StakesLevel::Medium, StakesLevel::High, StakesLevel::Critical];
    for (mcp, level) in all().into_iter().zip(expected) {
        assert_eq!(mcp.stakes.stakes_level, level);
        let _ = DynEnvelope::new(mcp).unwrap_or_else(|errors| panic!("{level}: {errors:?}"));
    }
}

#[test]
fn care_never_falls_with_the_level() {
    for pair in all().windows(2) {
        let [lower, higher] = pair else { panic!("two") };
        let care = |mcp: &omen_types::McpEnvelope| {
            let all = mcp.quality.verification_requirement == VerificationRequirement::VerifyAll;
            (mcp.quality.quality_tier == QualityTier::Superb, all)
        };
        assert!(care(lower) <= care(higher));
        let stale = |mcp: &omen_types::McpEnvelope| -> u64 {
            serde_json::to_value(&mcp.epistemics).unwrap()["stale_if_older_than_seconds"].as_u64().unwrap()
        };
        assert!(stale(lower) >= stale(higher), "the evidence is at least as fresh");
    }
}

#[test]
fn defaults_make_no_claim() {
    for mcp in all() {
        let mcp = serde_json::to_value(&mcp).unwrap();
        assert_eq!(mcp["budgets"]["risk_budget"]["max_loss"], 0);
        assert_eq!(mcp["epistemics"]["status"], "INFERRED");
        assert_eq!(mcp["epistemics"]["confidence"], 0.5);
        assert_eq!(mcp["stakes"]["adversariality"], "BENIGN");
        assert_eq!(mcp["quality"]["definition_of_done"]["checks"], serde_json::json!(["connections == 0", "healthy"]));
    }
}

#[test]
fn every_member_can_be_set_otherwise() {
    let (intent, done, evidence) = parts();
    let axes = Stakes {
        impact: impact::High,
        irreversibility: irreversibility::Partial,
        uncertainty: uncertainty::High,
        adversariality: adversariality::Hostile,
    };
    let envelope: Envelope<HighStakes, Superb, ToolsDown> = OpenEnvelope::low(intent, done, evidence)
        .stakes(axes)
        .quality(Quality::superb(text!("all is well"), ["really"]))
        .budgets(Budgets { tokens: 1, tool_calls: 2, seconds: 3, risk: Risk::new(text!("none"), 4) })
        .epistemics(Epistemics::new(Observed, Realtime, unit!(0.9), text!("seen")))
        .confidence(unit!(0.8), text!("seen twice"))
        .task_class(TaskClass::Find)
        .tools(ToolsDown)
        .seal();
    let mcp = serde_json::to_value(envelope.mcp()).unwrap();
    assert_eq!(mcp["stakes"]["stakes_level"], "HIGH");
    assert_eq!(mcp["stakes"]["adversariality"], "HOSTILE");
    assert_eq!(mcp["quality"]["definition_of_done"]["text"], "all is well");
    assert_eq!(mcp["budgets"]["time_budget_seconds"], 3);
    assert_eq!(mcp["epistemics"]["status"], "OBSERVED");
    assert_eq!(mcp["epistemics"]["calibration_note"], "seen twice");
    assert_eq!(mcp["routing"], serde_json::json!({ "task_class": "FIND", "tools_state": "tools_down" }));
}
