//! Packets from builders: right, written, and read back.

use omen_types::{Packet, PacketFacts, PacketType};

use crate::packets;

#[test]
fn each_type_is_built_checked_written_and_read_back() {
    let all = packets::all();
    assert_eq!(all.iter().map(Packet::packet_type).collect::<Vec<_>>(), PacketType::ALL);
    for packet in all {
        packet.check().unwrap_or_else(|errors| panic!("{}: {errors:?}", packet.packet_type()));
        let line = packets::line(packet.clone());
        assert_eq!(packets::accepted(&line), packet);
        let value = serde_json::to_value(&packet).unwrap();
        assert_eq!(serde_json::from_value::<Packet>(value).unwrap(), packet);
        let facts = PacketFacts::parse(&line).unwrap();
        assert_eq!(facts.header.packet_id, "pkt_1");
        assert_eq!(facts.mcp.budgets.token_budget.get(), 5000);
        assert_eq!(facts.mcp.evidence.evidence_refs.newest(), "2026-03-01T09:59:30Z".parse().ok());
    }
}

#[test]
fn an_absent_member_is_not_written() {
    let line = packets::line(packets::queue_update());
    assert!(!line.contains("null"), "{line}");
    assert!(!line.contains("campaign_id") && !line.contains("reason"), "{line}");
}

#[test]
fn null_where_the_schema_has_it_is_kept_apart_from_an_absent_member() {
    let absent = packets::observation();
    let mut null = absent.clone();
    null.mcp.evidence.evidence_absent_reason = Some(None);
    let line = packets::line(null.clone());
    assert!(line.contains(r#""evidence_absent_reason":null"#), "{line}");
    assert_eq!(packets::accepted(&line), Packet::from(null));
    assert_eq!(packets::accepted(&packets::line(absent.clone())), Packet::from(absent));
}

#[test]
fn a_packet_of_another_type_is_told() {
    let line = packets::line(packets::alert());
    let error = serde_json::from_str::<omen_types::DecisionPacket>(&line).unwrap_err();
    assert!(
        error.to_string().starts_with("`DecisionPacket` is expected here, but this is `IntegrityAlertPacket`"),
        "{error}"
    );
}

#[test]
fn scalars_refuse_what_the_schema_refuses() {
    use omen_types::{BackoffFactor, Count, LayerNumber, PacketId, Text, UnitInterval};

    assert!(PacketId::new("pkt_a-B_9").is_ok() && PacketId::new("pkt_").is_err() && PacketId::new("pkt_a\n").is_err());
    assert!(Text::new(" ").is_ok() && Text::new("").is_err());
    assert!(Count::new(9_007_199_254_740_991).is_ok() && Count::new(9_007_199_254_740_992).is_err());
    assert!(LayerNumber::new(6).is_ok() && LayerNumber::new(0).is_err() && LayerNumber::new(7).is_err());
    assert!(
        UnitInterval::new(1.0).is_ok()
            && UnitInterval::new(1.000_000_1).is_err()
            && UnitInterval::new(f64::NAN).is_err()
    );
    assert!(BackoffFactor::new(1.0).is_ok() && BackoffFactor::new(f64::INFINITY).is_err());
    let error = PacketId::new("packet 1").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`packet 1` is no PacketId: expected a PacketId such as `pkt_1` (pattern `^pkt_[a-zA-Z0-9_-]+$`)"
    );
}
