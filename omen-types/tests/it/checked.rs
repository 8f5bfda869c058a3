//! `check` on built values: the constraints that types do not express.

use omen_types::{Checked as _, Code, Packet, ToolSafetyClass};

use crate::packets;

#[track_caller]
fn check(packet: impl Into<Packet>, expected: &[&str]) {
    let errors = packet.into().check().err().unwrap_or_default();
    assert!(errors.iter().all(|error| error.code == Code::Schema && error.span.is_none()), "{errors:?}");
    assert_eq!(errors.iter().map(crate::errors::in_words).collect::<Vec<_>>(), expected);
}

#[test]
fn free_form_data_must_not_be_empty() {
    let mut packet = packets::observation();
    packet.payload.data.clear();
    check(
        packet,
        &[
            "/payload/data: expected at least 1 field in `data`, found 0; help: write a value such as `{\"key\": \"value\"}`",
        ],
    );
}

#[test]
fn lengths_of_arrays() {
    let mut packet = packets::escalation();
    packet.payload.top_options.truncate(1);
    check(
        packet,
        &["/payload/top_options: expected 2 to 3 elements in `top_options`, found 1; \
           help: add 1 element, such as `{\"option_id\": \"…\", \"description\": \"…\", \"pros\": [], \"cons\": []}`; \
           also E5, INV-009"],
    );
    let mut packet = packets::escalation();
    packet.payload.top_options = ["a", "b", "c", "d"].map(packets::option).to_vec();
    check(
        packet,
        &[
            "/payload/top_options: expected 2 to 3 elements in `top_options`, found 4; help: remove 1 element; also E5, INV-009",
        ],
    );
    let mut packet = packets::verification_plan();
    packet.payload.targets.clear();
    check(
        packet,
        &["/payload/targets: expected at least 1 element in `targets`, found 0; help: add 1 element, such as \
           `{\"assumption\": \"…\", \"method\": \"tool\", \"success_criteria\": \"…\"}`"],
    );
}

#[test]
fn conditionals() {
    let mut packet = packets::directive();
    packet.payload.authorization_token_id = None;
    packet.payload.execution_method.tool_id = None;
    check(
        packet.clone(),
        &[
            "/payload/execution_method: missing field `tool_id`: a tool call must name the tool (D40); \
             help: add `\"tool_id\": \"…\"`: identifier of the tool",
            "/payload: missing field `authorization_token_id`: a task that changes things must name the token \
             that permits it (E4, INV-007, D40); help: add `\"authorization_token_id\": \"token_1\"`: the token that permits the task; \
             also E4, INV-007",
        ],
    );
    packet.payload.tool_safety_class = Some(ToolSafetyClass::Read);
    packet.payload.execution_method.tool_id = Some(String::new());
    check(packet, &[]);
}

#[test]
fn parts_are_checked_by_themselves() {
    let mut mcp = packets::mcp();
    assert_eq!(mcp.check(), Ok(()));
    mcp.evidence.evidence_refs.clear();
    let (missing, empty) =
        ("missing field `evidence_absent_reason`: ", "expected a non-empty string for `evidence_absent_reason`: ");
    for (reason, says) in [(None, missing), (Some(None), empty), (Some(Some(String::new())), empty)] {
        mcp.evidence.evidence_absent_reason = reason;
        let errors = mcp.check().unwrap_err();
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].pointer.as_deref(), Some("/evidence"));
        assert!(errors[0].message.starts_with(says), "{}", errors[0]);
        assert!(mcp.evidence.check().is_err());
    }
    mcp.evidence.evidence_absent_reason = Some(Some("nothing to see yet".to_owned()));
    assert_eq!(mcp.check(), Ok(()));
}

#[test]
fn the_type_in_a_header_follows_from_the_packet() {
    let mut packet = packets::decision();
    packet.set_header(packets::observation().header().clone());
    assert_eq!(packet.header().packet_type, omen_types::PacketType::DecisionPacket);
    check(packet, &[]);
}

/// A reader accepts everything that `build()` of a packet returns: only the whole shows how long and deep it is, and whether a
/// part was changed.
#[test]
fn a_packet_that_a_reader_refuses_is_not_built() {
    use omen_types::{TaskResultPacket, TaskResultPayload};
    use serde_json::{Value, json};

    let result = |data: Value| {
        TaskResultPayload::success()
            .task_id("task_1".parse().unwrap())
            .directive_packet_id("pkt_1".parse().unwrap())
            .result_data(data)
            .build()
    };
    let packet = |payload: TaskResultPayload| {
        let header = packets::result().header().clone();
        TaskResultPacket::builder().header(header).mcp(packets::mcp()).payload(payload).build()
    };
    let deep = |levels: u8| (0..levels).fold(json!(1), |value, _| json!([value]));
    // The packet and its payload are two levels.
    let limit = omen_types::limits::MAX_DEPTH - 2;
    let built = packet(result(deep(limit))).unwrap();
    packets::accepted(&packets::line(built));
    let refused = packet(result(deep(limit + 1))).unwrap_err();
    assert!(refused.to_string().contains("nested deeper than 64 levels"), "{refused}");
    // What is not read to its end is not known to be right.
    let errors = omen_types::Checked::check(&result(deep(200))).unwrap_err();
    assert!(errors[0].message.contains("nested more than 128 levels deep"), "{errors:?}");
    let refused = packet(result(Value::String("z".repeat(omen_types::limits::MAX_LINE_BYTES)))).unwrap_err();
    assert!(refused.to_string().contains("the line exceeds 16 MiB"), "{refused}");

    let mut changed = packets::observation().payload;
    changed.data.clear();
    let builder = omen_types::ObservationPacket::builder().header(packets::observation().header().clone());
    let refused = builder.mcp(packets::mcp()).payload(changed).build().unwrap_err();
    assert_eq!(refused.errors[0].pointer.as_deref(), Some("/payload/data"));
    assert_eq!(refused.errors[0].span, None);
}
