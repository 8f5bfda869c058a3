//! The ledger: clock, ids, tokens, open directives, budget.

use omen_invariants::Ledger;
use omen_invariants::ledger::{Fingerprint, Kind, Update};
use omen_types::{Instant, PacketFacts, PacketType};
use serde_json::{Value, json};

fn at(time: &str) -> Instant {
    time.parse().expect("a time")
}

/// Takes a packet in as if it had been accepted.
fn accept(ledger: &mut Ledger, packet: &Value) {
    let line = packet.to_string();
    let facts = PacketFacts::parse(&line).unwrap_or_else(|rejected| panic!("{rejected}"));
    let now = ledger.clock_at(facts.header.created_at);
    ledger.accept(&facts, now, Update::default());
}

fn packet(packet_type: PacketType, id: &str, time: &str, payload: &Value) -> Value {
    let mut packet = crate::packet(packet_type);
    packet["header"]["packet_id"] = id.into();
    packet["header"]["created_at"] = time.into();
    for (key, value) in payload.as_object().expect("members") {
        if value.is_null() {
            packet["payload"].as_object_mut().expect("a payload").remove(key);
        } else {
            packet["payload"][key] = value.clone();
        }
    }
    packet
}

fn token(id: &str, edit: Value) -> Value {
    let mut payload = json!({
        "token_id": "token_t", "expiry": "2026-03-01T12:00:00Z", "max_usage_count": 3, "usage_count": null,
        "revoked": null,
        "authorized_scope": {"tool_ids": ["a", "b"], "operation_types": ["write", "delete"]},
    });
    for (key, value) in edit.as_object().expect("members") {
        payload[key] = value.clone();
    }
    packet(PacketType::ToolAuthorizationToken, id, "2026-03-01T10:00:00Z", &payload)
}

#[test]
fn the_clock_never_goes_back() {
    let mut ledger = Ledger::default();
    assert_eq!(ledger.clock(), None);
    accept(&mut ledger, &packet(PacketType::BeliefUpdatePacket, "pkt_1", "2026-03-01T10:00:00Z", &json!({})));
    accept(&mut ledger, &packet(PacketType::BeliefUpdatePacket, "pkt_2", "2026-03-01T09:00:00Z", &json!({})));
    assert_eq!(ledger.clock(), Some(at("2026-03-01T10:00:00Z")));
    assert_eq!(ledger.clock_at(at("2026-03-01T11:30:00+01:00")), at("2026-03-01T10:30:00Z"));
    assert!(ledger.has_seen(Fingerprint::of(Kind::Packet, "pkt_2")));
    assert!(!ledger.has_seen(Fingerprint::of(Kind::Task, "pkt_2")));
}

#[test]
fn a_token_sent_again_only_narrows() {
    let mut ledger = Ledger::default();
    accept(&mut ledger, &token("pkt_1", json!({"usage_count": 2})));
    let wider = json!({
        "expiry": "2026-03-01T13:00:00Z", "max_usage_count": 9, "usage_count": 0,
        "authorized_scope": {"tool_ids": ["b", "c"], "operation_types": ["write", "modify"],
                             "resource_constraints": {"max_rows": 5}},
    });
    accept(&mut ledger, &token("pkt_2", wider));
    let known = ledger.tokens().get("token_t").expect("a token");
    let allowance = known.allowance.as_ref().expect("an allowance");
    assert_eq!(allowance.tools, ["b".into()]);
    assert_eq!(allowance.operations, [omen_types::OperationType::Write]);
    assert_eq!((allowance.expiry, allowance.max_uses, allowance.uses), (at("2026-03-01T12:00:00Z"), 3, 2));
    assert_eq!(allowance.constraints.len(), 1);
    assert_eq!(&*allowance.issued_by, "pkt_1");
    assert!(!known.revoked);
}

#[test]
fn a_revocation_is_for_good_and_may_come_first() {
    let mut ledger = Ledger::default();
    let alert = json!({"severity": "INFO", "revoked_token_ids": ["token_t"]});
    accept(&mut ledger, &packet(PacketType::IntegrityAlertPacket, "pkt_1", "2026-03-01T10:00:00Z", &alert));
    assert!(ledger.tokens().get("token_t").is_some_and(|token| token.revoked && token.allowance.is_none()));
    accept(&mut ledger, &token("pkt_2", json!({"revoked": false})));
    assert!(ledger.tokens().get("token_t").is_some_and(|token| token.revoked && token.allowance.is_some()));
}

#[test]
fn open_directives_are_late_once_and_closed_by_their_result() {
    let mut ledger = Ledger::default();
    for (id, task, timeout) in [("pkt_1", "task_1", 60), ("pkt_2", "task_2", 10)] {
        let directive =
            json!({"task_id": task, "timeout_seconds": timeout, "tool_safety_class": "READ", "task_type": "tool_read"});
        accept(&mut ledger, &packet(PacketType::TaskDirectivePacket, id, "2026-03-01T10:00:00Z", &directive));
    }
    let late = |ledger: &Ledger, time| -> Vec<String> {
        ledger.open().newly_late(at(time)).iter().map(|open| open.task_id.to_string()).collect()
    };
    assert_eq!(late(&ledger, "2026-03-01T10:00:10Z"), [""; 0], "just in time");
    assert_eq!(late(&ledger, "2026-03-01T10:00:10.5Z"), ["task_2"]);
    assert_eq!(late(&ledger, "2026-03-01T11:00:00Z"), ["task_1", "task_2"], "in the order of sending");
    accept(&mut ledger, &packet(PacketType::BeliefUpdatePacket, "pkt_3", "2026-03-01T10:00:30Z", &json!({})));
    assert_eq!(late(&ledger, "2026-03-01T11:00:00Z"), ["task_1"], "each once");
    let result = json!({"task_id": "task_1", "directive_packet_id": "pkt_1"});
    accept(&mut ledger, &packet(PacketType::TaskResultPacket, "pkt_4", "2026-03-01T10:00:31Z", &result));
    assert_eq!(late(&ledger, "2026-03-01T11:00:00Z"), [""; 0], "closed");
    assert_eq!(ledger.open().len(), 1);
    assert!(ledger.open().get("pkt_1").is_none() && ledger.open().get("pkt_2").is_some());
}

#[test]
fn budgets_are_those_of_the_first_decision() {
    let mut ledger = Ledger::default();
    for (id, calls) in [("pkt_1", 1), ("pkt_2", 50)] {
        let mut decision = packet(PacketType::DecisionPacket, id, "2026-03-01T10:00:00Z", &json!({}));
        decision["mcp"]["budgets"] = json!({
            "token_budget": 100, "tool_call_budget": calls, "time_budget_seconds": 60,
            "risk_budget": {"envelope": "low", "max_loss": 0},
        });
        accept(&mut ledger, &decision);
    }
    let overruns = |ledger: &Ledger, time| -> Vec<String> {
        ledger.budget().expect("a budget").overruns(at(time)).iter().map(ToString::to_string).collect()
    };
    for (id, metadata) in [("pkt_3", json!(null)), ("pkt_4", json!({"tool_calls_used": 0, "tokens_used": 100}))] {
        let result = json!({"execution_metadata": metadata});
        accept(&mut ledger, &packet(PacketType::TaskResultPacket, id, "2026-03-01T10:00:01Z", &result));
    }
    assert_eq!(overruns(&ledger, "2026-03-01T10:01:00Z"), [""; 0], "all spent, nothing over");
    let result = json!({"execution_metadata": {"tokens_used": 1}});
    accept(&mut ledger, &packet(PacketType::TaskResultPacket, "pkt_5", "2026-03-01T10:00:02Z", &result));
    assert_eq!(overruns(&ledger, "2026-03-01T10:01:00.5Z"), ["101 of 100 tokens", "2 of 1 tool calls", "60.5 of 60 s"]);
}
