//! Every rule has an accepted and a refused example.

use std::collections::{BTreeMap, BTreeSet};

use omen::{Code, Finding, Validator, ValidatorOptions};
use omen_types::PacketType;
use serde_json::Value;

#[test]
fn every_code_has_a_refused_example_and_an_accepted_neighbour() {
    let mut refused: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for name in crate::examples::names().filter(|name| name.starts_with("invalid/")) {
        let text = omen_schema::example(&format!("{name}.expect.json")).expect("an expectation");
        let expect: Value = serde_json::from_str(text).expect("JSON");
        let fixed = expect["fixed"].as_str().unwrap_or_else(|| panic!("{name} names no fixed neighbour"));
        let neighbour = fixed.strip_suffix(".jsonl").expect("a log");
        let found = omen_schema::example(&format!("{neighbour}.expect.json"));
        let found: Value = serde_json::from_str(found.unwrap_or_else(|| panic!("{name}: no {fixed}"))).expect("JSON");
        let clean =
            found["findings"].as_array().expect("findings").iter().all(|finding| finding["severity"] == "warning");
        assert!(clean, "{name}: its neighbour {fixed} has errors");
        for finding in expect["findings"].as_array().expect("findings") {
            let also = finding["also"].as_array().expect("also").iter();
            for code in also.chain([&finding["code"]]).filter_map(Value::as_str) {
                refused.entry(code.to_owned()).or_default().insert(name.to_owned());
            }
        }
    }
    for code in Code::ALL {
        let severity = code.info().severity;
        // A rule that only warns rejects no packet.
        assert!(severity == "warning" || refused.contains_key(code.as_str()), "no refused example of {code}");
    }
}

#[test]
fn every_rule_that_can_warn_has_an_example_that_is_warned_of() {
    let mut warned = BTreeSet::new();
    for name in crate::examples::names().filter(|name| name.starts_with("valid/")) {
        let text = omen_schema::example(&format!("{name}.expect.json")).expect("an expectation");
        let expect: Value = serde_json::from_str(text).expect("JSON");
        for finding in expect["findings"].as_array().expect("findings") {
            assert_eq!(finding["severity"], "warning", "{name}");
            warned.insert(finding["code"].as_str().expect("a code").to_owned());
        }
    }
    for code in Code::ALL.iter().filter(|code| code.info().severity.contains("warning")) {
        assert!(warned.contains(code.as_str()), "no example that warns of {code}");
    }
}

/// The packet types of a rule are those that its condition names, and those of the packets that break it.
#[test]
fn the_packet_types_of_a_rule_are_those_that_it_finds_fault_with() {
    for code in Code::ALL {
        let info = code.info();
        let named = PacketType::ALL.iter().map(|packet_type| packet_type.as_str());
        let named: BTreeSet<_> = named.filter(|name| info.condition.contains(name)).collect();
        let listed: BTreeSet<_> = info.packet_types.iter().copied().collect();
        assert!(listed.is_empty() || named == listed, "{code}: {}: {listed:?}", info.condition);
    }
    let mut seen = BTreeSet::new();
    for (path, log) in omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl")) {
        let mut findings: Vec<Finding> = Vec::new();
        let mut validator = Validator::new(ValidatorOptions::default());
        let Ok(()) = validator.feed(log.as_bytes(), &mut findings);
        let Ok(_) = validator.finish(&mut findings);
        for finding in findings.iter().filter(|finding| finding.line.is_some()) {
            let Some(packet_type) = finding.packet_type else { continue };
            let (code, types) = (finding.diagnostic.code, finding.diagnostic.code.info().packet_types);
            let is_listed = types.is_empty() || types.contains(&packet_type.as_str());
            // Lateness is reported with the next packet, of any type.
            assert!(is_listed || code == Code::Inv011, "{path}: {code}: {packet_type}");
            seen.extend(finding.diagnostic.also.iter().chain([&code]).map(|code| (*code, packet_type.as_str())));
        }
    }
    for code in Code::ALL.iter().filter(|code| **code != Code::Inv011) {
        let broken_by = |packet_type: &&&str| !seen.contains(&(*code, **packet_type));
        let unseen: Vec<_> = code.info().packet_types.iter().filter(broken_by).collect();
        assert!(unseen.is_empty(), "no example of {code} has a fault in {unseen:?}");
    }
}

/// Every conditional of the schemas has a log that breaks it, named after it.
#[test]
fn every_conditional_has_a_refused_example() {
    let conditionals: usize = omen_schema::FILES
        .iter()
        .filter(|(path, _)| path.ends_with(".schema.json"))
        .map(|(_, text)| text.matches("\"then\"").count())
        .sum();
    let examples = crate::examples::names().filter(|name| name.starts_with("invalid/schema-conditional-")).count();
    assert!(examples >= conditionals, "{examples} examples for {conditionals} conditionals");
}
