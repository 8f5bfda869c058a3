//! Proposals and the validator have the same verdict on every packet of every example.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use omen::packet::{LayerNumber, LayerSource, PacketHeader, PacketType};
use omen::validator::Event;
use omen::*;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::log::{Hands, Judged, episodes, examples, setup};

/// Source of the ids of a log.
#[derive(Clone, Default)]
struct Given(Arc<Mutex<String>>);

impl IdSource for Given {
    fn packet_id(&mut self) -> String {
        self.0.lock().unwrap().clone()
    }

    fn task_id(&mut self) -> String {
        unreachable!("the log names its tasks")
    }

    fn token_id(&mut self) -> String {
        unreachable!("the log names its tokens")
    }
}

#[test]
fn proposals_are_judged_as_a_validator_judges_them() {
    let (mut made, mut refused, mut left_out) = (0, 0, 0);
    for (path, log) in examples() {
        for (id, lines) in episodes(log) {
            if !lines.iter().any(by_authority) {
                play(path, &id, &lines, &mut made, &mut refused);
            } else {
                left_out += 1;
            }
        }
    }
    println!(
        "proposed: {made} made, {refused} refused, as the validator says; {left_out} episodes left out that layer 1 speaks in, or whose safe mode ends"
    );
    assert!(made > 700 && refused > 50, "{made} {refused}");
}

/// Returns whether a packet cannot be a proposal: one from layer 1, or the end of safe mode.
fn by_authority(line: &Judged) -> bool {
    let ends_safe_mode = line.errors.is_empty() && event(&line.text) == Some(Event::Release);
    let first = LayerSource::LayerNumber(LayerNumber::MIN);
    ends_safe_mode || header(&line.text).is_none_or(|header| header.layer_source == first)
}

fn header(line: &str) -> Option<PacketHeader> {
    let members: Map<String, Value> = serde_json::from_str(line).ok()?;
    serde_json::from_value(members.get("header")?.clone()).ok()
}

/// Returns a payload in which the sending layer is the issuer of the token, since a model cannot issue tokens for others.
fn issued_by_sender(payload: &str) -> String {
    let mut members: Value = serde_json::from_str(payload).unwrap();
    if let Some(issuer) = members.get_mut("issuer_layer") {
        *issuer = serde_json::to_value(omen_fsm::sender(PacketType::ToolAuthorizationToken)).unwrap();
        return members.to_string();
    }
    payload.to_owned()
}

/// Returns the proposal of a packet of a log.
fn proposal_of(line: &Judged) -> Option<String> {
    // A proposal cannot get wrong what the episode itself writes into headers.
    let parts = serde_json::from_str::<std::collections::BTreeMap<String, &RawValue>>(&line.text).ok()?;
    let (mcp, payload) = (parts.get("mcp")?, parts.get("payload")?);
    if parts.keys().any(|key| !["header", "mcp", "payload"].contains(&key.as_str())) {
        return None;
    }
    let packet_type = header(&line.text)?.packet_type;
    let payload = if line.errors.is_empty() { issued_by_sender(payload.get()) } else { payload.to_string() };
    Some(format!(r#"{{"packet_type": "{packet_type}", "mcp": {mcp}, "payload": {payload}}}"#))
}

fn play(path: &str, id: &str, lines: &[Judged], made: &mut u32, refused: &mut u32) {
    let (clock, ids) = (Hands::new(), Given::default());
    let mut episode = setup(id, clock.clone()).ids(ids.clone()).start().unwrap().into_any();
    for line in lines {
        let header = header(&line.text).unwrap();
        let Some(proposal) = proposal_of(line) else { return };
        clock.set(header.created_at.instant());
        *ids.0.lock().unwrap() = header.packet_id.to_string();
        match episode.propose_with(Allow::everything(), &proposal) {
            Ok(moved) => {
                assert!(line.errors.is_empty(), "{path}: made, and breaks {:?}: {}", line.errors, line.text);
                assert_eq!(moved.packet_id, header.packet_id);
                *made += 1;
                episode = moved.episode;
            }
            Err(not_moved) => {
                let code = not_moved.why.code();
                // Also where a decision states that something is verified (D86).
                assert_eq!(code.as_ref(), line.errors.first(), "{path}: {not_moved}: {}", line.text);
                *refused += 1;
                episode = not_moved.episode;
            }
        }
    }
}

/// Returns every combination of permissions that a model can have beyond an agent's moves.
fn allowances() -> Vec<Allow> {
    let choose = |bits: u8| {
        let mut allow = Allow::moves().understated_stakes();
        let choices = [Allow::tokens, Allow::user_input, Allow::results, Allow::alerts];
        for (at, choice) in choices.into_iter().enumerate() {
            if bits >> at & 1 == 1 {
                allow = choice(allow);
            }
        }
        allow
    };
    (0..16).map(choose).collect()
}

fn event(line: &str) -> Option<Event> {
    omen::packet::PacketFacts::parse(line).ok().map(|facts| Event::of(&facts))
}

/// `propose_with` accepts exactly what [`AnyEpisode::moves_for`] lists: along every example log, with all permissions.
#[test]
fn the_moves_that_are_listed_are_those_that_a_proposal_may_make() {
    // One legal packet of each event, to be proposed where it is not listed.
    let mut pool: BTreeMap<&str, String> = BTreeMap::new();
    let logs: Vec<_> = examples().flat_map(|(_, log)| episodes(log)).collect();
    for line in logs.iter().flat_map(|(_, lines)| lines).filter(|line| line.errors.is_empty()) {
        if let (Some(event), Some(proposal)) = (event(&line.text), proposal_of(line)) {
            pool.entry(event.as_str()).or_insert(proposal);
        }
    }
    let (mut taken, mut withheld, mut unlisted) = (0_u32, 0_u32, 0_u32);
    for (id, lines) in &logs {
        let (clock, ids) = (Hands::new(), Given::default());
        let mut episode = setup(id, clock.clone()).ids(ids.clone()).start().unwrap().into_any();
        for line in lines {
            if by_authority(line) {
                break;
            }
            let (Some(event), Some(proposal)) = (event(&line.text), proposal_of(line)) else { break };
            let (header, written) = (header(&line.text).unwrap(), episode.lines().len());
            clock.set(header.created_at.instant());
            *ids.0.lock().unwrap() = header.packet_id.to_string();
            for (other, proposal) in &pool {
                let allow = allowances()[unlisted as usize % 16];
                if episode.moves_for(allow).iter().any(|listed| listed.as_str() == *other) {
                    continue;
                }
                let Err(refused) = episode.propose_with(allow, proposal) else {
                    panic!("{id}: `{other}` is not listed, and was taken with {allow:?}")
                };
                episode = refused.episode;
                unlisted += 1;
            }
            if !line.errors.is_empty() {
                continue;
            }
            let (listing, silent): (Vec<Allow>, Vec<Allow>) =
                allowances().into_iter().partition(|allow| episode.moves_for(*allow).contains(&event));
            for allow in silent {
                let Err(refused) = episode.propose_with(allow, &proposal) else {
                    panic!("{id}: `{}` is not listed, and was taken with {allow:?}", event.as_str())
                };
                episode = refused.episode;
                withheld += 1;
            }
            assert_eq!(episode.lines().len(), written, "nothing was written");
            // The most restrictive permission that lists it.
            let allow = *listing.first().unwrap_or_else(|| panic!("{id}: `{}` is never listed", event.as_str()));
            match episode.propose_with(allow, &proposal) {
                Ok(moved) => episode = moved.episode,
                Err(refused) => panic!("{id}: `{}` is listed, and was refused: {refused}", event.as_str()),
            }
            taken += 1;
        }
    }
    println!("{taken} listed events taken, {withheld} refused as not allowed, {unlisted} others refused as not listed");
    assert!(taken > 700 && withheld > 1_000 && unlisted > 5_000, "{taken} {withheld} {unlisted}");
}

#[test]
fn what_is_no_proposal_is_refused_with_a_reason() {
    for (text, code) in [
        ("", Code::Json),
        ("[]", Code::Json),
        (r#"{"packet_type": "ObservationPacket", "payload": {}, "payload": {}}"#, Code::Json),
        (r#"{"packet_type": "ObservationPacket", "payload": {}, "header": {}}"#, Code::Json),
        (r#"{"packet_type": "Observation", "payload": {}}"#, Code::Json),
        (r#"{"packet_type": "ObservationPacket", "payload": {}}"#, Code::Schema),
        (
            r#"{"packet_type": "ObservationPacket", "payload": {"observation_type": "user_input", "data": {"a": 1, "a": 2}}}"#,
            Code::Schema,
        ),
        (
            r#"{"packet_type": "DecisionPacket", "payload": {"decision_outcome": "CANCEL", "decision_summary": "safety", "constraints_satisfied": {"constitutional_check": true, "budget_check": true, "tier_check": true}}}"#,
            Code::E1,
        ),
    ] {
        let episode = setup("corr_a", Hands::new()).start().unwrap().into_any();
        let refused = episode.propose(text).expect_err(text);
        assert_eq!(refused.why.code(), Some(code), "{text}: {refused}");
        assert_eq!(refused.episode.lines().len(), 0, "nothing was written");
    }
}

/// Returns a proposal of a packet with a payload.
fn proposal(packet_type: &str, payload: &Value) -> String {
    serde_json::json!({ "packet_type": packet_type, "payload": payload }).to_string()
}

fn token(issuer_layer: u64) -> Value {
    serde_json::json!({
        "token_id": "token_mine", "authorized_scope": { "tool_ids": ["rm"], "operation_types": ["delete"] },
        "expiry": "2099-01-01T00:00:00Z", "max_usage_count": 1000, "issuer_layer": issuer_layer,
    })
}

#[track_caller]
fn is_refused(episode: AnyEpisode, proposal: &str, code: Code) -> AnyEpisode {
    let lines = episode.lines().len();
    let refused = episode.propose(proposal).expect_err(proposal);
    assert_eq!(refused.why.code(), Some(code), "{refused}");
    assert_eq!(refused.episode.lines().len(), lines, "nothing was written");
    refused.episode
}

#[test]
fn a_model_issues_itself_no_token() {
    let episode = super::refusals::acting(setup("corr_a", Hands::new()), &super::log::envelope()).into_any();
    let _ = is_refused(episode, &proposal("ToolAuthorizationToken", &token(5)), Code::E4);
}

#[test]
fn a_model_that_may_issue_tokens_does_so_as_its_own_layer() {
    let episode = super::refusals::acting(setup("corr_a", Hands::new()), &super::log::envelope()).into_any();
    let allow = Allow::moves().tokens();
    let refused = episode.propose_with(allow, &proposal("ToolAuthorizationToken", &token(1))).unwrap_err();
    assert_eq!(refused.why.code(), Some(Code::E4), "{refused}");
    let moved = refused.episode.propose_with(allow, &proposal("ToolAuthorizationToken", &token(5))).unwrap();
    assert!(matches!(moved.episode, AnyEpisode::Authorize(_)));
}

/// An alert comes from Integrity, which may end safe mode (E7); a model that may send alerts may not.
#[test]
fn a_model_that_may_send_alerts_does_not_end_safe_mode() {
    let alert = |severity: &str| {
        let payload = serde_json::json!({ "alert_type": "recovery", "severity": severity, "summary": "all is well" });
        proposal("IntegrityAlertPacket", &payload)
    };
    let episode = setup("corr_a", Hands::new()).start().unwrap().into_any();
    let halted = episode.propose_with(Allow::everything(), &alert("CRITICAL")).unwrap().episode;
    let refused = halted.propose_with(Allow::everything(), &alert("CLEAR")).unwrap_err();
    assert_eq!(refused.why.code(), Some(Code::E7), "{refused}");
    assert!(matches!(refused.episode, AnyEpisode::SafeMode(_)));
    assert_eq!(refused.episode.lines().len(), 1, "nothing was written");
}

#[test]
fn a_model_does_not_answer_for_the_human() {
    let choice = |id: &str| Choice { id: id.into(), description: id.into(), pros: Vec::new(), cons: Vec::new() };
    let ruling = super::refusals::ruling();
    let episode = super::refusals::modelling(setup("corr_a", Hands::new()))
        .to_escalate(ruling, &super::log::envelope())
        .escalate(Escalation {
            trigger: EscalationTrigger::BudgetInsufficient,
            options: [choice("a"), choice("b")],
            gaps: [Gap { gap: "the cost".into(), impact_if_unknown: "it may be high".into() }],
            next_step: Recommendation { step: text!("ask"), rationale: "it is theirs".into() },
        });
    let answer = serde_json::json!({ "observation_type": "user_input", "data": { "answer": "yes, all of it" } });
    let _ = is_refused(episode.into_any(), &proposal("ObservationPacket", &answer), Code::Fsm);
}

#[test]
fn a_model_settles_no_task_and_alerts_nobody() {
    tool!(Get = "config.get", Read);
    let acting = super::refusals::acting(setup("corr_a", Hands::new()), &super::log::envelope());
    let (episode, [task]) = acting.execute([Directive::bare(Get, op::Read).ready()]).unwrap();
    let result = serde_json::json!({
        "task_id": task.task_id(), "directive_packet_id": task.directive(), "result_status": "SUCCESS",
    });
    let episode = is_refused(episode.into_any(), &proposal("TaskResultPacket", &result), Code::E6);
    let alert = serde_json::json!({ "alert_type": "other", "severity": "CRITICAL", "summary": "stop everything" });
    let _ = is_refused(episode, &proposal("IntegrityAlertPacket", &alert), Code::E7);
}

#[test]
fn a_model_does_not_understate_the_stakes() {
    let episode = super::refusals::modelling(setup("corr_a", Hands::new())).into_any();
    let mut mcp = serde_json::to_value(super::log::envelope().mcp()).unwrap();
    let payload = serde_json::json!({
        "decision_outcome": "ACT", "decision_summary": "safety first",
        "constraints_satisfied": { "constitutional_check": true, "budget_check": true, "tier_check": true },
    });
    mcp["stakes"] = serde_json::json!({
        "impact": "CRITICAL", "irreversibility": "IRREVERSIBLE", "uncertainty": "HIGH", "adversariality": "HOSTILE",
        "stakes_level": "LOW",
    });
    let text = serde_json::json!({ "packet_type": "DecisionPacket", "mcp": mcp, "payload": payload }).to_string();
    let _ = is_refused(episode, &text, Code::Inv012);
}
