//! Every envelope that can be sealed is accepted by the schema.

use omen_invariants::facts::*;
use omen_invariants::{Context, Ledger, rules, text, unit};
use omen_types::{
    Checked, Code, MaxLoss, PacketFacts, PacketType, TaskClass, Timestamp, UnitInterval, VerificationRequirement,
};
use serde_json::json;

fn time() -> Timestamp {
    Timestamp::new("2026-03-01T10:00:00Z").expect("a time")
}

fn budgets() -> Budgets {
    Budgets { tokens: u32::MAX, tool_calls: 0, seconds: 1, risk: Risk::new(text!("conservative"), 100) }
}

/// Returns an envelope with these facts.
fn sealed<I, R, U, A, Tier, Status, Freshness, Best, Tools, Level>(
    stakes: Stakes<I, R, U, A>,
    quality: Quality<Tier>,
    (status, freshness): (Status, Freshness),
    evidence: Evidence<Best>,
    tools: Tools,
) -> Envelope<Level, Tier, Tools>
where
    Stakes<I, R, U, A>: StakesLevelOf<Level = Level>,
    Tier: QualityTierFact,
    Status: EpistemicStatusFact,
    Freshness: FreshnessClassFact,
    Tools: ToolsStateFact,
    Claim<Status, Freshness, Best>: Grounded,
{
    OpenEnvelope {
        intent: Intent { summary: text!("try"), scope: text!("here").into() },
        stakes,
        quality,
        budgets: budgets(),
        epistemics: Epistemics::new(status, freshness, unit!(0.5), text!("a guess")),
        evidence,
        routing: Routing { task_class: TaskClass::Verify, tools },
    }
    .seal()
}

/// Checks that the schema accepts an envelope, and that only rules about more than the envelope report findings.
#[track_caller]
fn check(envelope: &impl AnyEnvelope) {
    let mcp = envelope.mcp();
    assert_eq!(mcp.check(), Ok(()));
    let mut packet = crate::packet(PacketType::BeliefUpdatePacket);
    packet["mcp"] = serde_json::to_value(mcp).expect("JSON");
    // The packet is the first of its episode, and as old as the evidence.
    packet["header"]["created_at"] = serde_json::to_value(time()).expect("JSON");
    packet["header"].as_object_mut().expect("an object").remove("previous_packet_id");
    packet["payload"].as_object_mut().expect("an object").remove("evidence_integration");
    let line = packet.to_string();
    let facts = PacketFacts::parse(&line).unwrap_or_else(|rejected| panic!("{rejected}"));
    let mut findings = Vec::new();
    rules::check(&Context::new(&facts, &Ledger::default(), None), &mut findings);
    assert!(findings.is_empty(), "{findings:?}");
    // Both ways of creating it give the same envelope.
    let dynamic = DynEnvelope::from_json(&serde_json::to_string(mcp).expect("JSON")).expect("an envelope");
    assert_eq!(serde_json::to_value(dynamic.mcp()).ok(), serde_json::to_value(mcp).ok());
}

#[test]
fn sealed_envelopes_are_valid() {
    let low = Stakes {
        impact: impact::Low,
        irreversibility: irreversibility::Reversible,
        uncertainty: uncertainty::Low,
        adversariality: adversariality::Benign,
    };
    let grave = Stakes {
        impact: impact::High,
        irreversibility: irreversibility::Irreversible,
        uncertainty: uncertainty::High,
        adversariality: adversariality::Hostile,
    };
    let live = || Evidence::memory_item(text!("m"), time()).and_tool_output(text!("t"), time());
    let kept = || Evidence::derived_calc(text!("c"), time()).and_memory_item(text!("m"), time()).reliability(unit!(1));
    let none = || Evidence::absent(text!("nothing to be had"));
    macro_rules! all {
        ($([$status:ident $freshness:ident $evidence:ident])+) => {$(
            check(&sealed(low, Quality::subpar(text!("d"), ["c"]), ($status, $freshness), $evidence(), ToolsOk));
            check(&sealed(grave, Quality::par(text!("d"), ["a", "b"]), ($status, $freshness), $evidence(), ToolsPartial));
            check(&sealed(low, Quality::superb(text!("d"), [""]), ($status, $freshness), $evidence(), ToolsDown));
        )+};
    }
    macro_rules! sure {
        ($($status:ident)+) => {$(
            all!([$status Realtime live] [$status Operational kept] [$status Strategic none] [$status Realtime none]);
        )+};
    }
    macro_rules! unsure {
        ($($status:ident)+) => {$(
            all!([$status Realtime live] [$status Operational live] [$status Strategic none] [$status Archival kept]);
        )+};
    }
    sure!(Observed Derived Remembered);
    unsure!(Inferred Hypothesized Unknown);
}

#[test]
fn the_wire_form_has_all_that_is_set() {
    let envelope: Envelope<HighStakes, Par, ToolsPartial> = OpenEnvelope {
        intent: Intent::new(text!("try"), serde_json::Map::from_iter([("pool".to_owned(), json!(7))])),
        stakes: Stakes {
            impact: impact::High,
            irreversibility: irreversibility::Partial,
            uncertainty: uncertainty::High,
            adversariality: adversariality::Contested,
        },
        quality: Quality::par(text!("done"), ["one", "two"])
            .satisficing()
            .verification(VerificationRequirement::VerifyAll),
        budgets: Budgets {
            tokens: 1,
            tool_calls: 2,
            seconds: 3,
            risk: Risk::new(text!("bold"), text!("a day's work")),
        },
        epistemics: Epistemics::new(Observed, Operational, unit!(0.25), text!("seen twice"))
            .assuming("x")
            .stale_after(9),
        evidence: Evidence::user_observation(text!("u"), time())
            .reliability(unit!(0.5))
            .and_derived_calc(text!("c"), time()),
        routing: Routing { task_class: TaskClass::Find, tools: ToolsPartial },
    }
    .seal();
    check(&envelope);
    let expected = json!({
        "intent": {"summary": "try", "scope": {"pool": 7}},
        "stakes": {"impact": "HIGH", "irreversibility": "PARTIAL", "uncertainty": "HIGH", "adversariality": "CONTESTED",
                   "stakes_level": "HIGH"},
        "quality": {"quality_tier": "PAR", "satisficing_mode": true, "verification_requirement": "VERIFY_ALL",
                    "definition_of_done": {"text": "done", "checks": ["one", "two"]}},
        "budgets": {"token_budget": 1, "tool_call_budget": 2, "time_budget_seconds": 3,
                    "risk_budget": {"envelope": "bold", "max_loss": "a day's work"}},
        "epistemics": {"status": "OBSERVED", "confidence": 0.25, "calibration_note": "seen twice",
                       "freshness_class": "OPERATIONAL", "stale_if_older_than_seconds": 9, "assumptions": ["x"]},
        "evidence": {"evidence_refs": [
            {"ref_type": "user_observation", "ref_id": "u", "timestamp": "2026-03-01T10:00:00Z", "reliability_score": 0.5},
            {"ref_type": "derived_calc", "ref_id": "c", "timestamp": "2026-03-01T10:00:00Z"}]},
        "routing": {"task_class": "FIND", "tools_state": "tools_partial"}
    });
    assert_eq!(serde_json::to_value(envelope.mcp()).ok(), Some(expected));
}

#[test]
fn the_best_evidence_is_the_best_of_all() {
    fn is<Best>(evidence: Evidence<Best>) -> Evidence<Best> {
        evidence
    }
    let (a, b) = (|| text!("a"), || text!("b"));
    drop(is::<Live>(Evidence::tool_output(a(), time()).and_memory_item(b(), time())));
    drop(is::<Live>(Evidence::absent(a()).and_user_observation(b(), time())));
    drop(is::<Archive>(Evidence::memory_item(a(), time()).and_derived_calc(b(), time())));
    drop(is::<Archive>(Evidence::absent(a()).and_memory_item(b(), time())));
    drop(is::<Absent>(Evidence::absent(a())));
}

#[test]
fn envelopes_are_send_sync_and_static() {
    struct NotSync(#[expect(dead_code, reason = "only its type counts")] std::cell::RefCell<*const u8>);
    fn goes<T: Clone + std::fmt::Debug + Send + Sync + 'static>() {}
    goes::<Envelope<NotSync, NotSync, NotSync>>();
    goes::<DynEnvelope>();
}

#[test]
fn literals_hold_at_the_bounds() {
    assert_eq!(unit!(0).get(), 0.0);
    assert_eq!(unit!(1.0).get(), 1.0);
    assert_eq!(text!(concat!("a", "b")).as_str(), "ab");
    const TEXT: &str = "constants are fine, by any name";
    assert_eq!(text!(TEXT).as_str(), TEXT);
    for number in [f64::NAN, -f64::MIN_POSITIVE, 1.0 + f64::EPSILON] {
        assert!(UnitInterval::literal(number).is_none(), "{number}");
    }
    // `text!` accepts what the schema accepts: the shortest text that is not empty.
    assert!(omen_types::Text::new("a").is_ok() && omen_types::Text::new("").is_err());
    assert_eq!(serde_json::to_value(MaxLoss::from(5)).ok(), Some(json!(5)));
    assert_eq!(Code::Inv001.as_str(), "INV-001", "the code that the macros name");
}

#[test]
fn an_envelope_that_understates_its_stakes_is_refused() {
    let envelope = |impact: &str, uncertainty: &str, level: &str| {
        let mut mcp = crate::packet(PacketType::BeliefUpdatePacket)["mcp"].clone();
        mcp["stakes"] = serde_json::json!({
            "impact": impact, "irreversibility": "REVERSIBLE", "uncertainty": uncertainty,
            "adversariality": "BENIGN", "stakes_level": level,
        });
        DynEnvelope::from_value(&mcp)
    };
    for (impact, uncertainty, level) in
        [("HIGH", "HIGH", "LOW"), ("HIGH", "HIGH", "MEDIUM"), ("CRITICAL", "LOW", "HIGH")]
    {
        let errors = envelope(impact, uncertainty, level).expect_err("understated");
        assert_eq!(errors.iter().map(|error| error.code).collect::<Vec<_>>(), [Code::Inv012], "{errors:?}");
    }
    // One medium axis permits LOW, too (D36), and overstating does no harm.
    for (impact, uncertainty, level) in [("MEDIUM", "LOW", "LOW"), ("MEDIUM", "LOW", "MEDIUM"), ("LOW", "LOW", "HIGH")]
    {
        assert!(envelope(impact, uncertainty, level).is_ok(), "{impact} {uncertainty} {level}");
    }
}
