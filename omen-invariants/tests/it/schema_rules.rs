//! INV-001 and INV-009 are checked by the schema stage, whose findings have their codes.

use omen_invariants::rules::{inv_001_mcp_complete::is_consequential, inv_009_escalation_options};
use omen_types::{Code, Packet, PacketType};
use serde_json::Value;

/// Collects the paths of all members of an object, including nested ones; arrays are skipped.
fn members(value: &Value, at: &str, into: &mut Vec<String>) {
    if let Value::Object(object) = value {
        for (key, inner) in object {
            let path = format!("{at}/{key}");
            members(inner, &path, into);
            into.push(path);
        }
    }
}

fn remove(packet: &mut Value, path: &str) {
    let (parent, key) = path.rsplit_once('/').expect("a path");
    packet.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object").remove(key);
}

#[test]
fn each_missing_member_of_the_envelope_is_inv_001_on_consequential_packets_only() {
    let mut removed = 0;
    for packet_type in PacketType::ALL {
        let packet = crate::packet(*packet_type);
        let mut paths = Vec::new();
        members(&packet["mcp"], "/mcp", &mut paths);
        for path in paths {
            let mut broken = packet.clone();
            remove(&mut broken, &path);
            // Optional members may be missing.
            let Err(rejected) = broken.to_string().parse::<Packet>() else { continue };
            removed += 1;
            for error in &rejected.errors {
                assert_eq!(error.code, Code::Schema);
                assert_eq!(
                    error.also.contains(&Code::Inv001),
                    is_consequential(*packet_type),
                    "{packet_type} without {path}: {error}"
                );
            }
        }
    }
    // Twenty-four members and their groups, in ten types of packets.
    assert!(removed >= 240, "{removed}");
}

#[test]
fn what_is_wrong_with_an_escalations_options_is_inv_009() {
    let escalation = crate::packet(PacketType::EscalationPacket);
    let check = |edit: &dyn Fn(&mut Value)| {
        let mut broken = escalation.clone();
        edit(&mut broken["payload"]);
        let rejected = broken.to_string().parse::<Packet>().expect_err("a broken escalation");
        assert!(rejected.errors.iter().all(inv_009_escalation_options::concerns), "{rejected}");
        assert!(rejected.errors.iter().all(|error| error.also.contains(&Code::E5)), "{rejected}");
    };
    check(&|payload| payload["top_options"].as_array_mut().expect("options").truncate(1));
    check(&|payload| {
        let option = payload["top_options"][0].clone();
        payload["top_options"] = vec![option; 4].into();
    });
    check(&|payload| {
        payload["top_options"][0].as_object_mut().expect("an option").remove("pros");
    });
    check(&|payload| payload["evidence_gaps"] = Value::Array(Vec::new()));
    check(&|payload| {
        payload.as_object_mut().expect("a payload").remove("recommended_next_step");
    });
}
