//! One line: all of its readers agree.

use omen_fsm::Machine;
use omen_types::parse::{locate, walk};
use omen_types::{Code, Packet, PacketFacts, Rejected, Severity, Stage};
use serde::de::IgnoredAny;

use super::script;
use super::strict::{same, strict};

/// Parses one line.
pub fn parse(input: &[u8]) {
    let named = input.starts_with(b"#").then(|| script::log(input).into_iter().next().unwrap_or_default());
    let Ok(text) = std::str::from_utf8(named.as_deref().unwrap_or(input)) else { return };
    match PacketFacts::parse(text) {
        Ok(facts) => accepted(text, &facts),
        Err(rejected) => refused(text, &rejected),
    }
}

/// What is accepted is strict JSON, has nothing for the walk to explain, and comes back from its value as the same JSON.
fn accepted(text: &str, facts: &PacketFacts<'_>) {
    let found = walk(text);
    assert!(found.is_empty(), "accepted, but the walk finds {found:?}");
    let value = strict(text).unwrap_or_else(|error| panic!("accepted, but as JSON it is refused: {error}"));
    let packet: Packet = text.parse().unwrap_or_else(|rejected| panic!("accepted, but no value: {rejected}"));
    assert_eq!(packet.check(), Ok(()), "accepted, but its value is refused");
    same_header(facts, &packet);

    let written = serde_json::to_string(&packet).unwrap_or_else(|error| panic!("the value is not written: {error}"));
    let again = strict(&written).unwrap_or_else(|error| panic!("what is written is not strict JSON: {error}"));
    assert!(same(&value, &again), "the value is another one:\n{value}\n{again}");
    let others =
        PacketFacts::parse(&written).unwrap_or_else(|rejected| panic!("what is written is refused: {rejected}"));
    let machine = Machine::default();
    let verdicts = [facts, &others].map(|facts| format!("{:?}", machine.judge(facts, None)));
    assert_eq!(verdicts[0], verdicts[1], "what is written has another verdict");
    let other: Packet = serde_json::from_str(text).unwrap_or_else(|error| panic!("serde refuses it: {error}"));
    assert_eq!(serde_json::to_string(&other).ok(), Some(written), "serde reads another packet");
}

fn same_header(facts: &PacketFacts<'_>, packet: &Packet) {
    let (read, header) = (&facts.header, packet.header());
    assert_eq!(facts.payload.packet_type(), packet.packet_type());
    assert_eq!(read.packet_type, header.packet_type);
    assert_eq!(read.packet_id, header.packet_id.as_str());
    assert_eq!(read.correlation_id, header.correlation_id.as_str());
    assert_eq!(read.created_at, header.created_at.instant());
    assert_eq!(read.layer_source, header.layer_source);
    assert_eq!(read.campaign_id.as_deref(), header.campaign_id.as_ref().map(|id| id.as_str()));
    assert_eq!(read.previous_packet_id.as_deref(), header.previous_packet_id.as_ref().map(|id| id.as_str()));
}

/// What is refused has a reason with a place, which is the schema if and only if it is JSON.
fn refused(text: &str, rejected: &Rejected) {
    let Rejected { errors, claims } = rejected;
    assert!(!errors.is_empty(), "refused without an error");
    for error in errors {
        assert_eq!(error.severity, Severity::Error, "{error:?}");
        assert!(matches!(error.code.info().stage, Stage::Json | Stage::Schema), "{error:?}");
        // The walk gives every error a pointer; an error without one says that the walk found none.
        assert!(error.code == Code::Json || error.pointer.is_some(), "refused, but the walk finds nothing: {error:?}");
        let pointed = error.pointer.as_ref().and_then(|pointer| locate(text, pointer));
        for span in [&error.span, &pointed].into_iter().flatten() {
            assert!(text.get(span.clone()).is_some(), "{error:?} is at {span:?}, in {} bytes", text.len());
        }
    }
    if errors.iter().any(|error| error.code == Code::Json) {
        assert_eq!(errors.len(), 1, "an error of the syntax comes alone: {errors:?}");
    } else if script::hash(text.as_bytes()).is_multiple_of(4) {
        let read = serde_json::from_str::<IgnoredAny>(text);
        assert!(read.is_ok(), "not JSON ({read:?}), but reported as {errors:?}");
        assert_eq!(walk(text).len(), errors.len(), "refused, but the walk finds something else: {errors:?}");
    }
    for id in [&claims.packet_id, &claims.correlation_id].into_iter().flatten() {
        assert!(!id.is_empty());
    }
}
