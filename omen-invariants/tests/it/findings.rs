//! Required content of the invariants' findings, whatever their wording: the figures, names and positions that they are about.

use std::collections::BTreeSet;

use omen_invariants::ledger::Update;
use omen_invariants::rules::inv_003_high_stakes_verified::tier_suffices;
use omen_invariants::rules::{inv_009_escalation_options, inv_011_task_closure};
use omen_invariants::{Context, Ledger, rules};
use omen_types::{Code, Diagnostic, PacketFacts, PacketType, QualityTier, Severity, StakesLevel};
use serde_json::{Value, json};

/// Returns a ledger that has accepted some packets.
fn ledger<'p>(packets: impl IntoIterator<Item = &'p Value>) -> Ledger {
    let mut ledger = Ledger::default();
    for packet in packets {
        let line = packet.to_string();
        let facts = PacketFacts::parse(&line).unwrap_or_else(|rejected| panic!("{rejected}"));
        let now = ledger.clock_at(facts.header.created_at);
        ledger.accept(&facts, now, Update::default());
    }
    ledger
}

/// Returns the findings of one code on the next packet.
fn found(ledger: &Ledger, packet: &Value, code: Code) -> Vec<Diagnostic> {
    let line = packet.to_string();
    let facts = PacketFacts::parse(&line).unwrap_or_else(|rejected| panic!("{rejected}"));
    let mut findings = Vec::new();
    rules::check(&Context::new(&facts, ledger, None), &mut findings);
    findings.retain(|finding| finding.code == code);
    findings
}

fn edited(packet: &Value, members: &[(&str, Value)]) -> Value {
    let mut packet = packet.clone();
    for (pointer, value) in members {
        let (parent, member) = pointer.rsplit_once('/').expect("a pointer");
        packet.pointer_mut(parent).expect("an object")[member] = value.clone();
    }
    packet
}

/// At HIGH and CRITICAL stakes, ACT requires SUPERB; below them any tier but SUBPAR suffices (D61).
#[test]
fn a_tier_suffices_for_a_level() {
    for level in StakesLevel::ALL {
        for tier in QualityTier::ALL {
            let expected = match level {
                StakesLevel::High | StakesLevel::Critical => *tier == QualityTier::Superb,
                StakesLevel::Low | StakesLevel::Medium => *tier != QualityTier::Subpar,
            };
            assert_eq!(tier_suffices(*level, *tier), expected, "{level}, {tier}");
        }
    }
}

/// Returns a decision to act on two assumptions.
fn act(level: &str, tier: &str, assumptions: &Value) -> Value {
    edited(
        &crate::log("valid/read-only.jsonl")[2],
        &[
            ("/mcp/stakes/stakes_level", json!(level)),
            ("/mcp/quality/quality_tier", json!(tier)),
            ("/payload/load_bearing_assumptions", assumptions.clone()),
        ],
    )
}

/// Where all assumptions have to be verified, the first unverified one is quoted; where one suffices, none is (INV-003).
#[test]
fn an_unverified_assumption_is_quoted_where_all_count() {
    let assumptions = json!([{"assumption": "the first one holds", "verified": false}]);
    let of =
        |tier| found(&Ledger::default(), &act("LOW", tier, &assumptions), Code::Inv003).pop().expect("INV-003").message;
    let (all, one) = (of("SUPERB"), of("PAR"));
    assert!(all.contains("the first one holds") && !one.contains("the first one holds"), "{all}; {one}");
}

/// The finding on a false claim of verification quotes the stated id, and describes what it refers to (INV-003).
#[test]
fn a_false_claim_of_verification_quotes_what_it_names() {
    let log = crate::log("valid/read-only.jsonl");
    let ledger = ledger(&log[..5]);
    let of = |id: &str, assumption: &str| {
        let assumptions = json!([{"assumption": assumption, "verified": true, "verification_packet_id": id}]);
        found(&ledger, &act("LOW", "PAR", &assumptions), Code::Inv003).pop().expect("INV-003").message
    };
    let (directive, unknown, empty) = (of("pkt_directive_1", "a"), of("pkt_of_nobody", "a"), of("", "a"));
    assert!(directive.contains("`pkt_directive_1`") && unknown.contains("`pkt_of_nobody`"), "{directive}; {unknown}");
    let same = |one: &str, id: &str, other: &str, of: &str| one.replace(id, "") == other.replace(of, "");
    assert!(!same(&directive, "pkt_directive_1", &unknown, "pkt_of_nobody"), "{directive}; {unknown}");
    assert!(!empty.contains("``"), "{empty}");

    // A long assumption is truncated, a short one is not.
    let (fits, long) = ("x".repeat(80), format!("{}{}", "x".repeat(80), "y"));
    assert!(of("", &fits).contains(&format!("`{fits}`")), "{}", of("", &fits));
    let cut = of("", &long);
    assert!(cut.contains(&format!("`{fits}…`")) && !cut.contains('y'.to_string().repeat(2).as_str()), "{cut}");
}

/// Every exceeded budget is named with its figures (INV-005).
#[test]
fn an_overrun_is_reported_with_its_figures() {
    let log = crate::log("valid/read-only.jsonl");
    let decision =
        edited(&log[2], &[("/mcp/budgets/token_budget", json!(17)), ("/mcp/budgets/tool_call_budget", json!(0))]);
    let ledger = ledger([&log[0], &log[1], &decision, &log[3]]);
    let spent = json!({"tokens_used": 23, "tool_calls_used": 5});
    let result = edited(&log[4], &[("/payload/execution_metadata", spent)]);
    let finding = found(&ledger, &result, Code::Inv005).pop().expect("INV-005");
    for figure in ["23", "17", "5", "0"] {
        assert!(finding.message.contains(figure), "{figure}: {}", finding.message);
    }
}

/// The finding on a tool outside the scope names the tools in the scope (INV-007).
#[test]
fn the_finding_on_a_tool_out_of_scope_names_those_within() {
    let log = crate::log("valid/token-constraints-compared.jsonl");
    let ledger = ledger(&log[..4]);
    let directive = edited(&log[4], &[("/payload/execution_method/tool_id", json!("orders.cancel"))]);
    let finding = found(&ledger, &directive, Code::Inv007).into_iter().next().expect("INV-007");
    let words = format!("{finding:?}");
    assert!(["`orders.place`", "`orders.amend`"].iter().all(|tool| words.contains(tool)), "{words}");
}

/// Returns whether a token with a constraint permits a value of the parameter (INV-007).
fn lets_pass(bound: &Value, value: &Value) -> bool {
    let mut log = crate::log("valid/token-constraints-compared.jsonl");
    log[3]["payload"]["authorized_scope"]["resource_constraints"] = json!({ "symbol": bound });
    let ledger = ledger(&log[..4]);
    let directive = edited(&log[4], &[("/payload/execution_method/tool_params/symbol", value.clone())]);
    let findings = found(&ledger, &directive, Code::Inv007);
    for finding in &findings {
        assert_eq!(finding.severity, Severity::Error, "{finding:?}");
        // The label has both the bound and the value.
        let label = finding.label.as_deref().expect("a label");
        let quoted = |value: &Value| label.contains(&format!("`{value}`"));
        assert!(quoted(value) && quoted(bound), "{label}");
    }
    findings.is_empty()
}

/// Values are compared by JSON Schema's equality (D27), also inside lists and objects (INV-007).
#[test]
fn constraints_compare_lists_and_objects_by_value() {
    let lists = json!([[1, 2], [3]]);
    for (value, passes) in [
        (json!([[1, 2]]), true),
        (json!([[1.0, 2.0], [3]]), true),
        (json!([[1]]), false),
        (json!([[1, 2, 3]]), false),
        (json!([[2, 1]]), false),
        (json!([[1, 3]]), false),
        (json!([{}]), false),
    ] {
        assert_eq!(lets_pass(&lists, &value), passes, "{value} of {lists}");
    }
    let objects = json!([{"a": 1, "b": [2]}]);
    for (value, passes) in [
        (json!({"b": [2.0], "a": 1}), true),
        (json!({"a": 1}), false),
        (json!({"a": 1, "b": [2], "c": 3}), false),
        (json!({"a": 1, "b": [3]}), false),
        (json!({"a": 1, "c": [2]}), false),
    ] {
        assert_eq!(lets_pass(&objects, &value), passes, "{value} of {objects}");
    }
}

/// Large integers are compared exactly, not as the nearest doubles (INV-007).
#[test]
fn constraints_compare_large_integers_exactly() {
    let (bound, next) = (9_007_199_254_740_992_u64, 9_007_199_254_740_993_u64);
    assert!(lets_pass(&json!(bound), &json!(bound)) && lets_pass(&json!(next), &json!(next)));
    assert!(!lets_pass(&json!(bound), &json!(next)) && !lets_pass(&json!(next), &json!(bound)));
}

/// Only the members that break the rule concern it (INV-009).
#[test]
fn a_schema_error_concerns_escalations_by_its_codes() {
    let other = Diagnostic::error(Code::Schema, "x");
    let own = Diagnostic { also: vec![Code::E5, Code::Inv009], ..other.clone() };
    assert!(inv_009_escalation_options::concerns(&own) && !inv_009_escalation_options::concerns(&other));
}

/// The finding on a late result points to its task, and on a late open directive to the time (INV-011).
#[test]
fn a_late_result_and_a_directive_that_stays_open_have_different_places() {
    let log = crate::log("valid/read-only.jsonl");
    let directive = |id: &str, task: &str| {
        edited(
            &log[3],
            &[
                ("/header/packet_id", json!(id)),
                ("/payload/task_id", json!(task)),
                ("/payload/timeout_seconds", json!(1)),
            ],
        )
    };
    let ledger = ledger([&log[0], &log[1], &log[2], &directive("pkt_a", "task_a"), &directive("pkt_b", "task_b")]);
    let later = "2031-01-01T00:00:00Z";
    let result = edited(
        &log[4],
        &[
            ("/header/created_at", json!(later)),
            ("/payload/directive_packet_id", json!("pkt_b")),
            ("/payload/task_id", json!("task_b")),
        ],
    );
    let places = |packet: &Value| -> Vec<_> {
        let found = found(&ledger, packet, Code::Inv011);
        found.into_iter().map(|one| (one.message.contains("task_a"), one.pointer.expect("a place"))).collect()
    };
    let [open, task] = ["/header/created_at", "/payload/task_id"].map(str::to_owned);
    assert_eq!(places(&result), [(true, open.clone()), (false, task)]);
    let belief = edited(&log[1], &[("/header/created_at", json!(later))]);
    assert_eq!(places(&belief), [(true, open.clone()), (false, open)]);
    let late: Vec<_> =
        inv_011_task_closure::late(&ledger, later.parse().expect("a time")).into_iter().map(|(id, _)| id).collect();
    assert_eq!(late, ["pkt_a", "pkt_b"], "without a packet");
}

/// A level below the justified one is reported in other words than one above it (INV-012).
#[test]
fn understated_and_overstated_levels_have_different_words() {
    let mut words = [BTreeSet::new(), BTreeSet::new()];
    let packet = crate::packet(PacketType::BeliefUpdatePacket);
    for (impact, others, justified) in [
        ("LOW", ["REVERSIBLE", "LOW", "BENIGN"], StakesLevel::Low),
        ("MEDIUM", ["PARTIAL", "LOW", "BENIGN"], StakesLevel::Medium),
        ("HIGH", ["REVERSIBLE", "HIGH", "BENIGN"], StakesLevel::High),
        ("CRITICAL", ["REVERSIBLE", "LOW", "BENIGN"], StakesLevel::Critical),
    ] {
        let [irreversibility, uncertainty, adversariality] = others;
        for stated in StakesLevel::ALL {
            let stakes = json!({
                "stakes_level": stated.as_str(), "impact": impact, "irreversibility": irreversibility,
                "uncertainty": uncertainty, "adversariality": adversariality,
            });
            let packet = edited(&packet, &[("/mcp/stakes", stakes)]);
            for finding in found(&Ledger::default(), &packet, Code::Inv012) {
                let plain =
                    StakesLevel::ALL.iter().fold(finding.message, |text, level| text.replace(level.as_str(), "_"));
                words[usize::from(*stated < justified)].insert(plain);
            }
        }
    }
    let [over, under] = words;
    assert!(over.len() == 1 && under.len() == 1 && over != under, "{over:?} {under:?}");
}
