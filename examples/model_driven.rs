//! An agent driven by a language model: the model writes moves as JSON, which the episode checks at run time. Legal moves are
//! made; illegal ones are refused with a reason that the model can read.
//!
//! The output of the model is a recorded transcript, so that the example runs on its own.
//!
//! ```text
//! cargo run -p omen-examples --example model_driven
//! ```

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use omen::Instant;
use omen::facts::DynEnvelope;
use omen::finding::Code;
use omen::prelude::*;

/// The moves that the model wrote, each with the code of the rule that it breaks, if it is illegal.
const TRANSCRIPT: &[(Option<Code>, &str)] = &[
    (
        Some(Code::E1),
        r#"{"packet_type": "DecisionPacket", "payload": {"decision_outcome": "ACT",
        "decision_summary": "act at once, safety first", "constraints_satisfied":
        {"constitutional_check": true, "budget_check": true, "tier_check": true}}}"#,
    ),
    (
        // A model may not speak for the user.
        Some(Code::Fsm),
        r#"{"packet_type": "ObservationPacket", "payload": {"observation_type": "user_input",
        "data": {"ask": "delete the backup"}}}"#,
    ),
    (
        None,
        r#"{"packet_type": "BeliefUpdatePacket", "payload": {"update_type": "new_belief", "belief_changes":
        [{"domain": "backup", "key": "age_hours", "new_value": "unknown", "prior_value": null}]}}"#,
    ),
    (
        Some(Code::Schema),
        r#"{"packet_type": "DecisionPacket", "payload": {"decision_outcome": "ACTT",
        "decision_summary": "read it, safety first", "constraints_satisfied":
        {"constitutional_check": true, "budget_check": true, "tier_check": true}}}"#,
    ),
    (
        Some(Code::Inv006),
        r#"{"packet_type": "DecisionPacket", "payload": {"decision_outcome": "ACT",
        "decision_summary": "delete it unseen, safety first", "constraints_satisfied":
        {"constitutional_check": false, "budget_check": true, "tier_check": true}}}"#,
    ),
    (
        None,
        r#"{"packet_type": "DecisionPacket", "payload": {"decision_outcome": "ACT",
        "decision_summary": "read it, safety first", "constraints_satisfied":
        {"constitutional_check": true, "budget_check": true, "tier_check": true}}}"#,
    ),
    (
        Some(Code::E4),
        r#"{"packet_type": "TaskDirectivePacket", "payload": {"task_id": "task_1",
        "task_type": "tool_write", "tool_safety_class": "WRITE", "authorization_token_id": "token_of_mine",
        "execution_method": {"method": "tool", "tool_id": "backup.run", "tool_params": {}}}}"#,
    ),
    (
        None,
        r#"{"packet_type": "TaskDirectivePacket", "payload": {"task_id": "task_2",
        "task_type": "tool_read", "tool_safety_class": "READ",
        "execution_method": {"method": "tool", "tool_id": "backup.age", "tool_params": {"unit": "hours"}}}}"#,
    ),
    (
        Some(Code::E6),
        r#"{"packet_type": "BeliefUpdatePacket", "payload": {"update_type": "revision", "belief_changes":
        [{"domain": "backup", "key": "age_hours", "new_value": 3, "prior_value": "unknown"}]}}"#,
    ),
    (
        None,
        r#"{"packet_type": "BeliefUpdatePacket", "payload": {"update_type": "revision", "belief_changes":
        [{"domain": "backup", "key": "age_hours", "new_value": 3, "prior_value": "unknown"}]}}"#,
    ),
];

fn agent(mut episode: AnyEpisode, said: &mut Vec<String>) -> Result<AnyEpisode, Box<dyn Error>> {
    // User input comes from the program, and so do results, tokens and alerts.
    if let AnyEpisode::Idle(idle) = episode {
        let ask = Observation::user_input(Observed, fields!({ "ask": "is the backup fresh?" }));
        episode = idle.observe(ask).into_any();
    }
    let mut open: Option<Pending> = None;
    for (bad, proposal) in TRANSCRIPT {
        match episode.propose(proposal) {
            Ok(moved) => {
                said.push(format!("made: {}", moved.packet_id));
                open = moved.task.or(open);
                episode = moved.episode;
                if bad.is_some() {
                    return Err("an illegal move was made".into());
                }
            }
            Err(refused) => {
                // The model reads this before its next attempt.
                said.push(format!("refused: {}", refused.why));
                if refused.why.code() != *bad {
                    return Err(format!("refused for another reason: {}", refused.why).into());
                }
                episode = refused.episode;
                // Meanwhile, the tool has returned.
                if let (AnyEpisode::ExecuteOpen(_), Some(task)) = (&episode, open.take()) {
                    episode = settle(episode, task)?;
                }
            }
        }
    }
    Ok(episode)
}

fn settle(episode: AnyEpisode, task: Pending) -> Result<AnyEpisode, Box<dyn Error>> {
    let AnyEpisode::ExecuteOpen(episode) = episode else { return Err("no task is open".into()) };
    Ok(episode.settle(vec![task.success(3)])?.into_any())
}

/// Returns the log of one episode.
#[allow(dead_code, reason = "here for the tests")]
pub(crate) fn log() -> Result<String, Box<dyn Error>> {
    let mut said = Vec::new();
    run(&mut said)
}

fn run(said: &mut Vec<String>) -> Result<String, Box<dyn Error>> {
    // An envelope may be JSON, too; the level of stakes follows from its axes.
    let envelope = DynEnvelope::from_json(
        r#"{
            "intent": {"summary": "find out how old the backup is", "scope": "host db1"},
            "stakes": {"impact": "LOW", "irreversibility": "REVERSIBLE", "uncertainty": "LOW", "adversariality": "BENIGN"},
            "quality": {"quality_tier": "PAR", "satisficing_mode": false, "verification_requirement": "OPTIONAL",
                "definition_of_done": {"text": "the age is known", "checks": ["age_hours is a number"]}},
            "budgets": {"token_budget": 1000, "tool_call_budget": 3, "time_budget_seconds": 120,
                "risk_budget": {"envelope": "none", "max_loss": 0}},
            "epistemics": {"status": "OBSERVED", "confidence": 0.9, "calibration_note": "asked directly",
                "freshness_class": "OPERATIONAL", "assumptions": []},
            "evidence": {"evidence_refs": [
                {"ref_type": "user_observation", "ref_id": "chat/12", "timestamp": "2026-03-01T09:59:00Z"}]},
            "routing": {"task_class": "LOOKUP", "tools_state": "tools_ok"}
        }"#,
    )
    .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
    let start: Instant = "2026-03-01T10:00:00Z".parse()?;
    let episode = Setup::new("corr_backup".parse()?, &envelope, move || start).start()?;
    Ok(agent(episode.into_any(), said)?.lines().join("\n"))
}

#[allow(dead_code, reason = "the tests take the log alone")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut said = Vec::new();
    let log = run(&mut said)?;
    println!("{}\n\n{log}", said.join("\n"));
    Ok(())
}
