//! The machine reports the expected findings for every example log, stage by stage, without the validator.

use std::collections::{BTreeMap, BTreeSet};

use omen_fsm::{Event, LOOP_NODE, Machine, NodeSet};
use omen_types::{Diagnostic, PacketFacts, Severity};
use serde_json::Value;

/// A finding: the packet that it is about (`None` at the end of the stream), the code, the codes in `also`, and the severity.
type Found = (Option<u64>, String, BTreeSet<String>, String);

fn found(packet: Option<u64>, finding: &Diagnostic) -> Found {
    let also: BTreeSet<_> = finding.also.iter().map(|code| code.as_str().to_owned()).collect();
    assert!(also.len() == finding.also.len() && !finding.also.contains(&finding.code), "each code once: {finding:?}");
    (packet, finding.code.as_str().to_owned(), also, finding.severity.as_str().to_owned())
}

fn expected(name: &str) -> Vec<Found> {
    let text = omen_schema::example(&format!("{name}.expect.json")).unwrap_or_else(|| panic!("{name}: no expectation"));
    let json: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let string = |value: &Value| value.as_str().expect("a string").to_owned();
    let findings = json["findings"].as_array().expect("findings").iter().map(|finding| {
        let also = finding["also"].as_array().expect("also").iter().map(string).collect();
        (finding["packet_index"].as_u64(), string(&finding["code"]), also, string(&finding["severity"]))
    });
    findings.collect()
}

/// Returns the findings of the machines of a log's episodes.
fn judged(name: &str, log: &str) -> Vec<Found> {
    let (mut all, mut machines) = (Vec::new(), BTreeMap::<String, Machine>::new());
    for (index, line) in (0..).zip(log.lines().filter(|line| !line.trim().is_empty())) {
        let facts = match PacketFacts::parse(line) {
            Ok(facts) => facts,
            Err(rejected) => {
                all.extend(rejected.errors.iter().map(|error| found(Some(index), error)));
                continue;
            }
        };
        let machine = machines.entry(facts.header.correlation_id.to_string()).or_default();
        let verdict = machine.judge(&facts, None);
        let findings: Vec<_> = verdict.ids.iter().chain(verdict.fsm.as_deref()).chain(&verdict.invariants).collect();
        let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
        assert_eq!(verdict.errors().count(), errors, "{name}, packet {index}");
        assert_eq!(verdict.is_clean(), findings.is_empty(), "{name}, packet {index}");
        // An error of a packet hides its warnings (D1).
        all.extend(
            findings
                .iter()
                .filter(|one| errors == 0 || one.severity == Severity::Error)
                .map(|one| found(Some(index), one)),
        );
        if errors > 0 {
            continue;
        }
        // This finding is about an earlier packet.
        all.extend(verdict.ahead.iter().map(|ahead| found(None, &ahead.finding)));
        let (event, now) = (Event::of(&facts), machine.ledger().clock_at(facts.header.created_at));
        assert!(
            machine.offers(now).any(|offered| offered == event),
            "{name}, packet {index}: `{event}` was not offered"
        );
        machine.accept(&facts, &verdict);
        only_what_can_pass(name, machine);
        assert_eq!((machine.nodes(), machine.ledger().clock()), (verdict.next, Some(now)), "{name}, packet {index}");
    }
    all.extend(machines.values().flat_map(Machine::finish).map(|(_, finding)| found(None, &finding)));
    all
}

/// Checks that the offered events are possible, as far as the log so far decides it.
fn only_what_can_pass(name: &str, machine: &Machine) {
    let (ledger, nodes) = (machine.ledger(), machine.nodes());
    let now = ledger.clock().expect("the time of the latest packet");
    for offered in machine.offers(now) {
        let can_pass = match offered {
            Event::Settle => !ledger.open().is_empty(),
            Event::DirectWrite => ledger.tokens().any_live(now),
            Event::Believe if nodes == NodeSet::of(LOOP_NODE) => ledger.verification().unmet().next().is_none(),
            _ => true,
        };
        assert!(can_pass, "{name}: `{offered}` is offered in {nodes}");
    }
}

#[test]
fn every_example_gives_what_stands_beside_it() {
    let mut count = 0;
    for name in omen_schema::EXAMPLES.iter().filter_map(|(path, _)| path.strip_suffix(".jsonl")) {
        let log = omen_schema::example(&format!("{name}.jsonl")).expect("the log");
        let (mut found, mut expected) = (judged(name, log), expected(name));
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{name}");
        count += 1;
    }
    assert!(count > 200, "{count} examples");
}
