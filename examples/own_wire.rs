//! An agent that builds its packets and sends them over its own connection.
//!
//! ```text
//! cargo run -p omen-examples --example own_wire
//! ```
//!
//! It has no `Episode`. An `Origin` gives each packet its id, its time and the layer that sends it. The builder of a packet
//! requires by type what that packet must contain: a directive that writes without a token does not compile (E4), nor does a
//! failure without its error. `Machine` checks the rest before each packet is sent, such as the order of packets or whether a
//! token is live. Try it: delete the line `.authorization_token_id(..)`.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use omen::builder::{Origin, Stamp};
use omen::episode::{Numbered, Stamps};
use omen::packet::{
    AuthorizedScope, BeliefChange, BeliefUpdatePayload, ConstraintsSatisfied, DecisionOutcome, DecisionPayload,
    ExecutionMetadata, ExecutionMethod, LayerNumber, LayerSource, ObservationPayload, ObservationType, OperationType,
    Packet, PacketFacts, PacketId, PositiveCount, TaskDirectivePayload, TaskResultPayload, TaskType,
    ToolAuthorizationPayload,
};
use omen::prelude::*;
use omen::{Instant, Machine, json};

/// The agent's side of the connection, which does not send refused packets.
#[derive(Default)]
struct Wire {
    machine: Machine,
    sent: Vec<String>,
}

impl Wire {
    fn send(&mut self, packet: impl Into<Packet>) -> Result<PacketId, Box<dyn Error>> {
        let packet = packet.into();
        let line = serde_json::to_string(&packet)?;
        let facts = PacketFacts::parse(&line)?;
        let verdict = self.machine.judge(&facts, None);
        if let Some(refused) = verdict.errors().next() {
            return Err(refused.to_string().into());
        }
        self.machine.accept(&facts, &verdict);
        self.sent.push(line);
        Ok(packet.header().packet_id.clone())
    }
}

fn agent(wire: &mut Wire, origin: &mut Origin<impl Stamp>) -> Result<(), Box<dyn Error>> {
    let envelope = &OpenEnvelope::low(
        Intent::new(text!("raise the connection pool"), text!("database orders")),
        Done::when(text!("the pool is 80"), ["pool.max == 80"]),
        Evidence::user_observation(text!("chat/4711"), "2026-03-01T09:59:58Z".parse()?),
    )
    .seal();

    // `data` must not be empty, which `build()` checks.
    let asked = ObservationPayload::builder()
        .observation_type(ObservationType::UserInput)
        .data(fields!({ "ask": "raise the pool to 80" }).into_map())
        .build()?;
    wire.send(origin.packet(envelope, asked)?)?;
    let known = BeliefUpdatePayload::new_belief().belief_changes([change(json!(null), json!(50))]).build();
    wire.send(origin.packet(envelope, known)?)?;

    let checks = ConstraintsSatisfied::builder().constitutional_check(true).budget_check(true).tier_check(true).build();
    let decision = DecisionPayload::builder()
        .decision_outcome(DecisionOutcome::Act)
        .decision_summary(text!("raise the pool: safety first, the smallest step that helps"))
        .constraints_satisfied(checks)
        .build();
    wire.send(origin.packet(envelope, decision)?)?;
    let scope = AuthorizedScope::builder()
        .tool_ids(vec!["config.set".to_owned()])
        .operation_types(vec![OperationType::Modify])
        .build()?;
    let token = ToolAuthorizationPayload::builder()
        .token_id("token_1".parse()?)
        .authorized_scope(scope)
        .expiry("2026-03-01T11:00:00Z".parse()?)
        .max_usage_count(PositiveCount::of::<1>())
        .issuer_layer(LayerSource::LayerNumber(LayerNumber::of::<5>()))
        .build();
    wire.send(origin.packet(envelope, token)?)?;

    // Class and method are branches: each has a builder, which requires what the branch requires.
    let call = fields!({ "key": "pool.max", "value": 80, "operation": "modify" });
    let method = ExecutionMethod::tool().tool_id("config.set").tool_params(call.into_map()).build();
    let directive = TaskDirectivePayload::write()
        .task_id("task_1".parse()?)
        .task_type(TaskType::ToolWrite)
        .execution_method(method)
        .authorization_token_id("token_1".parse()?)
        .build();
    let ordered = wire.send(origin.packet(envelope, directive)?)?;

    // Here the agent calls its tool.
    let used = ExecutionMetadata::builder().tokens_used(40_u32.into()).tool_calls_used(1_u32.into()).build();
    let result = TaskResultPayload::success()
        .task_id("task_1".parse()?)
        .directive_packet_id(ordered)
        .result_data(json!({ "value": 80 }))
        .execution_metadata(used)
        .build();
    wire.send(origin.packet(envelope, result)?)?;
    let learned = BeliefUpdatePayload::revision().belief_changes([change(json!(50), json!(80))]).build();
    wire.send(origin.packet(envelope, learned)?)?;
    Ok(())
}

fn change(prior: serde_json::Value, new: serde_json::Value) -> BeliefChange {
    BeliefChange::builder().domain("db").key("pool.max").prior_value(prior).new_value(new).build()
}

/// Returns the log of one episode.
pub(crate) fn log() -> Result<String, Box<dyn Error>> {
    let (mut wire, start) = (Wire::default(), "2026-03-01T10:00:00Z".parse::<Instant>()?);
    let stamps = Stamps(Numbered::new("own-wire"), move || start);
    agent(&mut wire, &mut Origin::new("corr_own-wire".parse()?, stamps))?;
    // An open directive or verification loop would be a finding here.
    assert!(wire.machine.finish().is_empty());
    Ok(wire.sent.join("\n"))
}

/// Returns the error of the machine for a decision before any observation.
#[allow(dead_code, reason = "for the tests")]
pub(crate) fn out_of_turn() -> Result<String, Box<dyn Error>> {
    let log = log()?;
    let decision: Packet = log.lines().nth(2).ok_or("the log has a decision")?.parse::<Packet>()?;
    match Wire::default().send(decision) {
        Ok(sent) => Err(format!("`{sent}` was sent").into()),
        Err(refused) => Ok(refused.to_string()),
    }
}

#[allow(dead_code, reason = "the tests take the log alone")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", log()?);
    Ok(())
}
