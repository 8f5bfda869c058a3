//! Example logs: every valid packet is unchanged after parsing and writing.

use omen_types::{Packet, PacketFacts};
use serde_json::Value;

#[test]
fn every_example_line_is_read_alike_and_comes_back() {
    let mut packets = 0;
    for (path, text) in omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl")) {
        for (number, line) in text.lines().enumerate() {
            let at = format!("{path}:{}", number + 1);
            let packet = match (line.parse::<Packet>(), PacketFacts::parse(line)) {
                (Ok(packet), Ok(_)) => packet,
                (Err(rejected), Err(other)) => {
                    assert_eq!(rejected.errors, other.errors, "{at}");
                    continue;
                }
                (packet, facts) => panic!("{at}: {packet:?}, but {facts:?}"),
            };
            assert_eq!(packet.check(), Ok(()), "{at}");
            assert_eq!(
                numbers_alike(serde_json::to_value(&packet).unwrap()),
                numbers_alike(serde_json::from_str(line).unwrap()),
                "{at}"
            );
            packets += 1;
        }
    }
    assert!(packets > 0);
}

/// Returns the value with every number as a float: an integer written as `1.0` comes back as `1` (D41).
fn numbers_alike(value: Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().map_or(Value::Null, Value::from),
        Value::Array(elements) => elements.into_iter().map(numbers_alike).collect(),
        Value::Object(members) => members.into_iter().map(|(name, value)| (name, numbers_alike(value))).collect(),
        other => other,
    }
}
