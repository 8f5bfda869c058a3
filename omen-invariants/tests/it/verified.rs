//! What quality asks of assumptions (D60), what a decision says of itself (D61), which packets verify (D62), and when
//! evidence is stale (D66), against the decisions written out anew.

use omen_invariants::ledger::Update;
use omen_invariants::{Context, Ledger, rules};
use omen_types::{
    Code, DecisionOutcome, Diagnostic, FreshnessClass, PacketFacts, PacketType, QualityTier, Severity, StakesLevel,
    VerificationRequirement,
};
use serde_json::{Value, json};

fn findings(packet: &Value, ledger: &Ledger) -> Vec<Diagnostic> {
    let line = packet.to_string();
    let facts = PacketFacts::parse(&line).unwrap_or_else(|rejected| panic!("{rejected}"));
    let mut findings = Vec::new();
    rules::check(&Context::new(&facts, ledger, None), &mut findings);
    findings
}

/// Where a rule has findings, with their severities.
fn of(findings: &[Diagnostic], code: Code) -> Vec<(String, Severity)> {
    let of_code = findings.iter().filter(|finding| finding.code == code);
    of_code.map(|finding| (finding.pointer.clone().unwrap_or_default(), finding.severity)).collect()
}

/// A decision to act, on work that is as good as can be.
fn decision(level: StakesLevel, assumptions: &Value) -> Value {
    let mut packet = crate::packet(PacketType::DecisionPacket);
    packet["header"]["layer_source"] = 5.into();
    packet["mcp"]["stakes"]["stakes_level"] = level.as_str().into();
    packet["mcp"]["quality"]["quality_tier"] = "SUPERB".into();
    packet["mcp"]["routing"]["tools_state"] = "tools_ok".into();
    packet["payload"]["decision_outcome"] = "ACT".into();
    packet["payload"]["decision_summary"] = "safety".into();
    packet["payload"]["load_bearing_assumptions"] = assumptions.clone();
    packet
}

#[test]
fn assumptions_are_verified_as_tier_and_requirement_ask() {
    let mut warned = 0;
    for lists in [&[][..], &[true], &[false], &[true, true], &[true, false], &[false, true], &[false, false]] {
        let assumptions: Value =
            lists.iter().map(|verified| json!({"assumption": "a", "verified": verified})).collect();
        for level in [StakesLevel::Low, StakesLevel::Medium] {
            for tier in QualityTier::ALL {
                for requirement in VerificationRequirement::ALL {
                    let mut packet = decision(level, &assumptions);
                    packet["mcp"]["quality"]["quality_tier"] = tier.as_str().into();
                    packet["mcp"]["quality"]["verification_requirement"] = requirement.as_str().into();
                    let all = *tier == QualityTier::Superb || *requirement == VerificationRequirement::VerifyAll;
                    let one = *tier == QualityTier::Par || *requirement == VerificationRequirement::VerifyOne;
                    let expected =
                        if all { lists.contains(&false) } else { one && !lists.is_empty() && !lists.contains(&true) };
                    let found = of(&findings(&packet, &Ledger::default()), Code::Inv003);
                    assert_eq!(found.len(), usize::from(expected), "{lists:?} {level} {tier} {requirement}: {found:?}");
                    assert!(found.iter().all(|(_, severity)| *severity == Severity::Warning), "{found:?}");
                    warned += found.len();
                }
            }
        }
    }
    assert!(warned > 40, "{warned}");
}

#[test]
fn an_act_that_says_it_is_not_good_enough_is_warned_of() {
    for outcome in DecisionOutcome::ALL {
        for tier_check in [true, false] {
            for verification_check in [None, Some(true), Some(false)] {
                let mut packet = decision(StakesLevel::Low, &json!([]));
                packet["payload"]["decision_outcome"] = outcome.as_str().into();
                packet["payload"]["constraints_satisfied"] =
                    json!({"constitutional_check": true, "budget_check": true, "tier_check": tier_check});
                if let Some(check) = verification_check {
                    packet["payload"]["constraints_satisfied"]["verification_check"] = check.into();
                }
                let acts = *outcome == DecisionOutcome::Act;
                let mut expected = Vec::new();
                if acts && !tier_check {
                    expected.push("/payload/constraints_satisfied/tier_check");
                }
                if acts && verification_check == Some(false) {
                    expected.push("/payload/constraints_satisfied/verification_check");
                }
                let expected: Vec<_> = expected.into_iter().map(|at| (at.to_owned(), Severity::Warning)).collect();
                assert_eq!(of(&findings(&packet, &Ledger::default()), Code::Inv006), expected, "{outcome}");
            }
        }
    }
}

#[test]
fn only_packets_that_can_verify_do() {
    let mut ledger = Ledger::default();
    let mut named = vec![("pkt_none".to_owned(), false), (String::new(), false)];
    let mut accept = |packet: &mut Value, can: bool| {
        let id = format!("pkt_verifier_{}", named.len());
        packet["header"]["packet_id"] = id.as_str().into();
        let line = packet.to_string();
        let facts = PacketFacts::parse(&line).unwrap_or_else(|rejected| panic!("{rejected}"));
        let now = ledger.clock_at(facts.header.created_at);
        ledger.accept(&facts, now, Update::default());
        named.push((id, can));
    };
    for packet_type in PacketType::ALL.iter().filter(|of| **of != PacketType::TaskResultPacket) {
        let can = matches!(
            packet_type,
            PacketType::VerificationPlanPacket | PacketType::ObservationPacket | PacketType::BeliefUpdatePacket
        );
        accept(&mut crate::packet(*packet_type), can);
    }
    for (status, can) in [("SUCCESS", true), ("FAILURE", false), ("CANCELLED", false)] {
        let mut result = crate::packet(PacketType::TaskResultPacket);
        result["payload"]["result_status"] = status.into();
        result["payload"]["error_details"] = json!({});
        accept(&mut result, can);
    }
    for level in StakesLevel::ALL {
        for overridden in [false, true] {
            for (id, can) in &named {
                let claim = json!([{"assumption": "a", "verified": true, "verification_packet_id": id}]);
                let mut packet = decision(*level, &claim);
                if overridden {
                    packet["header"]["layer_source"] = 1.into();
                    packet["payload"]["decision_summary"] = "safety: emergency override".into();
                }
                let high = matches!(level, StakesLevel::High | StakesLevel::Critical);
                let severity = if high && !overridden { Severity::Error } else { Severity::Warning };
                let at = "/payload/load_bearing_assumptions/0/verification_packet_id".to_owned();
                let expected = if *can { Vec::new() } else { vec![(at, severity)] };
                assert_eq!(of(&findings(&packet, &ledger), Code::Inv003), expected, "{level} {id} {overridden}");
            }
        }
    }
    // What is not called verified claims nothing.
    let open = json!([{"assumption": "a", "verified": true}, {"assumption": "b", "verified": true}]);
    assert!(of(&findings(&decision(StakesLevel::High, &open), &ledger), Code::Inv003).is_empty());
}

#[test]
fn evidence_is_stale_by_its_class_unless_the_packet_says() {
    let taken = "2026-03-01T10:00:00Z";
    let at = |seconds: u64| taken.parse::<omen_types::Instant>().expect("a time").plus_seconds(seconds).to_string();
    for class in FreshnessClass::ALL {
        let default = match class {
            FreshnessClass::Realtime => Some(3_600),
            FreshnessClass::Operational => Some(86_400),
            FreshnessClass::Strategic | FreshnessClass::Archival => None,
        };
        for stated in [None, Some(0), Some(60)] {
            // Where nothing is claimed of the present, no evidence is looked at.
            let limit = default.map(|default| stated.unwrap_or(default));
            for age in [0, 1, 60, 61, 3_600, 3_601, 86_400, 86_401] {
                let mut packet = decision(StakesLevel::Low, &json!([]));
                packet["header"]["created_at"] = at(age).into();
                packet["mcp"]["epistemics"]["status"] = "INFERRED".into();
                packet["mcp"]["epistemics"]["freshness_class"] = class.as_str().into();
                packet["mcp"]["epistemics"].as_object_mut().expect("epistemics").remove("stale_if_older_than_seconds");
                if let Some(stated) = stated {
                    packet["mcp"]["epistemics"]["stale_if_older_than_seconds"] = stated.into();
                }
                packet["mcp"]["evidence"] =
                    json!({"evidence_refs": [{"ref_type": "tool_output", "ref_id": "t", "timestamp": taken}]});
                let found = of(&findings(&packet, &Ledger::default()), Code::Inv004);
                let expected = usize::from(limit.is_some_and(|limit| age > limit));
                assert_eq!(found.len(), expected, "{class} {stated:?} {age}: {found:?}");
                assert!(found.iter().all(|(_, severity)| *severity == Severity::Warning));
            }
        }
    }
    let mut early = decision(StakesLevel::Low, &json!([]));
    early["header"]["created_at"] = taken.into();
    early["mcp"]["epistemics"]["status"] = "INFERRED".into();
    early["mcp"]["epistemics"]["freshness_class"] = "REALTIME".into();
    early["mcp"]["evidence"] =
        json!({"evidence_refs": [{"ref_type": "user_observation", "ref_id": "u", "timestamp": at(1)}]});
    let found = of(&findings(&early, &Ledger::default()), Code::Inv004);
    assert_eq!(found, [("/mcp/evidence/evidence_refs".to_owned(), Severity::Warning)], "from the future");
}
