//! Every example log has exactly the findings in the file beside it, through the library.

use std::collections::BTreeSet;

use omen::{Finding, Validator, validator::ValidatorOptions};
use serde_json::Value;

/// Expectations of an example.
struct Expect {
    findings: Vec<(Option<u64>, String, BTreeSet<String>, String)>,
    packets: u64,
    accepted: u64,
    episodes: u64,
}

fn expect(name: &str) -> Expect {
    let text = omen_schema::example(&format!("{name}.expect.json")).unwrap_or_else(|| panic!("{name}: no expectation"));
    let json: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let string = |value: &Value| value.as_str().expect("a string").to_owned();
    Expect {
        findings: json["findings"]
            .as_array()
            .expect("findings")
            .iter()
            .map(|finding| {
                let also = finding["also"].as_array().expect("also").iter().map(string).collect();
                (finding["packet_index"].as_u64(), string(&finding["code"]), also, string(&finding["severity"]))
            })
            .collect(),
        packets: json["packets"].as_u64().expect("packets"),
        accepted: json["accepted"].as_u64().expect("accepted"),
        episodes: json["episodes"].as_u64().expect("episodes"),
    }
}

/// Returns the names of the example logs, without extension.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    omen_schema::EXAMPLES.iter().filter_map(|(path, _)| path.strip_suffix(".jsonl"))
}

#[test]
fn every_example_gives_what_stands_beside_it() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for name in names() {
        let log = omen_schema::example(&format!("{name}.jsonl")).expect("the log");
        let mut findings: Vec<Finding> = Vec::new();
        let mut validator = Validator::new(ValidatorOptions::default());
        validator.feed(log.as_bytes(), &mut findings);
        let Ok(summary) = validator.finish(&mut findings);
        let expect = expect(name);
        let mut found: Vec<_> = findings
            .iter()
            .map(|finding| {
                let also = finding.diagnostic.also.iter().map(|code| code.as_str().to_owned()).collect();
                let severity = finding.diagnostic.severity.as_str().to_owned();
                (finding.packet_index, finding.diagnostic.code.as_str().to_owned(), also, severity)
            })
            .collect();
        let mut expected = expect.findings;
        found.sort();
        expected.sort();
        let counts = (summary.packets, summary.accepted, summary.episodes);
        if found != expected || counts != (expect.packets, expect.accepted, expect.episodes) {
            wrong
                .push(format!("{name}:\n  expected {expected:?}\n  found    {found:?}\n  {counts:?}\n  {findings:#?}"));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{} of {count} examples:\n{}", wrong.len(), wrong.join("\n"));
    println!("{count} examples");
    assert!(count > 200);
}
