//! Tests of the ledger and the invariants.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![allow(clippy::print_stdout, reason = "a test says what it has counted")]

mod decisions;
mod evidence;
mod facts;
mod findings;
mod ledger;
mod schema_rules;
mod stakes;

/// Returns the packets of an example log.
fn log(path: &str) -> Vec<serde_json::Value> {
    let text = omen_schema::example(path).unwrap_or_else(|| panic!("no example {path}"));
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Returns the first packet of a type in the accepted examples.
fn packet(packet_type: omen_types::PacketType) -> serde_json::Value {
    omen_schema::EXAMPLES
        .iter()
        .filter(|(path, _)| path.ends_with(".jsonl"))
        .flat_map(|(_, text)| text.lines())
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .find(|packet| {
            packet["header"]["packet_type"] == packet_type.as_str()
                && packet.to_string().parse::<omen_types::Packet>().is_ok()
        })
        .unwrap_or_else(|| panic!("no example of {packet_type}"))
}
