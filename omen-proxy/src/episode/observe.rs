//! Call as a separate episode, written by a proxy that only observes.
//!
//! The messages show that a call was requested, how a human answered, and how the call ended. The gate has ruled on the call.
//! The former are recorded as observations, and the ruling as a belief and a decision of the gate itself: not of the agent,
//! whose reasons the messages do not show.

use omen_gate::bounded;
use omen_invariants::text;
use omen_types::builder::AtLeastOne;
use omen_types::packet::{
    AlertSeverity, AlertType, BeliefChange, BeliefUpdatePayload, ConstraintsSatisfied, DecisionOutcome,
    DecisionPayload, ObservationType, PacketId, PacketType, RefType, Text,
};
use serde_json::{Map, Value, json};

use super::desk::Desk;
use super::drafts;
use super::facts::CallFacts;
use super::human::Heard;
use super::not_stated::not_stated;
use super::outcome::Outcome;
use super::recorded::Recorded;
use super::refused::Refused;

/// Writes the packets before a call that the gate lets pass.
pub(super) fn begin(
    desk: &mut Desk,
    call: &CallFacts,
    heard: Option<&Heard>,
    rationale: &str,
) -> Result<Recorded, Refused> {
    let asked = asked(desk, call, call.recordable.arguments())?;
    if let Some(heard) = heard {
        human(desk, call, heard)?;
    }
    believe(desk, "ruling", json!("the call may be made"), &asked)?;
    let why = "safety: allowlist, grants and confirmation let the call pass (PG-3, G1 to G3)";
    decide(desk, DecisionOutcome::Act, why)?;
    desk.begin(call, rationale)
}

/// Writes the outcome of a call.
pub(super) fn end(desk: &mut Desk, call: &CallFacts, recorded: Recorded, outcome: &Outcome) -> Result<(), Refused> {
    desk.end(call, recorded, outcome)?;
    let last = desk.seen().last().map(|seen| seen.packet_id.clone());
    let value = if outcome.is_success() { json!("the tool answered") } else { outcome.data() };
    belief(desk, "outcome", value, last.iter().map(ToString::to_string).collect())
}

/// Writes a call that the gate refuses.
pub(super) fn refused(
    desk: &mut Desk,
    call: &CallFacts,
    args: Option<&Map<String, Value>>,
    heard: Option<&Heard>,
    (code, why): (&str, &str),
) -> Result<(), Refused> {
    let asked = asked(desk, call, args)?;
    if let Some(heard) = heard {
        human(desk, call, heard)?;
    }
    believe(desk, "ruling", json!({ "code": code, "why": bounded(why) }), &asked)?;
    decide(desk, DecisionOutcome::Cancel, &format!("safety: the gate refuses the call ({code})"))?;
    belief(desk, "outcome", json!("the tool was not called"), Vec::new())
}

/// Writes a call that ran although the gate had not allowed it. The rules report its directive, which nothing permits.
pub(super) fn ran_anyway(
    desk: &mut Desk,
    call: &CallFacts,
    (code, why): (&str, &str),
    outcome: &Outcome,
) -> Result<PacketId, Refused> {
    let asked = asked(desk, call, None)?;
    believe(desk, "ruling", json!({ "code": code, "why": bounded(why) }), &asked)?;
    decide(desk, DecisionOutcome::Cancel, &format!("safety: the gate has not allowed the call ({code})"))?;
    let directive = desk.write_anyway(call, outcome)?;
    belief(desk, "outcome", json!("the tool ran although the gate had not allowed it"), Vec::new())?;
    desk.alert(AlertType::Other, AlertSeverity::Critical, why)?;
    Ok(directive)
}

fn asked(desk: &mut Desk, call: &CallFacts, args: Option<&Map<String, Value>>) -> Result<PacketId, Refused> {
    let mut data = Map::new();
    data.insert("call".to_owned(), json!(call.hash));
    data.insert("turn".to_owned(), json!(call.turn.as_str()));
    data.insert("tool".to_owned(), json!(call.tool));
    if let Some(args) = args {
        data.insert("arguments".to_owned(), json!(args));
    }
    let payload = drafts::observation(ObservationType::IntelUpdate, data);
    desk.observed(&payload, RefType::ToolOutput, "client")
}

fn human(desk: &mut Desk, call: &CallFacts, heard: &Heard) -> Result<PacketId, Refused> {
    let data = heard.data(&call.tool, json!({ "call": call.hash }));
    desk.observed(&drafts::observation(ObservationType::UserInput, data), RefType::UserObservation, "user")
}

fn believe(desk: &mut Desk, key: &str, value: Value, because: &PacketId) -> Result<(), Refused> {
    belief(desk, key, value, vec![because.to_string()])
}

fn belief(desk: &mut Desk, key: &str, value: Value, because: Vec<String>) -> Result<(), Refused> {
    let change = BeliefChange::builder().domain("gate").key(key).new_value(value).prior_value(Value::Null).build();
    let payload = BeliefUpdatePayload::new_belief()
        .belief_changes(AtLeastOne::new(change, []))
        .evidence_integration(because)
        .build();
    send(desk, PacketType::BeliefUpdatePacket, &json!(payload))
}

fn decide(desk: &mut Desk, outcome: DecisionOutcome, why: &str) -> Result<(), Refused> {
    let summary = Text::new(why).unwrap_or_else(|_| text!("safety"));
    // The gate's own checks: the operator's policy, the failure budget, and a quality tier sufficient for the stakes below.
    let checks = ConstraintsSatisfied::builder().constitutional_check(true).budget_check(true).tier_check(true).build();
    let payload = DecisionPayload::builder()
        .decision_outcome(outcome)
        .decision_summary(summary)
        .constraints_satisfied(checks)
        .build();
    send(desk, PacketType::DecisionPacket, &json!(payload))
}

fn send(desk: &mut Desk, packet_type: PacketType, payload: &Value) -> Result<(), Refused> {
    let cited = desk.seen().map(|seen| seen.packet_id.to_string()).collect::<Vec<_>>();
    let cited = desk.citing(&cited)?;
    desk.send(packet_type, payload, not_stated(), cited).map(drop)
}
