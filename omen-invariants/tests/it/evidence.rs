//! INV-003, INV-004 and INV-006 against a second, simple implementation of D31, D60, D61, D62 and D66, on every combination of
//! their inputs.

use std::collections::BTreeSet;

use omen_invariants::ledger::Update;
use omen_invariants::{Context, Ledger, rules};
use omen_types::{Instant, PacketFacts, PacketType};
use serde_json::{Value, json};

const NOW: &str = "2026-03-01T10:00:00Z";

fn packet(packet_type: PacketType, id: &str) -> Value {
    let mut packet = crate::packet(packet_type);
    packet["header"]["packet_id"] = id.into();
    packet["header"]["created_at"] = NOW.into();
    packet["header"]["layer_source"] = 5.into();
    packet["mcp"]["epistemics"]["status"] = "DERIVED".into();
    packet
}

fn accept(ledger: &mut Ledger, packet: &Value) {
    let line = packet.to_string();
    let facts = PacketFacts::parse(&line).unwrap_or_else(|rejected| panic!("{rejected}"));
    ledger.accept(&facts, facts.header.created_at, Update::default());
}

/// Returns code, severity and pointer of the findings of some rules.
fn findings(
    ledger: &Ledger,
    packet: &Value,
    codes: &[&str],
    now: Option<Instant>,
) -> BTreeSet<(String, String, String)> {
    let line = packet.to_string();
    let facts = PacketFacts::parse(&line).unwrap_or_else(|rejected| panic!("{rejected}\n{line}"));
    let mut found = Vec::new();
    rules::check(&Context::new(&facts, ledger, now), &mut found);
    let wanted = found.into_iter().filter(|finding| codes.contains(&finding.code.as_str()));
    wanted
        .map(|finding| {
            let pointer = finding.pointer.clone().unwrap_or_default();
            (finding.code.to_string(), finding.severity.as_str().to_owned(), pointer)
        })
        .collect()
}

/// Returns the ledger of an episode with a packet of each type, and ids with whether each verifies an assumption (D62).
fn some_packets() -> (Ledger, [(&'static str, bool); 11]) {
    let mut ledger = Ledger::default();
    let mut add = |packet_type, id: &str, edit: &dyn Fn(&mut Value)| {
        let mut packet = packet(packet_type, id);
        edit(&mut packet);
        accept(&mut ledger, &packet);
    };
    let status = |status: &'static str| {
        move |packet: &mut Value| {
            packet["payload"]["result_status"] = status.into();
            packet["payload"]["error_details"] = json!({"error_message": "no"});
        }
    };
    add(PacketType::ObservationPacket, "pkt_seen", &|_| {});
    add(PacketType::BeliefUpdatePacket, "pkt_belief", &|_| {});
    add(PacketType::DecisionPacket, "pkt_decision", &|_| {});
    add(PacketType::VerificationPlanPacket, "pkt_plan", &|_| {});
    add(PacketType::TaskDirectivePacket, "pkt_directive", &|_| {});
    add(PacketType::TaskResultPacket, "pkt_success", &status("SUCCESS"));
    add(PacketType::TaskResultPacket, "pkt_failure", &status("FAILURE"));
    add(PacketType::TaskResultPacket, "pkt_cancelled", &status("CANCELLED"));
    add(PacketType::IntegrityAlertPacket, "pkt_alert", &|_| {});
    let ids = [
        ("pkt_seen", true),
        ("pkt_belief", true),
        ("pkt_decision", false),
        ("pkt_plan", true),
        ("pkt_directive", false),
        ("pkt_success", true),
        ("pkt_failure", false),
        ("pkt_cancelled", false),
        ("pkt_alert", false),
        ("pkt_unknown", false),
        ("", false),
    ];
    (ledger, ids)
}

/// Returns lists of assumptions: each verified or not, with an optional id of its evidence.
fn lists(ids: &[(&'static str, bool)]) -> Vec<Vec<(bool, Option<&'static str>)>> {
    let mut lists = vec![vec![], vec![(true, None)], vec![(false, None)], vec![(true, None), (false, None)]];
    lists.push(vec![(false, None), (false, Some("pkt_unknown"))]);
    lists.extend(ids.iter().map(|(id, _)| vec![(true, Some(*id))]));
    lists.extend(ids.iter().map(|(id, _)| vec![(false, None), (true, Some(*id)), (true, Some("pkt_alert"))]));
    lists
}

const AXES: [(&str, &str); 4] = [("LOW", "LOW"), ("MEDIUM", "MEDIUM"), ("HIGH", "HIGH"), ("CRITICAL", "CRITICAL")];

#[test]
fn claims_of_verification_are_judged_as_the_decisions_have_it() {
    let (ledger, ids) = some_packets();
    let verifies = |id: &str| ids.iter().any(|(known, verifies)| *known == id && *verifies);
    let (mut judged, mut spoken) = (0, BTreeSet::new());
    for (level, impact) in AXES {
        for tier in ["SUBPAR", "PAR", "SUPERB"] {
            for requirement in ["OPTIONAL", "VERIFY_ONE", "VERIFY_ALL"] {
                for (outcome, overridden) in [("ACT", false), ("ACT", true), ("VERIFY_FIRST", false), ("DEFER", false)]
                {
                    for list in lists(&ids) {
                        let mut packet = packet(PacketType::DecisionPacket, "pkt_judged");
                        packet["mcp"]["stakes"]["stakes_level"] = level.into();
                        packet["mcp"]["stakes"]["impact"] = impact.into();
                        packet["mcp"]["quality"]["quality_tier"] = tier.into();
                        packet["mcp"]["quality"]["verification_requirement"] = requirement.into();
                        packet["header"]["layer_source"] = if overridden { 1 } else { 5 }.into();
                        let words = if overridden { "Emergency override; safety" } else { "safety" };
                        packet["payload"] = json!({
                            "decision_outcome": outcome, "decision_summary": words,
                            "constraints_satisfied": {"constitutional_check": true, "budget_check": true, "tier_check": true},
                            "load_bearing_assumptions": list.iter().map(|(verified, id)| match id {
                                Some(id) => json!({"assumption": "a", "verified": verified, "verification_packet_id": id}),
                                None => json!({"assumption": "a", "verified": verified}),
                            }).collect::<Vec<_>>(),
                        });
                        let mut expected = BTreeSet::new();
                        let mut say = |severity: &str, pointer: String| {
                            expected.insert(("INV-003".to_owned(), severity.to_owned(), pointer));
                        };
                        let place =
                            |at: usize, member: &str| format!("/payload/load_bearing_assumptions/{at}/{member}");
                        let high = level == "HIGH" || level == "CRITICAL";
                        let open = list.iter().position(|(verified, _)| !verified);
                        let none_verified = list.iter().all(|(verified, _)| !verified);
                        if outcome == "ACT" {
                            if high && (tier != "SUPERB" || open.is_some()) {
                                let first = if tier == "SUPERB" {
                                    place(open.unwrap(), "verified")
                                } else {
                                    "/mcp/quality/quality_tier".to_owned()
                                };
                                match overridden {
                                    true => say("warning", "/payload/decision_summary".to_owned()),
                                    false => say("error", first),
                                }
                            }
                            let all = requirement == "VERIFY_ALL" || tier == "SUPERB";
                            let one = requirement == "VERIFY_ONE" || tier == "PAR";
                            if !high && !list.is_empty() && (all && open.is_some() || one && none_verified) {
                                say("warning", place(open.unwrap(), "verified"));
                            }
                            for (at, (verified, id)) in list.iter().enumerate() {
                                if *verified && id.is_some_and(|id| !verifies(id)) {
                                    let severity = if high && !overridden { "error" } else { "warning" };
                                    say(severity, place(at, "verification_packet_id"));
                                }
                            }
                        }
                        let found = findings(&ledger, &packet, &["INV-003"], None);
                        assert_eq!(found, expected, "{level} {tier} {requirement} {outcome} {overridden} {list:?}");
                        judged += 1;
                        spoken.extend(found);
                    }
                }
            }
        }
    }
    println!("{judged} decisions");
    assert_eq!(judged, 4 * 3 * 3 * 4 * 27);
    assert!(spoken.len() > 8, "{spoken:?}");
}

#[test]
fn an_act_that_failed_its_own_checks_is_warned_of() {
    let ledger = Ledger::default();
    for outcome in ["ACT", "VERIFY_FIRST", "ESCALATE", "DEFER", "CANCEL"] {
        for tier_check in [true, false] {
            for verification_check in [None, Some(true), Some(false)] {
                let mut packet = packet(PacketType::DecisionPacket, "pkt_judged");
                let mut checks = json!({"constitutional_check": true, "budget_check": true, "tier_check": tier_check});
                if let Some(check) = verification_check {
                    checks["verification_check"] = check.into();
                }
                packet["payload"] = json!({
                    "decision_outcome": outcome, "decision_summary": "safety", "constraints_satisfied": checks,
                });
                let mut expected = BTreeSet::new();
                let failed = [("tier_check", !tier_check), ("verification_check", verification_check == Some(false))];
                for (member, failed) in failed {
                    if failed && outcome == "ACT" {
                        let pointer = format!("/payload/constraints_satisfied/{member}");
                        expected.insert(("INV-006".to_owned(), "warning".to_owned(), pointer));
                    }
                }
                let found = findings(&ledger, &packet, &["INV-006"], None);
                assert_eq!(found, expected, "{outcome} {tier_check} {verification_check:?}");
            }
        }
    }
}

/// Returns packets, and whether each requires certainty or help, by itself and inside a verification loop (D31).
fn claims() -> Vec<(Value, bool, bool)> {
    let mut all = Vec::new();
    for packet_type in PacketType::ALL.iter().copied().filter(|kind| *kind != PacketType::DecisionPacket) {
        let asks = matches!(
            packet_type,
            PacketType::VerificationPlanPacket | PacketType::EscalationPacket | PacketType::IntegrityAlertPacket
        );
        let mut packet = packet(packet_type, "pkt_judged");
        if packet_type == PacketType::TaskDirectivePacket {
            let read = |class: &str| {
                let mut packet = packet.clone();
                packet["payload"]["task_type"] = "tool_read".into();
                packet["payload"]["tool_safety_class"] = class.into();
                packet["payload"]["authorization_token_id"] = "token_t".into();
                packet
            };
            all.push((read("READ"), false, true));
            all.push((read("WRITE"), false, false));
            packet = read("READ");
            packet["payload"]["task_type"] = "tool_write".into();
        }
        all.push((packet, asks, asks));
    }
    for outcome in ["ACT", "VERIFY_FIRST", "ESCALATE", "DEFER", "CANCEL"] {
        let mut packet = packet(PacketType::DecisionPacket, "pkt_judged");
        packet["payload"]["decision_outcome"] = outcome.into();
        all.push((packet, outcome != "ACT", outcome != "ACT"));
    }
    all
}

#[test]
fn evidence_is_judged_as_the_decisions_have_it() {
    let mut looped = Ledger::default();
    let mut verify = packet(PacketType::DecisionPacket, "pkt_verify");
    verify["payload"]["decision_outcome"] = "VERIFY_FIRST".into();
    accept(&mut looped, &verify);
    let plain = Ledger::default();

    let now: Instant = NOW.parse().unwrap();
    // Age in seconds of the newest live evidence, its timestamp, and whether it is in the future.
    let ages: [(i64, &str); 7] = [
        (-1, "2026-03-01T10:00:01Z"),
        (0, "2026-03-01T10:00:00Z"),
        (60, "2026-03-01T09:59:00Z"),
        (3_600, "2026-03-01T09:00:00Z"),
        (3_601, "2026-03-01T08:59:59Z"),
        (86_400, "2026-02-28T10:00:00Z"),
        (86_401, "2026-02-28T09:59:59Z"),
    ];
    let mut evidence = vec![(None, json!([]))];
    evidence.push((None, json!([{"ref_type": "memory_item", "ref_id": "m", "timestamp": "2026-03-01T10:00:09Z"}])));
    for (age, taken) in ages {
        let live = json!({"ref_type": "tool_output", "ref_id": "t", "timestamp": taken});
        let older = json!({"ref_type": "user_observation", "ref_id": "u", "timestamp": "2026-01-01T00:00:00Z"});
        evidence.push((Some(age), json!([older, live])));
    }
    let mut judged = 0;
    for (packet, asks, asks_in_loop) in claims() {
        for (ledger, asks) in [(&plain, asks), (&looped, asks_in_loop)] {
            for status in ["OBSERVED", "DERIVED", "REMEMBERED", "INFERRED", "HYPOTHESIZED", "UNKNOWN"] {
                for freshness in ["REALTIME", "OPERATIONAL", "STRATEGIC", "ARCHIVAL"] {
                    for stated in [None, Some(0), Some(60), Some(100_000)] {
                        for (age, refs) in &evidence {
                            let mut packet = packet.clone();
                            let epistemics = packet["mcp"]["epistemics"].as_object_mut().unwrap();
                            epistemics.insert("status".into(), status.into());
                            epistemics.insert("freshness_class".into(), freshness.into());
                            epistemics.remove("stale_if_older_than_seconds");
                            if let Some(limit) = stated {
                                epistemics.insert("stale_if_older_than_seconds".into(), limit.into());
                            }
                            packet["mcp"]["evidence"] =
                                json!({"evidence_refs": refs, "evidence_absent_reason": "none"});
                            let looks = ["INFERRED", "HYPOTHESIZED", "UNKNOWN"].contains(&status)
                                && ["REALTIME", "OPERATIONAL"].contains(&freshness);
                            let limit = stated.unwrap_or(if freshness == "REALTIME" { 3_600 } else { 86_400 });
                            // The packet's own statement applies to all statuses (D79).
                            let is_stale = age.zip(stated).is_some_and(|(age, stated)| age > stated);
                            let expected: Vec<&str> = match age {
                                _ if !looks => vec!["warning"; usize::from(is_stale)],
                                None if asks => vec!["warning"],
                                None => vec!["error"],
                                Some(age) => {
                                    let problems = usize::from(*age > limit) + usize::from(*age < 0);
                                    vec!["warning"; problems]
                                }
                            };
                            let line = packet.to_string();
                            let facts =
                                PacketFacts::parse(&line).unwrap_or_else(|rejected| panic!("{rejected}\n{line}"));
                            let mut found = Vec::new();
                            rules::check(&Context::new(&facts, ledger, Some(now)), &mut found);
                            let found: Vec<_> = found
                                .iter()
                                .filter(|finding| finding.code.as_str() == "INV-004")
                                .map(|finding| finding.severity.as_str())
                                .collect();
                            assert_eq!(found, expected, "{status} {freshness} {stated:?} {age:?} {line}");
                            judged += 1;
                        }
                    }
                }
            }
        }
    }
    println!("{judged} packets");
}
