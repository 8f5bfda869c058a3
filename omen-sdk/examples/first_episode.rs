//! A first episode: built packet by packet, written as JSON Lines, judged, and traced.
//!
//! ```text
//! cargo run --example first_episode
//! ```
//!
//! The agent looks at a connection pool, believes what it saw, decides to act, reads the
//! configuration, and writes down what it learned: S0 → S1 → S2 → S3 → S6 → S7.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::io::Write;

use omen::prelude::*;
use omen_types::serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let episode = episode()?;

    // Types carry most of the schema; `check` tells the rest (lengths of arrays, conditionals).
    let mut log = String::new();
    for packet in &episode {
        packet.check().map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
        log.push_str(&omen_types::serde_json::to_string(packet)?);
        log.push('\n');
    }
    let path = std::env::temp_dir().join(format!("omen-first-episode-{}.jsonl", std::process::id()));
    std::fs::File::create(&path)?.write_all(log.as_bytes())?;
    println!("{} packets written to {}\n", episode.len(), path.display());

    println!("judged and traced:");
    let summary = judge(&log);
    println!("{} accepted, {} errors, {} warnings\n", summary.accepted, summary.errors, summary.warnings);

    println!("the same episode, but it decides before it believes anything:");
    let hasty: Vec<_> = log.lines().enumerate().filter(|(at, _)| *at != 1).map(|(_, line)| line).collect();
    let summary = judge(&hasty.join("\n"));
    println!("{} accepted, {} errors\n", summary.accepted, summary.errors);

    println!("next: cargo run --bin omen -- check {}", path.display());
    println!("      cargo run --bin omen -- explain E1");
    Ok(())
}

/// Prints each step as it is judged.
struct Trace;

impl Sink for Trace {
    fn finding(&mut self, finding: Finding, _: Option<&str>) {
        println!("  {}", finding.diagnostic);
    }

    fn packet(&mut self, step: &Step<'_>) {
        let (Some(before), Some(after), Some(event)) = (step.before, step.after, step.event) else { return };
        let mark = if step.accepted { "✓" } else { "✗" };
        println!("  {mark} {:<14} → {:<24} {}", before.to_string(), after.to_string(), event.description());
    }
}

fn judge(log: &str) -> Summary {
    let mut validator = Validator::new(Options::default());
    validator.feed(log.as_bytes(), &mut Trace);
    validator.finish(&mut Trace)
}

/// The episode. A required member that is left out does not compile.
fn episode() -> Result<Vec<Packet>, Box<dyn Error>> {
    let mcp = mcp()?;
    let observation = ObservationPacket::builder()
        .header(header(0, PacketType::ObservationPacket)?)
        .mcp(mcp.clone())
        .payload(
            ObservationPayload::builder()
                .observation_type(ObservationType::SystemTelemetry)
                .data(members(json!({ "pool": "orders", "waiting": 41, "in_use": 50 })))
                .build(),
        )
        .build();
    let belief = BeliefUpdatePacket::builder()
        .header(header(1, PacketType::BeliefUpdatePacket)?)
        .mcp(mcp.clone())
        .payload(new_belief("pool_state", json!("exhausted"), vec!["pkt_0".to_owned()]))
        .build();
    let decision = DecisionPacket::builder()
        .header(header(2, PacketType::DecisionPacket)?)
        .mcp(mcp.clone())
        .payload(
            DecisionPayload::builder()
                .decision_outcome(DecisionOutcome::Act)
                .decision_summary("Read the pool's limits before proposing anything: safety first.".parse()?)
                .constraints_satisfied(
                    ConstraintsSatisfied::builder()
                        .constitutional_check(true)
                        .budget_check(true)
                        .tier_check(true)
                        .build(),
                )
                .build(),
        )
        .build();
    let directive = TaskDirectivePacket::builder()
        .header(header(3, PacketType::TaskDirectivePacket)?)
        .mcp(mcp.clone())
        .payload(
            TaskDirectivePayload::builder()
                .task_id("task_limits".parse()?)
                .task_type(TaskType::ToolRead)
                .execution_method(
                    ExecutionMethod::builder()
                        .method(MethodKind::Tool)
                        .tool_id("config.get")
                        .tool_params(members(json!({ "key": "pool.orders.max" })))
                        .build(),
                )
                .tool_safety_class(ToolSafetyClass::Read)
                .timeout_seconds(PositiveCount::new(30)?)
                .build(),
        )
        .build();
    let result = TaskResultPacket::builder()
        .header(header(4, PacketType::TaskResultPacket)?)
        .mcp(mcp.clone())
        .payload(
            TaskResultPayload::builder()
                .task_id("task_limits".parse()?)
                .directive_packet_id("pkt_3".parse()?)
                .result_status(ResultStatus::Success)
                .result_data(json!({ "pool.orders.max": 50 }))
                .build(),
        )
        .build();
    let learned = BeliefUpdatePacket::builder()
        .header(header(5, PacketType::BeliefUpdatePacket)?)
        .mcp(mcp)
        .payload(new_belief("pool_limit", json!(50), vec!["pkt_4".to_owned()]))
        .build();
    Ok(vec![observation.into(), belief.into(), decision.into(), directive.into(), result.into(), learned.into()])
}

fn header(number: usize, packet_type: PacketType) -> Result<PacketHeader, Invalid> {
    Ok(PacketHeader::builder()
        .packet_id(PacketId::new(format!("pkt_{number}"))?)
        .packet_type(packet_type)
        .created_at(Timestamp::new(format!("2026-03-01T10:00:{:02}Z", number * 2))?)
        .layer_source(LayerSource::LayerNumber(LayerNumber::new(5)?))
        .correlation_id("corr_first".parse()?)
        .build())
}

fn new_belief(key: &str, value: omen_types::serde_json::Value, evidence: Vec<String>) -> BeliefUpdatePayload {
    let change = BeliefChange::builder().domain("database").key(key).new_value(value).prior_value(json!(null)).build();
    BeliefUpdatePayload::builder()
        .update_type(UpdateType::NewBelief)
        .belief_changes(vec![change])
        .evidence_integration(evidence)
        .build()
}

/// The envelope that every packet carries: why, what is at stake, how good, how much, how sure.
fn mcp() -> Result<Mcp, Invalid> {
    Ok(Mcp::builder()
        .intent(
            Intent::builder()
                .summary("find out why orders wait for a connection".parse()?)
                .scope(IntentScope::ScopeText("the pool `orders`".parse()?))
                .build(),
        )
        .stakes(
            Stakes::builder()
                .impact(Impact::Low)
                .irreversibility(Irreversibility::Reversible)
                .uncertainty(Uncertainty::Medium)
                .adversariality(Adversariality::Benign)
                .stakes_level(StakesLevel::Low)
                .build(),
        )
        .quality(
            Quality::builder()
                .quality_tier(QualityTier::Par)
                .satisficing_mode(true)
                .definition_of_done(
                    DefinitionOfDone::builder()
                        .text("the limit is known".parse()?)
                        .checks(vec!["pool.orders.max was read".to_owned()])
                        .build(),
                )
                .verification_requirement(VerificationRequirement::Optional)
                .build(),
        )
        .budgets(
            Budgets::builder()
                .token_budget(Count::from(2000))
                .tool_call_budget(Count::from(3))
                .time_budget_seconds(Count::from(120))
                .risk_budget(
                    RiskBudget::builder().envelope("read only").max_loss(MaxLoss::LossText("none".parse()?)).build(),
                )
                .build(),
        )
        .epistemics(
            Epistemics::builder()
                .status(EpistemicStatus::Observed)
                .confidence(UnitInterval::new(0.9)?)
                .calibration_note("read from the pool's own metrics".parse()?)
                .freshness_class(FreshnessClass::Operational)
                .assumptions(vec![])
                .build(),
        )
        .evidence(
            Evidence::builder()
                .evidence_refs(vec![
                    EvidenceRef::builder()
                        .ref_type(RefType::ToolOutput)
                        .ref_id("metrics://pool/orders".parse()?)
                        .timestamp("2026-03-01T09:59:58Z".parse()?)
                        .build(),
                ])
                .build(),
        )
        .routing(Routing::builder().task_class(TaskClass::Lookup).tools_state(ToolsState::ToolsOk).build())
        .build())
}

/// The members of a JSON object.
fn members(value: omen_types::serde_json::Value) -> omen_types::serde_json::Map<String, omen_types::serde_json::Value> {
    match value {
        omen_types::serde_json::Value::Object(members) => members,
        _ => omen_types::serde_json::Map::new(),
    }
}
