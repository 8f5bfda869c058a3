//! A call as an episode of its own, written by a proxy that only observes.
//!
//! The wire shows that a call was asked for, what a human has said to it, and what came of it. The gate has ruled on it. These
//! are observations, and the ruling is a belief and a decision of the gate's own: not of the agent, whose reasons the wire does
//! not show.

use std::sync::LazyLock;

use omen_gate::bounded;
use omen_invariants::{text, unit};
use omen_types::packet::{
    Adversariality, BeliefChange, BeliefUpdatePayload, ConstraintsSatisfied, DecisionOutcome, DecisionPayload,
    DefinitionOfDone, EpistemicStatus, Epistemics, FreshnessClass, Impact, Intent, IntentScope, Irreversibility,
    ObservationType, PacketId, PacketType, Quality, QualityTier, RefType, Stakes, StakesLevel, TaskClass, Text,
    Uncertainty, VerificationRequirement,
};
use serde_json::{Map, Value, json};

use super::call::{CallFacts, Recorded};
use super::desk::Desk;
use super::drafts::{self, Outcome};
use super::envelope::{ROUTING, Stated};
use super::human::Heard;
use super::refused::Refused;

/// Writes what comes before a call that the gate lets pass.
pub(super) fn begin(
    desk: &mut Desk,
    call: &CallFacts,
    heard: Option<&Heard>,
    rationale: &str,
) -> Result<Recorded, Refused> {
    let asked = asked(desk, call)?;
    if let Some(heard) = heard {
        human(desk, call, heard)?;
    }
    believe(desk, "ruling", json!("the call may be made"), &asked)?;
    let why = "safety: allowlist, grants and confirmation let the call pass (PG-3, G1 to G3)";
    decide(desk, DecisionOutcome::Act, why)?;
    desk.begin(call, rationale)
}

/// Writes what came of it.
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
    heard: Option<&Heard>,
    code: &str,
    why: &str,
) -> Result<(), Refused> {
    let asked = asked(desk, call)?;
    if let Some(heard) = heard {
        human(desk, call, heard)?;
    }
    believe(desk, "ruling", json!({ "code": code, "why": bounded(why) }), &asked)?;
    decide(desk, DecisionOutcome::Cancel, &format!("safety: the gate refuses the call ({code})"))?;
    belief(desk, "outcome", json!("the tool was not called"), Vec::new())
}

fn asked(desk: &mut Desk, call: &CallFacts) -> Result<PacketId, Refused> {
    let mut data = Map::new();
    data.insert("call".to_owned(), json!(call.hash));
    data.insert("tool".to_owned(), json!(call.tool));
    data.insert("arguments".to_owned(), json!(call.args));
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
    let payload = BeliefUpdatePayload::new_belief().belief_changes(vec1(change)).evidence_integration(because).build();
    send(desk, PacketType::BeliefUpdatePacket, &json!(payload))
}

fn decide(desk: &mut Desk, outcome: DecisionOutcome, why: &str) -> Result<(), Refused> {
    let summary = Text::new(why).unwrap_or_else(|_| text!("safety"));
    // The gate's own checks: the operator's policy, the failure budget, and a tier that the stakes below need no more of.
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

fn vec1<T>(one: T) -> omen_types::builder::AtLeastOne<T> {
    omen_types::builder::AtLeastOne::new(one, [])
}

/// An envelope of which nobody has stated anything. Every packet must have one, so these are values that judge nothing: what a
/// rule says of them says nothing of the agent.
pub(super) fn not_stated() -> Stated {
    NOT_STATED.clone()
}

static NOT_STATED: LazyLock<Stated> = LazyLock::new(|| {
    let stakes = Stakes::builder()
        .impact(Impact::Medium)
        .irreversibility(Irreversibility::Partial)
        .uncertainty(Uncertainty::High)
        .adversariality(Adversariality::Contested)
        .stakes_level(StakesLevel::Medium)
        .build();
    let done = DefinitionOfDone::builder().text(text!("not stated")).checks(vec!["not stated".to_owned()]);
    let quality = Quality::builder()
        .quality_tier(QualityTier::Par)
        .satisficing_mode(false)
        .definition_of_done(done.unchecked())
        .verification_requirement(VerificationRequirement::Optional)
        .build();
    let epistemics = Epistemics::builder()
        .status(EpistemicStatus::Derived)
        .confidence(unit!(1.0))
        .calibration_note(text!("the gate's own ruling; the agent has stated nothing"))
        .freshness_class(FreshnessClass::Operational)
        .assumptions(Vec::<String>::new())
        .build();
    let parts = json!({
        "intent": Intent::builder().summary(text!("not stated")).scope(IntentScope::from(text!("not stated"))).build(),
        "stakes": stakes,
        "quality": quality,
        "epistemics": epistemics,
        ROUTING: { "task_class": TaskClass::Lookup },
    });
    match parts {
        Value::Object(parts) => Stated::of(parts),
        _ => Stated::default(),
    }
});
