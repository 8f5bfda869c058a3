//! Members in any order, in every packet type.

use omen_types::Packet;

use crate::packets::{self, accepted, refused};

/// Returns the line of a packet with its members in this order.
fn line(packet: &Packet, order: &[&str]) -> String {
    let value = serde_json::to_value(packet).unwrap();
    let members: Vec<_> = order
        .iter()
        .map(|name| {
            format!("\"{name}\":{}", value.get(*name).unwrap_or(&serde_json::json!({ "deep": [1, { "er": null }] })))
        })
        .collect();
    format!("{{{}}}", members.join(","))
}

#[test]
fn header_mcp_and_payload_in_any_order() {
    for packet in packets::all() {
        for order in [
            ["header", "mcp", "payload"],
            ["header", "payload", "mcp"],
            ["mcp", "header", "payload"],
            ["mcp", "payload", "header"],
            ["payload", "header", "mcp"],
            ["payload", "mcp", "header"],
        ] {
            assert_eq!(accepted(&line(&packet, &order)), packet);
        }
        let with_metadata = accepted(&line(&packet, &["_a", "payload", "_b", "mcp", "header", "_c"]));
        assert_eq!(with_metadata.payload_text(), packet.payload_text());
    }
}

trait PayloadText {
    fn payload_text(&self) -> String;
}

impl PayloadText for Packet {
    fn payload_text(&self) -> String {
        serde_json::to_value(self).unwrap()["payload"].to_string()
    }
}

#[test]
fn a_payload_before_the_header_is_read_as_strictly() {
    for packet in packets::all() {
        let text = line(&packet, &["payload", "mcp", "header"]);
        let payload = text.find(':').unwrap() + 2;
        let unknown = format!("{}\"zzz\":0,{}", &text[..payload], &text[payload..]);
        assert!(refused(&unknown).errors.iter().any(|error| error.pointer.as_deref() == Some("/payload/zzz")));
        refused(&text.replacen("\"payload\":{", "\"payload\":{},\"payload\":{", 1));
        refused(&text.replacen("\"payload\":", "\"payload\":null,\"_x\":", 1));
    }
    let text = line(&packets::observation().into(), &["payload", "mcp", "header"]);
    refused(&text.replacen("\"pool_size\":4", "\"a\":{\"b\":1,\"b\":1}", 1));
    refused(&text.replacen("\"pool_size\":4", "", 1));
}

#[test]
fn a_payload_before_the_header_keeps_its_numbers() {
    let text = line(&packets::observation().into(), &["payload", "mcp", "header"]);
    for number in ["1", "1.0", "0.30000000000000004", "18446744073709551615", "-9223372036854775808", "-0.0"] {
        let Packet::Observation(packet) = accepted(&text.replacen(":4}", &format!(":{number}}}"), 1)) else {
            panic!("type")
        };
        assert_eq!(packet.payload.data["pool_size"].to_string(), number);
    }
}
