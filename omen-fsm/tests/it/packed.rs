//! A machine that was packed and unpacked judges as before.

use std::collections::BTreeMap;

use omen_fsm::Machine;
use omen_types::PacketFacts;

/// A machine, and a copy that is packed after each packet.
#[derive(Default)]
struct Both {
    kept: Machine,
    packed: Machine,
}

#[test]
fn packing_changes_no_verdict() {
    let (mut judged, mut accepted) = (0, 0);
    for (path, log) in omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl")) {
        let mut episodes: BTreeMap<String, Both> = BTreeMap::new();
        for line in log.lines() {
            let Ok(facts) = PacketFacts::parse(line) else { continue };
            let id = facts.header.correlation_id.to_string();
            let both = episodes.entry(id.clone()).or_default();
            let verdict = both.kept.judge(&facts, None);
            assert_eq!(format!("{:?}", both.packed.judge(&facts, None)), format!("{verdict:?}"), "{path}");
            if verdict.errors().next().is_none() {
                both.kept.accept(&facts, &verdict);
                both.packed.accept(&facts, &verdict);
                accepted += 1;
            }
            let packed = both.packed.pack(&id, &mut Vec::new()).expect("a short episode");
            assert_eq!((packed.correlation_id(), packed.is_of(&id), packed.is_of("corr")), (&*id, true, false));
            assert_eq!(packed.nodes(), both.kept.nodes(), "{path}");
            assert_eq!(packed.has_open(), !both.kept.ledger().open().is_empty(), "{path}");
            both.packed = packed.unpack();
            assert_eq!(format!("{:?}", both.packed.finish()), format!("{:?}", both.kept.finish()), "{path}");
            judged += 1;
        }
        let late = "2099-01-01T00:00:00Z".parse().expect("a time");
        for Both { kept, packed } in episodes.values_mut() {
            assert_eq!(format!("{:?}", packed.tick(late)), format!("{:?}", kept.tick(late)), "{path}");
            let mut packed = packed.pack("corr_1", &mut Vec::new()).expect("a short episode").unpack();
            assert!(packed.tick(late).is_empty(), "{path}: what was reported once is not reported again");
            assert_eq!(packed.ledger().owes_escalation(), kept.ledger().owes_escalation(), "{path}");
        }
    }
    assert!(accepted > 500 && judged > accepted + 50, "{judged} judged, {accepted} accepted");
}

#[test]
fn what_is_large_is_not_packed() {
    let machine = Machine::default();
    assert!(machine.pack(&"x".repeat(4_000), &mut Vec::new()).is_some());
    assert!(machine.pack(&"x".repeat(4_096), &mut Vec::new()).is_none());
    assert!(machine.pack(&"x".repeat(70_000), &mut Vec::new()).is_none());
}
