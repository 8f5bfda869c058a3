//! An agent in an episode whose packets say more than the short forms: it builds their payloads.
//!
//! ```text
//! cargo run --example built_payloads
//! ```
//!
//! The episode keeps the order of its moves, makes header and ids, and judges each packet. What a packet says is built:
//! each case of a conditional is a branch with a builder of its own, which requires by type what the case demands. Try it:
//! delete the line `.contradiction_details(..)`.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use omen::packet::{
    BeliefChange, BeliefUpdatePayload, ContradictionDetails, ExecutionMetadata, ExecutionMethod, NonNegativeNumber,
    ObservationPayload, ObservationType, ReliabilityMetadata, ResolutionMethod, TaskDirectivePayload,
    TaskResultPayload, TaskType,
};
use omen::prelude::*;
use omen::{Instant, json};

fn agent(episode: Episode<Idle>, envelope: &Envelope<LowStakes, Par, ToolsOk>) -> Result<Closed, Box<dyn Error>> {
    // A sensor says 25. Its reliability has no short form, so the payload is built; data must not be empty.
    let quick = NonNegativeNumber::new(3.5)?;
    let seen = ObservationPayload::builder()
        .observation_type(ObservationType::SystemTelemetry)
        .data(fields!({ "pool": 25 }).into_map())
        .reliability_metadata(ReliabilityMetadata::builder().tool_success(true).latency_ms(quick).build())
        .build()?;
    let believed = BeliefUpdatePayload::new_belief().belief_changes([change(json!(null), 25)]).build();

    // Short forms and payloads mix freely.
    let ruling = Arbitration::of(["recall", "wait"])
        .veto(|_| true)?
        .feasible(|option| option.id == "recall")?
        .tradeoff(Tradeoff::SafetyFirst, &text!("a look into memory changes nothing"));
    let episode = episode.observe(seen).believe(believed).act(ruling.to_act(), envelope)?;

    // A query of memory that only reads: `read()` has no token, and `memory_query()` no code.
    let query = ExecutionMethod::memory_query().tool_params(fields!({ "key": "pool" }).into_map()).build();
    let recall = TaskDirectivePayload::read()
        .task_id("task_recall".parse()?)
        .task_type(TaskType::MemoryLookup)
        .execution_method(query)
        .build();
    let (episode, [task]) = episode.execute([recall])?;

    // Memory says 20. The result names its task; another one would be refused.
    let result = TaskResultPayload::success()
        .task_id(task.task_id().clone())
        .directive_packet_id(task.directive().clone())
        .result_data(json!({ "pool": 20 }))
        .execution_metadata(ExecutionMetadata::builder().tokens_used(12_u32.into()).build())
        .build();
    let settled = task.result(result)?;

    // Two sources disagreed. This branch does not compile without its details.
    let sensor = ContradictionDetails::builder().resolution_method(ResolutionMethod::PreferFresh).build();
    let resolved = BeliefUpdatePayload::contradiction_resolved()
        .belief_changes([change(json!(20), 25)])
        .contradiction_details(sensor)
        .build();
    Ok(episode.settle([settled])?.review(resolved).close()?)
}

fn change(prior: serde_json::Value, new: u32) -> BeliefChange {
    BeliefChange::builder().domain("db").key("pool").prior_value(prior).new_value(json!(new)).build()
}

/// The log of one episode.
pub(crate) fn log() -> Result<String, Box<dyn Error>> {
    let envelope = OpenEnvelope::low(
        Intent::new(text!("find out how large the pool is"), text!("database orders")),
        Done::when(text!("one size is believed"), ["db.pool is a number"]),
        Evidence::tool_output(text!("sensor/4"), "2026-03-01T09:59:58Z".parse()?),
    )
    .seal();
    let start: Instant = "2026-03-01T10:00:00Z".parse()?;
    let closed = agent(Setup::new("corr_pool-size".parse()?, &envelope, move || start).start()?, &envelope)?;
    Ok(closed.lines().join("\n"))
}

#[allow(dead_code, reason = "the tests take the log alone")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", log()?);
    Ok(())
}
