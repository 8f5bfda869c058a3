//! A model that answers with structured output: its answer must match the JSON Schema of a packet type, which schemars derives
//! from the Rust type. A wrong answer is returned to the model with the findings of the parser; a right one is a decision of the
//! episode.
//!
//! The output of the model is a recorded transcript, so that the example runs on its own.
//!
//! ```text
//! cargo run -p omen-examples --features structured-output --example structured_output
//! ```

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use omen::packet::DecisionPayload;
use omen::packet::parse::Checked as _;
use omen::prelude::*;
use omen::schemars::{Schema, schema_for};
use omen::{Instant, json};

tool!(BackupAge = "backup.age", Read);

/// Recorded answers of the model, in order. The first one breaks the schema: an unknown outcome, an empty summary, and a missing
/// check.
pub(crate) const ANSWERS: [&str; 2] = [
    r#"{"decision_outcome": "PROCEED", "decision_summary": "",
    "constraints_satisfied": {"constitutional_check": true, "budget_check": true}}"#,
    r#"{"decision_outcome": "ACT", "decision_summary": "read the age of the backup: safety first, and reading changes nothing",
    "constraints_satisfied": {"constitutional_check": true, "budget_check": true, "tier_check": true},
    "failure_modes": [{"mode": "the host does not answer", "mitigation": "ask again later"}]}"#,
];

/// Returns the schema that is sent to the model with the question.
pub(crate) fn schema() -> Schema {
    schema_for!(DecisionPayload)
}

/// Asks until an answer is a decision, and returns the episode after it. `said` collects what the model reads.
fn decide(episode: Episode<Model>, said: &mut Vec<String>) -> Result<AnyEpisode, Box<dyn Error>> {
    let mut episode = episode.into_any();
    for answer in ANSWERS {
        // A model can miss its schema, so the answer is parsed as strictly as a packet. The findings point into the answer.
        let payload = match DecisionPayload::parse(answer) {
            Ok(payload) => payload,
            Err(findings) => {
                said.extend(findings.iter().map(ToString::to_string));
                continue;
            }
        };
        // The schema covers the form. The episode checks whether the decision is legal now.
        let proposal = json!({ "packet_type": "DecisionPacket", "payload": payload });
        match episode.propose(&proposal.to_string()) {
            Ok(moved) => return Ok(moved.episode),
            Err(refused) => {
                said.push(refused.why.to_string());
                episode = refused.episode;
            }
        }
    }
    Err("the model gave no legal answer".into())
}

fn agent(episode: Episode<Idle>, said: &mut Vec<String>) -> Result<Closed, Box<dyn Error>> {
    let episode = episode
        .observe(Observation::user_input(Observed, fields!({ "ask": "is the backup fresh?" })))
        .believe(Belief::new("backup", "age_hours", ()));
    let AnyEpisode::Act(episode) = decide(episode, said)? else { return Err("the model decided not to act".into()) };
    let (episode, [task]) =
        episode.execute([Directive::new(BackupAge, op::Read, fields!({ "unit": "hours" })).ready()])?;
    let episode = episode.settle([task.success(3)])?;
    Ok(episode.review(Belief::revision("backup", "age_hours", (), 3)).close()?)
}

/// Returns the log of one episode.
pub(crate) fn run(said: &mut Vec<String>) -> Result<String, Box<dyn Error>> {
    let envelope = OpenEnvelope::low(
        Intent::new(text!("find out how old the backup is"), text!("host db1")),
        Done::when(text!("the age is known"), ["age_hours is a number"]),
        Evidence::user_observation(text!("chat/12"), "2026-03-01T09:59:00Z".parse()?),
    )
    .seal();
    let start: Instant = "2026-03-01T10:00:00Z".parse()?;
    let episode = Setup::new("corr_backup".parse()?, &envelope, move || start).start()?;
    Ok(agent(episode, said)?.lines().join("\n"))
}

#[allow(dead_code, reason = "the tests take the parts alone")]
fn main() -> Result<(), Box<dyn Error>> {
    let schema = format!("{:#}", schema().to_value());
    let (shown, all) = (12, schema.lines().count());
    println!("{}", schema.lines().take(shown).collect::<Vec<_>>().join("\n"));
    println!("… {} more lines\n", all - shown);
    let mut said = Vec::new();
    let log = run(&mut said)?;
    println!("returned to the model:\n{}\n\n{log}", said.join("\n"));
    Ok(())
}
