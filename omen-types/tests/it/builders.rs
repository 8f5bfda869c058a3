//! Packets from builders: correct, written, and parsed again.

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
fn a_packet_of_another_type_is_reported() {
    let line = packets::line(packets::alert());
    let error = serde_json::from_str::<omen_types::DecisionPacket>(&line).unwrap_err();
    assert!(error.to_string().starts_with("expected `DecisionPacket`, found `IntegrityAlertPacket`"), "{error}");
}

#[test]
fn scalars_refuse_what_the_schema_refuses() {
    use omen_types::{BackoffFactor, Count, LayerNumber, PacketId, Text, UnitInterval};

    assert!(PacketId::new("pkt_a-B_9").is_ok() && PacketId::new("pkt_").is_err() && PacketId::new("pkt_a\n").is_err());
    assert!(Text::new(" a").is_ok() && Text::new(" ").is_err() && Text::new("").is_err());
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
        "invalid PacketId `packet 1`; expected a string such as `pkt_1` (pattern `^pkt_[a-zA-Z0-9_-]+$`)"
    );
}

#[test]
fn a_plain_builder_reports_what_a_reader_would() {
    use omen_types::builder::AtLeastOne;
    use omen_types::{Checked as _, Evidence, TaskDirectivePayload, TaskResultPayload};
    use omen_types::{ResultStatus, TaskType, ToolSafetyClass};

    let directive = packets::directive().payload;
    let refused = TaskDirectivePayload::builder()
        .task_id("task_1".parse().unwrap())
        .task_type(TaskType::ToolWrite)
        .execution_method(directive.execution_method)
        .tool_safety_class(ToolSafetyClass::Write)
        .build()
        .unwrap_err();
    let text = r#"{"task_id":"task_1","task_type":"tool_write","execution_method":{"method":"tool","tool_id":"pool.resize"},"tool_safety_class":"WRITE"}"#;
    let read = TaskDirectivePayload::parse(text).unwrap_err();
    let said = |errors: &[omen_types::Diagnostic]| {
        errors.iter().map(|error| (error.code, error.pointer.clone(), error.to_string())).collect::<Vec<_>>()
    };
    assert_eq!(said(&refused.errors), said(&read));
    assert_eq!(read.len(), 1);

    let refused = TaskResultPayload::builder()
        .task_id("task_1".parse().unwrap())
        .directive_packet_id("pkt_1".parse().unwrap())
        .result_status(ResultStatus::Failure)
        .build()
        .unwrap_err();
    assert!(refused.to_string().contains("`error_details`"), "{refused}");

    let refused = Evidence::builder().evidence_refs(vec![]).build().unwrap_err();
    assert!(refused.to_string().contains("`evidence_absent_reason`"), "{refused}");
    assert!(AtLeastOne::<u8>::try_from(vec![]).is_err());
}

/// Each branch builds what its name says, and nothing that a reader would refuse.
#[test]
fn what_a_branch_builds_is_as_its_schema_says() {
    use omen_types::{BeliefChange, BeliefUpdatePayload, Checked, ErrorDetails, Evidence, ExecutionMethod};
    use omen_types::{ContradictionDetails, ReadTaskType, TaskDirectivePayload, TaskResultPayload, TaskType};

    fn member<T: Checked>(value: &T, name: &str) -> String {
        value.check().unwrap_or_else(|errors| panic!("{errors:?}"));
        let value = serde_json::to_value(value).unwrap();
        value.get(name).map_or("absent".to_owned(), |value| value.as_str().unwrap_or("a list").to_owned())
    }

    let method = || ExecutionMethod::tool().tool_id("t").build();
    let task = || "task_1".parse().unwrap();
    let token = || "token_1".parse().unwrap();
    let read =
        TaskDirectivePayload::read().task_id(task()).task_type(ReadTaskType::ToolRead).execution_method(method());
    let write = TaskDirectivePayload::write().task_id(task()).task_type(TaskType::ToolWrite).execution_method(method());
    let mixed = TaskDirectivePayload::mixed().task_id(task()).task_type(TaskType::ToolWrite).execution_method(method());
    let bare = TaskDirectivePayload::unclassified();
    let bare = bare.task_id(task()).task_type(TaskType::Computation).execution_method(method());
    let class = "tool_safety_class";
    assert_eq!(member(&read.timeout_seconds(omen_types::PositiveCount::new(1).unwrap()).build(), class), "READ");
    assert_eq!(member(&write.authorization_token_id(token()).build(), class), "WRITE");
    assert_eq!(member(&mixed.authorization_token_id(token()).build(), class), "MIXED");
    assert_eq!(member(&bare.maybe_authorization_token_id(Some(token())).build(), class), "absent");

    assert_eq!(member(&method(), "method"), "tool");
    assert_eq!(member(&ExecutionMethod::code().code_ref("r").build(), "method"), "code");
    assert_eq!(member(&ExecutionMethod::llm_call().build(), "method"), "llm_call");
    assert_eq!(member(&ExecutionMethod::memory_query().tool_id("t").build(), "method"), "memory_query");

    let directive = || "pkt_1".parse().unwrap();
    let details = ErrorDetails::builder().build();
    let (status, of) = ("result_status", TaskResultPayload::success);
    assert_eq!(member(&of().task_id(task()).directive_packet_id(directive()).build(), status), "SUCCESS");
    let failure = TaskResultPayload::failure().directive_packet_id(directive()).error_details(details).task_id(task());
    assert_eq!(member(&failure.build(), status), "FAILURE");
    let cancelled = TaskResultPayload::cancelled().task_id(task()).directive_packet_id(directive());
    assert_eq!(member(&cancelled.build(), status), "CANCELLED");

    let value = || serde_json::Value::Null;
    let change = || BeliefChange::builder().domain("d").key("k").new_value(value()).prior_value(value()).build();
    let sort = "update_type";
    assert_eq!(member(&BeliefUpdatePayload::new_belief().belief_changes([change()]).build(), sort), "new_belief");
    assert_eq!(member(&BeliefUpdatePayload::revision().belief_changes([change()]).build(), sort), "revision");
    let adjusted = BeliefUpdatePayload::confidence_adjustment().belief_changes([change(), change()]);
    assert_eq!(member(&adjusted.build(), sort), "confidence_adjustment");
    let refreshed = BeliefUpdatePayload::staleness_refresh().belief_changes([change()]);
    assert_eq!(member(&refreshed.build(), sort), "staleness_refresh");
    let details = ContradictionDetails::builder().build();
    let resolved = BeliefUpdatePayload::contradiction_resolved().belief_changes([change()]);
    assert_eq!(member(&resolved.contradiction_details(details).build(), sort), "contradiction_resolved");

    let absent = Evidence::absent().evidence_absent_reason("nobody looked".parse().unwrap()).build();
    assert_eq!(member(&absent, "evidence_absent_reason"), "nobody looked");
    let present = packets::mcp().evidence;
    assert_eq!(member(&present, "evidence_absent_reason"), "absent");
}

#[test]
fn a_packet_states_its_own_type_and_takes_ids_and_times_from_outside() {
    use omen_types::{ObservationPacket, Timestamp, layers};

    let mut next = 0;
    let ids = || {
        next += 1;
        format!("pkt_{next}").parse::<omen_types::PacketId>()
    };
    let mut stamp = (ids, || "2026-03-01T10:00:00Z".parse::<Timestamp>().unwrap());
    let mut packet = || {
        ObservationPacket::builder()
            .stamp(&mut stamp)
            .unwrap()
            .layer_source(layers::Layer6)
            .correlation_id("corr_1".parse().unwrap())
            .mcp(packets::mcp())
            .payload(packets::observation().payload)
            .build()
            .unwrap()
    };
    let (first, second) = (packet(), packet());
    assert_eq!((first.header().packet_id.as_str(), second.header().packet_id.as_str()), ("pkt_1", "pkt_2"));
    assert_eq!(first.header().packet_type, PacketType::ObservationPacket);
    let line = packets::line(first.clone());
    assert_eq!(packets::accepted(&line), Packet::from(first));

    let mut bad = (|| omen_types::PacketId::new("7"), || "2026-03-01T10:00:00Z".parse::<Timestamp>().unwrap());
    assert!(ObservationPacket::builder().stamp(&mut bad).is_err());

    // The type in a header for another packet is corrected.
    let other = ObservationPacket::builder().header(packets::header(PacketType::DecisionPacket));
    let packet = other.mcp(packets::mcp()).payload(packets::observation().payload).build().unwrap();
    assert_eq!(packet.header().packet_type, PacketType::ObservationPacket);
    assert!(Packet::from(packet).check().is_ok());
}
