//! A placeholder is found wherever a text may be, in every notation (D89).

use std::collections::BTreeSet;

use omen_types::PacketFacts;
use omen_types::placeholder::PLACEHOLDER;
use serde_json::Value;

/// Collects the pointers of all texts of a value.
fn texts(value: &Value, at: &str, into: &mut Vec<String>) {
    match value {
        Value::String(_) => into.push(at.to_owned()),
        Value::Array(all) => {
            all.iter().enumerate().for_each(|(index, value)| texts(value, &format!("{at}/{index}"), into));
        }
        Value::Object(all) => all.iter().for_each(|(key, value)| texts(value, &format!("{at}/{key}"), into)),
        _ => {}
    }
}

/// The parser looks for placeholders only if a string begins like one.
#[test]
fn the_parser_notices_each_placeholder_in_both_spellings() {
    let (mut seen, mut first) = (0, BTreeSet::new());
    let logs = omen_schema::EXAMPLES.iter().filter(|(path, _)| path.starts_with("valid/") && path.ends_with(".jsonl"));
    for line in logs.flat_map(|(_, log)| log.lines()).filter(|line| !line.trim().is_empty()) {
        let packet: Value = serde_json::from_str(line).expect("JSON");
        if !first.insert(packet["header"]["packet_type"].to_string()) {
            continue;
        }
        let mut all = Vec::new();
        texts(&packet, "", &mut all);
        for pointer in all {
            let mut changed = packet.clone();
            *changed.pointer_mut(&pointer).expect("a text") = PLACEHOLDER.into();
            let written = changed.to_string();
            for text in [written.clone(), written.replace('…', "\\u2026")] {
                // It is refused where a word of the schema is expected.
                if let Ok(facts) = PacketFacts::parse(&text) {
                    assert!(facts.placeholders.contains(&pointer), "{pointer}: {text}");
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 200, "{seen} placeholders");
}
