//! The ledger: clock, ids, tokens, open directives, budget.

use omen_invariants::Ledger;
use omen_invariants::ledger::{Fingerprint, Kind, Obligation, Obligations, Size, Update};
use omen_types::{Instant, PacketFacts, PacketType};
use serde_json::{Value, json};

fn at(time: &str) -> Instant {
    time.parse().expect("a time")
}

/// Accepts a packet.
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
    assert!(ledger.has_seen(Fingerprint::new(Kind::Packet, "pkt_2")));
    assert!(!ledger.has_seen(Fingerprint::new(Kind::Task, "pkt_2")));
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

/// Returns a directive with or without CRITICAL stakes.
fn directive(number: usize, timeout: u64, is_critical: bool) -> Value {
    let payload = json!({
        "task_id": format!("task_{number}"), "timeout_seconds": timeout, "tool_safety_class": "READ", "task_type": "tool_read",
    });
    let mut packet =
        packet(PacketType::TaskDirectivePacket, &format!("pkt_{number}"), "2026-03-01T10:00:00Z", &payload);
    packet["mcp"]["stakes"]["stakes_level"] = if is_critical { "CRITICAL" } else { "LOW" }.into();
    packet
}

/// Returns the numbers of the directives that are late at a time and were not reported before.
fn late(ledger: &Ledger, time: &str) -> Vec<usize> {
    let number = |id: &str| id.trim_start_matches("task_").parse().expect("a number");
    ledger.open().newly_late(at(time)).iter().map(|open| number(&open.task_id)).collect()
}

/// Accepts a belief update, whose only effect is that time passes.
fn pass_to(ledger: &mut Ledger, id: &str, time: &str) {
    accept(ledger, &packet(PacketType::BeliefUpdatePacket, id, time, &json!({})));
}

#[test]
fn many_directives_are_late_as_few_are() {
    for count in [5, 100] {
        let mut ledger = Ledger::default();
        // Later directives are due earlier; two are due at each second.
        for number in 0..count {
            let timeout = 10 + (count - 1 - number) / 2;
            accept(&mut ledger, &directive(number, timeout as u64, false));
        }
        let in_order: Vec<_> = ledger.open().in_order().iter().map(|open| open.packet_id.to_string()).collect();
        assert_eq!(in_order, (0..count).map(|number| format!("pkt_{number}")).collect::<Vec<_>>());
        assert_eq!(late(&ledger, "2026-03-01T10:00:10Z"), [0; 0], "just in time");
        let first: Vec<_> = (count - 2..count).collect();
        assert_eq!(late(&ledger, "2026-03-01T10:00:10.1Z"), first, "in the order of sending");
        assert_eq!(late(&ledger, "2026-03-01T11:00:00Z"), (0..count).collect::<Vec<_>>());
        // Directives that are due exactly now have not been reported; those due before have.
        pass_to(&mut ledger, "pkt_a", "2026-03-01T10:00:11Z");
        assert_eq!(late(&ledger, "2026-03-01T11:00:00Z"), (0..count - 2).collect::<Vec<_>>(), "each once");
        let closed = json!({"task_id": "task_0", "directive_packet_id": "pkt_0"});
        accept(&mut ledger, &packet(PacketType::TaskResultPacket, "pkt_b", "2026-03-01T10:00:11Z", &closed));
        assert_eq!(late(&ledger, "2026-03-01T11:00:00Z"), (1..count - 2).collect::<Vec<_>>(), "closed");
        assert_eq!(ledger.open().len(), count - 1);
    }
}

#[test]
fn what_was_late_before_there_were_many_is_not_reported_again() {
    let mut ledger = Ledger::default();
    accept(&mut ledger, &directive(0, 10, false));
    accept(&mut ledger, &directive(1, 1000, false));
    pass_to(&mut ledger, "pkt_a", "2026-03-01T10:00:20Z");
    (2..60).for_each(|number| accept(&mut ledger, &directive(number, 500, false)));
    assert_eq!(late(&ledger, "2026-03-01T10:10:00Z"), (2..60).collect::<Vec<_>>());
    assert_eq!(late(&ledger, "2026-03-01T11:00:00Z"), (1..60).collect::<Vec<_>>());
}

#[test]
fn a_late_critical_directive_is_owed_one_escalation() {
    for count in [1, 60] {
        let mut ledger = Ledger::default();
        (0..count).for_each(|number| accept(&mut ledger, &directive(number, 10, number == 0)));
        pass_to(&mut ledger, "pkt_a", "2026-03-01T10:00:10Z");
        assert!(!ledger.owes_escalation(), "in time");
        pass_to(&mut ledger, "pkt_b", "2026-03-01T10:00:11Z");
        assert!(ledger.owes_escalation());
        accept(&mut ledger, &packet(PacketType::DecisionPacket, "pkt_c", "2026-03-01T10:00:12Z", &json!({})));
        assert!(!ledger.owes_escalation(), "that decision was it");
        pass_to(&mut ledger, "pkt_d", "2026-03-01T10:00:13Z");
        assert!(!ledger.owes_escalation(), "it is late already");
    }
    let mut ledger = Ledger::default();
    accept(&mut ledger, &directive(0, 10, false));
    pass_to(&mut ledger, "pkt_a", "2026-03-01T10:01:00Z");
    assert!(!ledger.owes_escalation(), "only where the stakes are CRITICAL");
}

#[test]
fn a_campaign_is_the_first_one_that_was_stated() {
    let mut ledger = Ledger::default();
    for (id, campaign) in [("pkt_1", None), ("pkt_2", Some("camp_a")), ("pkt_3", Some("camp_b"))] {
        let mut packet = packet(PacketType::BeliefUpdatePacket, id, "2026-03-01T10:00:00Z", &json!({}));
        let header = packet["header"].as_object_mut().expect("a header");
        header.remove("campaign_id");
        header.extend(campaign.map(|campaign| ("campaign_id".to_owned(), campaign.into())));
        accept(&mut ledger, &packet);
        if campaign.is_none() {
            assert!(!ledger.has_campaign() && !ledger.is_other_campaign("camp_a"));
            continue;
        }
        assert!(ledger.has_campaign() && !ledger.is_other_campaign("camp_a") && ledger.is_other_campaign("camp_b"));
    }
}

#[test]
fn a_token_is_live_until_it_expires_is_used_up_or_revoked() {
    let mut ledger = Ledger::default();
    let (before, after) = (at("2026-03-01T11:00:00Z"), at("2026-03-01T12:00:00Z"));
    assert!(!ledger.tokens().any_live(before));
    accept(&mut ledger, &token("pkt_1", json!({})));
    assert!(ledger.tokens().any_live(before) && !ledger.tokens().any_live(after));
    let alert = json!({"severity": "INFO", "revoked_token_ids": ["token_t"]});
    accept(&mut ledger, &packet(PacketType::IntegrityAlertPacket, "pkt_2", "2026-03-01T10:00:00Z", &alert));
    assert!(!ledger.tokens().any_live(before));
    accept(&mut ledger, &token("pkt_3", json!({"token_id": "token_u", "max_usage_count": 1, "usage_count": 1})));
    assert!(!ledger.tokens().any_live(before));
}

#[test]
fn a_set_of_obligations_has_what_it_was_made_of() {
    let all = Obligation::ALL;
    for one in all {
        let without: Obligations = all.iter().copied().filter(|other| other != one).collect();
        assert!(all.iter().all(|other| without.contains(*other) == (other != one)), "{without:?}");
        assert!(!format!("{without:?}").contains(&format!("{one:?}")) && format!("{without:?}").len() > 2);
    }
}

/// Returns the size of a packed ledger in bytes; `None` if it is not packed.
fn packed(ledger: &Ledger) -> Option<usize> {
    let mut buffer = Vec::new();
    ledger.pack(false, Size::Small, &mut buffer).then_some(buffer.len())
}

#[test]
fn an_open_directive_is_packed_without_the_fingerprints_of_its_ids() {
    let mut ledger = Ledger::default();
    pass_to(&mut ledger, "pkt_a", "2026-03-01T10:00:00Z");
    let before = packed(&ledger).expect("few ids");
    accept(&mut ledger, &directive(1, 10, false));
    let with = packed(&ledger).expect("few ids");
    assert!(with - before < 2 * 16, "{} bytes", with - before);
}

#[test]
fn a_ledger_with_many_tokens_is_not_packed() {
    let mut ledger = Ledger::default();
    for number in 0..25 {
        assert!(packed(&ledger).is_some(), "{number} tokens");
        accept(&mut ledger, &token(&format!("pkt_{number}"), json!({"token_id": format!("token_{number}")})));
    }
    assert_eq!(packed(&ledger), None);
}
