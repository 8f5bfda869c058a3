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

use super::call_facts::CallFacts;
use super::call_record::CallRecord;
use super::drafts;
use super::episode_state::EpisodeState;
use super::human_answers::HumanAnswer;
use super::not_stated::not_stated;
use super::outcome::Outcome;
use super::step_refusal::StepRefusal;

/// Writes the packets before a call that the gate lets pass.
pub(super) fn begin(
    state: &mut EpisodeState,
    call: &CallFacts,
    heard: Option<&HumanAnswer>,
    rationale: &str,
) -> Result<CallRecord, StepRefusal> {
    let asked = asked(state, call, call.recordable.arguments())?;
    if let Some(heard) = heard {
        human(state, call, heard)?;
    }
    believe(state, "ruling", json!("the call may be made"), &asked)?;
    let why = "safety: allowlist, grants and confirmation let the call pass (PG-3, G1 to G3)";
    decide(state, DecisionOutcome::Act, why)?;
    state.begin(call, rationale)
}

/// Writes the outcome of a call.
pub(super) fn end(
    state: &mut EpisodeState,
    call: &CallFacts,
    recorded: CallRecord,
    outcome: &Outcome,
) -> Result<(), StepRefusal> {
    state.end(call, recorded, outcome)?;
    let last = state.seen().last().map(|seen| seen.packet_id.clone());
    let value = if outcome.is_success() { json!("the tool answered") } else { outcome.data() };
    belief(state, "outcome", value, last.iter().map(ToString::to_string).collect())
}

/// Writes a call that the gate refuses.
pub(super) fn refused(
    state: &mut EpisodeState,
    call: &CallFacts,
    args: Option<&Map<String, Value>>,
    heard: Option<&HumanAnswer>,
    (code, why): (&str, &str),
) -> Result<(), StepRefusal> {
    let asked = asked(state, call, args)?;
    if let Some(heard) = heard {
        human(state, call, heard)?;
    }
    believe(state, "ruling", json!({ "code": code, "why": bounded(why) }), &asked)?;
    decide(state, DecisionOutcome::Cancel, &format!("safety: the gate refuses the call ({code})"))?;
    belief(state, "outcome", json!("the tool was not called"), Vec::new())
}

/// Writes a call that ran although the gate had not allowed it. The rules report its directive, which nothing permits.
pub(super) fn ran_anyway(
    state: &mut EpisodeState,
    call: &CallFacts,
    (code, why): (&str, &str),
    outcome: &Outcome,
) -> Result<PacketId, StepRefusal> {
    let asked = asked(state, call, None)?;
    believe(state, "ruling", json!({ "code": code, "why": bounded(why) }), &asked)?;
    decide(state, DecisionOutcome::Cancel, &format!("safety: the gate has not allowed the call ({code})"))?;
    let directive = state.write_anyway(call, outcome)?;
    belief(state, "outcome", json!("the tool ran although the gate had not allowed it"), Vec::new())?;
    state.alert(AlertType::Other, AlertSeverity::Critical, why)?;
    Ok(directive)
}

fn asked(
    state: &mut EpisodeState,
    call: &CallFacts,
    args: Option<&Map<String, Value>>,
) -> Result<PacketId, StepRefusal> {
    let mut data = Map::new();
    data.insert("call".to_owned(), json!(call.hash));
    data.insert("turn".to_owned(), json!(call.turn.as_str()));
    data.insert("tool".to_owned(), json!(call.tool));
    if let Some(args) = args {
        data.insert("arguments".to_owned(), json!(args));
    }
    let payload = drafts::observation(ObservationType::IntelUpdate, data);
    state.observed(&payload, RefType::ToolOutput, "client")
}

fn human(state: &mut EpisodeState, call: &CallFacts, heard: &HumanAnswer) -> Result<PacketId, StepRefusal> {
    let data = heard.data(&call.tool, json!({ "call": call.hash }));
    state.observed(&drafts::observation(ObservationType::UserInput, data), RefType::UserObservation, "user")
}

fn believe(state: &mut EpisodeState, key: &str, value: Value, because: &PacketId) -> Result<(), StepRefusal> {
    belief(state, key, value, vec![because.to_string()])
}

fn belief(state: &mut EpisodeState, key: &str, value: Value, because: Vec<String>) -> Result<(), StepRefusal> {
    let change = BeliefChange::builder().domain("gate").key(key).new_value(value).prior_value(Value::Null).build();
    let payload = BeliefUpdatePayload::new_belief()
        .belief_changes(AtLeastOne::new(change, []))
        .evidence_integration(because)
        .build();
    send(state, PacketType::BeliefUpdatePacket, &json!(payload))
}

fn decide(state: &mut EpisodeState, outcome: DecisionOutcome, why: &str) -> Result<(), StepRefusal> {
    let summary = Text::new(why).unwrap_or_else(|_| text!("safety"));
    // The gate's own checks: the operator's policy, the failure budget, and a quality tier sufficient for the stakes below.
    let checks = ConstraintsSatisfied::builder().constitutional_check(true).budget_check(true).tier_check(true).build();
    let payload = DecisionPayload::builder()
        .decision_outcome(outcome)
        .decision_summary(summary)
        .constraints_satisfied(checks)
        .build();
    send(state, PacketType::DecisionPacket, &json!(payload))
}

fn send(state: &mut EpisodeState, packet_type: PacketType, payload: &Value) -> Result<(), StepRefusal> {
    let cited = state.seen().map(|seen| seen.packet_id.to_string()).collect::<Vec<_>>();
    let cited = state.citing(&cited)?;
    state.send(packet_type, payload, not_stated(), cited).map(drop)
}
