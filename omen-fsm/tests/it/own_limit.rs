//! INV-004 agrees with a second implementation of D31, D66 and D79: for every status, class of freshness, kind of evidence, age
//! and limit.

use omen_fsm::check_alone;
use omen_types::{Code, EpistemicStatus, FreshnessClass, Instant, PacketFacts, RefType, Severity};
use serde_json::{Value, json};

const NOW: &str = "2026-03-05T10:00:00Z";

/// Returns the number of findings, and whether one is an error.
fn expected(
    status: EpistemicStatus,
    class: FreshnessClass,
    evidence: &[(RefType, u64)],
    limit: Option<u64>,
) -> (usize, bool) {
    use EpistemicStatus::{Hypothesized, Inferred, Unknown};
    let live = evidence.iter().filter(|(kind, _)| matches!(kind, RefType::ToolOutput | RefType::UserObservation));
    let newest_live = live.map(|(_, age)| *age).min();
    let default = match class {
        FreshnessClass::Realtime => Some(3_600),
        FreshnessClass::Operational => Some(86_400),
        _ => None,
    };
    let is_claim = [Inferred, Hypothesized, Unknown].contains(&status) && default.is_some();
    let is_missing = is_claim && newest_live.is_none();
    let is_stale = is_claim && newest_live.zip(limit.or(default)).is_some_and(|(age, limit)| age > limit);
    let newest = evidence.iter().map(|(_, age)| *age).min();
    let is_beyond_own = newest.zip(limit).is_some_and(|(age, limit)| age > limit);
    (usize::from(is_missing) + usize::from(is_stale || is_beyond_own), is_missing)
}

#[test]
fn every_status_class_age_and_limit_agrees() {
    let log = omen_schema::example("valid/read-only.jsonl").unwrap();
    let mut packet: Value = serde_json::from_str(log.lines().nth(1).unwrap()).unwrap();
    packet["header"]["created_at"] = NOW.into();
    let now: Instant = NOW.parse().unwrap();
    let ages = [0, 10, 11, 3_600, 3_601, 86_400, 86_401];
    let kinds = [RefType::ToolOutput, RefType::UserObservation, RefType::MemoryItem, RefType::DerivedCalc];
    let mut sets: Vec<Vec<(RefType, u64)>> = vec![Vec::new()];
    sets.extend(kinds.iter().flat_map(|kind| ages.map(|age| vec![(*kind, age)])));
    sets.extend(ages.iter().flat_map(|live| ages.map(|other| vec![(kinds[0], *live), (kinds[2], other)])));
    let (mut found, mut all) = (0, 0);
    for status in EpistemicStatus::ALL {
        for class in FreshnessClass::ALL {
            for limit in [None, Some(0), Some(10), Some(3_600), Some(100_000)] {
                for evidence in &sets {
                    let epistemics = &mut packet["mcp"]["epistemics"];
                    epistemics["status"] = json!(status);
                    epistemics["freshness_class"] = json!(class);
                    match limit {
                        Some(limit) => epistemics["stale_if_older_than_seconds"] = limit.into(),
                        None => drop(epistemics.as_object_mut().unwrap().remove("stale_if_older_than_seconds")),
                    }
                    let taken = |age: u64| Instant::from_unix(now.unix_seconds() - age.cast_signed(), 0).to_string();
                    let refs: Vec<_> = evidence
                        .iter()
                        .map(|(kind, age)| json!({"ref_type": kind, "ref_id": "r", "timestamp": taken(*age)}))
                        .collect();
                    packet["mcp"]["evidence"] = json!({"evidence_refs": refs, "evidence_absent_reason": "none"});
                    let line = packet.to_string();
                    let findings = check_alone(&PacketFacts::parse(&line).unwrap(), None);
                    let own: Vec<_> = findings.iter().filter(|one| one.code == Code::Inv004).collect();
                    let is_error = own.iter().any(|one| one.severity == Severity::Error);
                    let expected = expected(*status, *class, evidence, limit);
                    assert_eq!((own.len(), is_error), expected, "{status} {class} {limit:?} {evidence:?}");
                    all += 1;
                    found += own.len();
                }
            }
        }
    }
    assert!(all > 9_000 && found > 3_000, "{all} packets, {found} findings");
}
