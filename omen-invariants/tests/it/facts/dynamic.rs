//! Envelopes from JSON are subject to the same rules.

use omen_invariants::facts::{AnyEnvelope, DynEnvelope, DynHypothesis, MayAsk};
use omen_types::{Code, Diagnostic, LoadBearingAssumption, PacketType, StakesLevel};
use serde_json::{Value, json};

fn mcp(edit: impl FnOnce(&mut Value)) -> Value {
    let mut mcp = crate::packet(PacketType::DecisionPacket)["mcp"].take();
    mcp["stakes"] = json!({"impact": "LOW", "irreversibility": "REVERSIBLE", "uncertainty": "LOW",
                           "adversariality": "BENIGN", "stakes_level": "LOW"});
    mcp["quality"]["quality_tier"] = "SUPERB".into();
    mcp["epistemics"]["status"] = "OBSERVED".into();
    mcp["routing"]["tools_state"] = "tools_ok".into();
    edit(&mut mcp);
    mcp
}

fn without_level(mcp: &mut Value) {
    mcp["stakes"].as_object_mut().expect("stakes").remove("stakes_level");
}

#[track_caller]
fn refused(text: &str) -> Vec<Diagnostic> {
    DynEnvelope::from_json(text).expect_err("a broken envelope")
}

#[test]
fn a_level_that_is_left_out_follows_from_the_axes() {
    for (impact, level) in
        [("LOW", StakesLevel::Low), ("MEDIUM", StakesLevel::Medium), ("CRITICAL", StakesLevel::Critical)]
    {
        let mcp = mcp(|mcp| {
            mcp["stakes"]["impact"] = impact.into();
            without_level(mcp);
        });
        let envelope = DynEnvelope::from_value(&mcp).expect("an envelope");
        assert_eq!(envelope.mcp().stakes.stakes_level, level);
    }
}

#[test]
fn a_level_that_is_stated_stays() {
    let mcp = mcp(|mcp| mcp["stakes"]["stakes_level"] = "HIGH".into());
    let envelope = DynEnvelope::from_value(&mcp).expect("INV-012 only warns");
    assert_eq!(AnyEnvelope::mcp(&envelope).stakes.stakes_level, StakesLevel::High);
}

#[test]
fn errors_have_their_place_in_the_packet() {
    let found = refused("{");
    assert!(found.iter().all(|error| error.code == Code::Json), "{found:?}");

    let found = refused(&mcp(|mcp| mcp["stakes"]["impact"] = "HUGE".into()).to_string());
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].code, found[0].pointer.as_deref()), (Code::Schema, Some("/mcp/stakes/impact")));
    assert!(found[0].span.is_some());

    // The axis is the error, not the level that fails to follow from it.
    let broken = mcp(|mcp| {
        mcp["stakes"]["impact"] = "HUGE".into();
        without_level(mcp);
    });
    let found = refused(&broken.to_string());
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].pointer.as_deref(), &found[0].span), (Some("/mcp/stakes/impact"), &None));

    let found = refused(r#"{"stakes": {}}"#);
    let missing = |name: &str| found.iter().any(|error| error.message.contains(&format!("`{name}`")));
    assert!(missing("impact") && missing("intent") && !missing("stakes_level"), "{found:?}");
    assert!(found.iter().all(|error| error.pointer.as_deref().is_some_and(|at| at.starts_with("/mcp"))));

    for text in ["[]", "3", "null", r#"{"stakes": 7}"#, r#"{"stakes": {"stakes_level": 1}}"#, "", "{}x"] {
        refused(text);
    }
}

#[test]
fn a_repeated_key_is_refused_even_where_the_level_is_left_out() {
    let text = mcp(without_level).to_string().replacen(r#""impact":"LOW""#, r#""impact":"LOW","impact":"LOW""#, 1);
    let found = refused(&text);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].pointer.as_deref(), Some("/mcp/stakes/impact"));
}

#[test]
fn a_claim_needs_live_evidence() {
    let claim = |ref_type: &str| {
        mcp(|mcp| {
            mcp["epistemics"]["status"] = "INFERRED".into();
            mcp["epistemics"]["freshness_class"] = "REALTIME".into();
            let reference = json!({"ref_type": ref_type, "ref_id": "r", "timestamp": "2026-03-01T10:00:00Z"});
            mcp["evidence"]["evidence_refs"] = json!([reference]);
        })
    };
    let found = refused(&claim("memory_item").to_string());
    assert_eq!((found.len(), found[0].code), (1, Code::Inv004));
    assert_eq!(found[0].pointer.as_deref(), Some("/mcp/evidence/evidence_refs"));
    assert!(DynEnvelope::from_value(&claim("tool_output")).is_ok());
    let guess = DynHypothesis::from_json(&claim("memory_item").to_string()).expect("a hypothesis");
    assert_eq!(MayAsk::mcp(&guess).epistemics.status.as_str(), "INFERRED");
    let understated = mcp(|mcp| mcp["stakes"]["impact"] = "CRITICAL".into()).to_string();
    let found = DynHypothesis::from_json(&understated).expect_err("INV-012 holds for hypotheses, too");
    assert_eq!(found[0].code, Code::Inv012);
}

#[test]
fn an_envelope_that_was_built_is_checked_too() {
    let mut built = DynEnvelope::from_value(&mcp(|_| {})).expect("an envelope").mcp().clone();
    built.quality.definition_of_done.checks.clear();
    let found = DynEnvelope::new(built).expect_err("no check");
    assert_eq!(found[0].pointer.as_deref(), Some("/mcp/quality/definition_of_done/checks"), "{found:?}");
}

#[test]
fn acting_is_judged_by_the_rules_that_ask_for_facts() {
    let assumption = |verified| LoadBearingAssumption::builder().assumption("a").verified(verified).build();
    let judge = |level: &str, tier: &str, tools: &str, verified, overridden| {
        let mcp = mcp(|mcp| {
            mcp["stakes"]["stakes_level"] = level.into();
            mcp["quality"]["quality_tier"] = tier.into();
            mcp["routing"]["tools_state"] = tools.into();
        });
        let envelope = DynEnvelope::from_value(&mcp).expect("an envelope");
        match envelope.judge_act(&[assumption(verified)], overridden) {
            Ok(judged) => {
                assert_eq!(judged.mcp().stakes.stakes_level.as_str(), level);
                Vec::new()
            }
            Err(errors) => errors.into_iter().map(|error| error.code).collect(),
        }
    };
    assert_eq!(judge("LOW", "PAR", "tools_down", false, false), []);
    assert_eq!(judge("LOW", "SUBPAR", "tools_ok", true, false), [Code::Inv002]);
    assert_eq!(judge("HIGH", "SUPERB", "tools_ok", true, false), []);
    assert_eq!(judge("HIGH", "SUPERB", "tools_ok", false, false), [Code::Inv003]);
    assert_eq!(judge("HIGH", "PAR", "tools_ok", false, true), [], "overridden");
    assert_eq!(judge("CRITICAL", "SUBPAR", "tools_down", true, false), [Code::Inv002, Code::Inv003, Code::Inv010]);
}
