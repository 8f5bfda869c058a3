//! Descriptions of places.

use super::*;

#[track_caller]
fn hover(client: &mut Client, name: &str, at: &Value) -> String {
    client.at("textDocument/hover", name, at)["contents"]["value"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_field_and_its_value_are_described() {
    let text = log("valid/verify-then-write.jsonl");
    let mut client = Client::new(&[]);
    client.open("a.jsonl", text);
    let field = hover(&mut client, "a.jsonl", &place(text, "\"correlation_id\"", 3));
    assert_eq!(field, "`correlation_id`: The episode that the packet belongs to.");
    let value = hover(&mut client, "a.jsonl", &place(text, "\"ObservationPacket\"", 3));
    assert!(value.starts_with("`packet_type`: ") && value.contains("`\"ObservationPacket\"`: Reports an"), "{value}");
    // Of the payload, as the type of the packet has it.
    let class = hover(&mut client, "a.jsonl", &place(text, "\"tool_safety_class\"", 3));
    assert!(class.starts_with("`tool_safety_class`: Whether the task only reads"), "{class}");
    assert_eq!(client.at("textDocument/hover", "a.jsonl", &position(9999, 0)), Value::Null);
    client.end();
}

#[test]
fn the_rule_of_a_finding_is_described() {
    let text = log(BAD);
    let mut client = Client::new(&[]);
    let found = client.opened("a.jsonl", text);
    let shown = hover(&mut client, "a.jsonl", &found[0]["range"]["start"]);
    let code: omen_types::Code = found[0]["code"].as_str().unwrap().parse().unwrap();
    assert!(shown.starts_with(&format!("**{code}: {}**", code.info().title)), "{shown}");
    assert!(shown.contains(code.info().statement) && shown.contains("\n\nFix: "), "{shown}");
    client.end();
}

/// In an indented packet, too.
#[test]
fn indented_packets_are_described() {
    let packet: Value = serde_json::from_str(log(GOOD).lines().next().unwrap()).unwrap();
    let text = serde_json::to_string_pretty(&packet).unwrap();
    let mut client = Client::new(&[]);
    client.open("a.json", &text);
    let field = hover(&mut client, "a.json", &place(&text, "\"packet_id\"", 3));
    assert!(field.starts_with("`packet_id`: Identifier of this packet."), "{field}");
    client.end();
}
