//! An agent that builds the payloads of its packets, with every field of the schemas.
//!
//! ```text
//! cargo run -p omen-examples --example payloads
//! ```
//!
//! Every move takes a generated payload as well as its short form, and the two mix freely. Each case of a conditional is a
//! branch with a builder of its own, such as `TaskDirectivePayload::write()`, which requires by type what that case requires. A payload
//! proves nothing: the decision still needs its ruling (INV-006), the write its permit (E4, INV-007) and the result its task
//! (E6), and the payload has to agree with each. Try it: delete `.contradiction_details(..)`, pass the payload that writes to
//! `.execute([..])` without a permit, or let the token name another tool.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use omen::episode::Sorted;
use omen::packet::{
    AuthorizedScope, BeliefChange, BeliefUpdatePayload, ChosenOption, ConstraintsSatisfied, ContradictionDetails,
    DecisionOutcome, DecisionPayload, ExecutionMetadata, ExecutionMethod, LayerNumber, LayerSource, NonNegativeNumber,
    ObservationPayload, ObservationType, OperationType, PositiveCount, ReadTaskType, ReliabilityMetadata,
    ResolutionMethod, TaskDirectivePayload, TaskResultPayload, TaskType, ToolAuthorizationPayload,
};
use omen::prelude::*;
use serde_json::{Value, json};

tool!(ConfigSet = "config.set", Write);
scope!(RaisePool: tools [ConfigSet], operations [Modify]);

/// The agent: takes an episode that has not begun, and returns one that is closed.
fn agent(episode: Episode<Idle>, envelope: &Envelope<LowStakes, Par, ToolsOk>) -> Result<Closed, Box<dyn Error>> {
    // Sense, then model. `data` must not be empty, so this `build()` may fail.
    let quick = NonNegativeNumber::new(3.5)?;
    let seen = ObservationPayload::builder()
        .observation_type(ObservationType::UserInput)
        .data(fields!({ "ask": "raise the pool to 80" }).into_map())
        .reliability_metadata(ReliabilityMetadata::builder().partial_result(false).latency_ms(quick).build())
        .build()?;
    let known = BeliefUpdatePayload::new_belief().belief_changes([change(Value::Null, json!(50))]).build();
    let episode = episode.observe(seen).believe(known);

    // The stages of the arbitration run; the payload states their result.
    let left = Arbitration::of(["raise", "restart"]).veto(|option| option.id != "restart")?.feasible(|_| true)?;
    let ruling = left.tradeoff(Tradeoff::SafetyFirst, &text!("the smallest step that helps"));
    let checks = ConstraintsSatisfied::builder().constitutional_check(true).budget_check(true).tier_check(true).build();
    let decision = DecisionPayload::builder()
        .decision_outcome(DecisionOutcome::Act)
        .decision_summary(text!("raise the pool, for it is the smallest step that helps"))
        .constraints_satisfied(checks)
        .chosen_option(ChosenOption::builder().option_id("raise").risk_profile("small").build())
        .build();
    let episode = episode.act(ruling.stating(decision).to_act(), envelope)?;

    // The token lists the tools and operations of its permits, and nothing else.
    let scope = AuthorizedScope::builder()
        .tool_ids(vec!["config.set".to_owned()])
        .operation_types(vec![OperationType::Modify])
        .resource_constraints(fields!({ "max_value": 100 }).into_map())
        .build()?;
    let token = ToolAuthorizationPayload::builder()
        .token_id("token_raise".parse()?)
        .authorized_scope(scope)
        .expiry("2026-03-01T10:05:00Z".parse()?)
        .max_usage_count(PositiveCount::of::<1>())
        .issuer_layer(LayerSource::LayerNumber(LayerNumber::of::<5>()))
        .build();
    let (episode, [permit]) = episode.authorize::<RaisePool, 1>(token)?;

    // A directive that writes uses up a permit, though its payload already names the token.
    let call = fields!({ "key": "pool.max", "value": 80, "operation": "modify" });
    let write = TaskDirectivePayload::write()
        .task_id("task_raise".parse()?)
        .task_type(TaskType::ToolWrite)
        .execution_method(ExecutionMethod::tool().tool_id("config.set").tool_params(call.into_map()).build())
        .authorization_token_id("token_raise".parse()?)
        .build();
    let Sorted::Writes(write) = Directive::stating(write).sort() else {
        return Err("the directive writes".into());
    };
    let (episode, [task]) = episode.execute([write.with(permit)])?;
    let used = ExecutionMetadata::builder().tokens_used(40_u32.into()).tool_calls_used(1_u32.into()).build();
    let done = TaskResultPayload::success()
        .task_id(task.task_id().clone())
        .directive_packet_id(task.directive().clone())
        .result_data(json!({ "value": 80 }))
        .execution_metadata(used)
        .build();
    let episode = episode.settle([task.result(done)?])?;

    // A directive that reads needs no permit. This one queries memory, whose branch has no `code_params`.
    let recall = TaskDirectivePayload::read()
        .task_id("task_recall".parse()?)
        .task_type(ReadTaskType::MemoryLookup)
        .execution_method(
            ExecutionMethod::memory_query().tool_params(fields!({ "key": "pool.max" }).into_map()).build(),
        )
        .build();
    let (episode, [task]) = episode.execute([recall])?;
    let episode = episode.settle([task.success("the pool was 40 last week")])?;

    // Two sources disagreed. Without its details, this branch does not compile.
    let fresh = ContradictionDetails::builder().resolution_method(ResolutionMethod::PreferFresh).build();
    let learned = BeliefUpdatePayload::contradiction_resolved()
        .belief_changes([change(json!(50), json!(80))])
        .contradiction_details(fresh)
        .build();
    Ok(episode.review(learned).close()?)
}

fn change(prior: Value, new: Value) -> BeliefChange {
    BeliefChange::builder().domain("db").key("pool.max").prior_value(prior).new_value(new).build()
}

/// Returns the log of one episode.
pub(crate) fn log() -> Result<String, Box<dyn Error>> {
    let start: omen::Instant = "2026-03-01T10:00:00Z".parse()?;
    let envelope = OpenEnvelope::low(
        Intent::new(text!("raise the connection pool"), text!("database orders")),
        Done::when(text!("the pool is 80"), ["pool.max == 80"]),
        Evidence::user_observation(text!("ticket 77"), "2026-03-01T09:59:58Z".parse()?),
    )
    .seal();
    let episode = Setup::new("corr_payloads".parse()?, &envelope, move || start).start()?;
    Ok(agent(episode, &envelope)?.lines().join("\n"))
}

#[allow(dead_code, reason = "the tests take the log alone")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", log()?);
    Ok(())
}
