//! An agent that may not act, because tools are down and the stakes are high: it presents options to a human, waits for the
//! answer, and cancels.
//!
//! ```text
//! cargo run -p omen-examples --example escalation
//! ```

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use omen::Instant;
use omen::facts::{
    Budgets, Epistemics, Quality, Realtime, Risk, Routing, Stakes, ToolsDown, adversariality, impact, irreversibility,
    uncertainty,
};
use omen::packet::{EscalationTrigger, ObservationType, TaskClass};
use omen::prelude::*;

type Degraded = Envelope<HighStakes, Superb, ToolsDown>;

fn agent(episode: Episode<Idle>, envelope: &Degraded) -> Result<Closed, Box<dyn Error>> {
    let episode = episode
        .observe(Observation::new(Observed, ObservationType::SystemTelemetry, fields!({ "primary": "unreachable" })))
        .believe(Belief::new("db", "primary", "unreachable"));

    // With `ToolsDown` at `HighStakes`, `.act(..)`, `.verify_first(..)` and `.defer(..)` do not compile (INV-010).
    let ruling = Arbitration::of(["ask", "fail over"])
        .veto(|option| option.id == "ask")?
        .feasible(|_| true)?
        .tradeoff(Tradeoff::MinRegret, &text!("a wrong failover loses writes"));
    let episode = episode.to_escalate(ruling, envelope).escalate(Escalation {
        trigger: EscalationTrigger::ToolsDegradedCritical,
        options: [
            Choice {
                id: "fail-over".to_owned(),
                description: "promote the replica now".to_owned(),
                pros: vec!["orders are taken again".to_owned()],
                cons: vec!["writes of the last seconds may be lost".to_owned()],
            },
            Choice {
                id: "wait".to_owned(),
                description: "wait for the network team".to_owned(),
                pros: vec!["nothing is lost".to_owned()],
                cons: vec!["no orders until then".to_owned()],
            },
        ],
        gaps: [Gap {
            gap: "how far the replica lags behind".to_owned(),
            impact_if_unknown: "the loss cannot be estimated".to_owned(),
        }],
        next_step: Recommendation {
            step: text!("ask the network team how long it takes"),
            rationale: "an outage of minutes is acceptable".to_owned(),
        },
    });

    // The human answers. Only then is a decision legal, of any outcome.
    let episode = episode.answered(Answer::data(fields!({ "option": "wait", "by": "jane" })));
    let ruling = Arbitration::of(["wait"])
        .veto(|_| true)?
        .feasible(|_| true)?
        .tradeoff(Tradeoff::SafetyFirst, &text!("jane has chosen to wait"));
    Ok(episode.cancel(ruling, envelope).believe(Belief::new("db", "failover", "cancelled by jane")).close()?)
}

/// Returns the log of one episode.
pub(crate) fn log() -> Result<String, Box<dyn Error>> {
    let envelope = OpenEnvelope {
        intent: Intent::new(text!("bring the order database back"), text!("database orders")),
        stakes: Stakes {
            impact: impact::High,
            irreversibility: irreversibility::Irreversible,
            uncertainty: uncertainty::Medium,
            adversariality: adversariality::Benign,
        },
        quality: Quality::superb(text!("orders are taken, and none is lost"), ["orders.accepting"]),
        budgets: Budgets { tokens: 4_000, tool_calls: 5, seconds: 900, risk: Risk::new(text!("conservative"), 0) },
        epistemics: Epistemics::new(Observed, Realtime, unit!(0.9), text!("three probes agree")),
        evidence: Evidence::tool_output(text!("probe/primary"), "2026-03-01T09:59:50Z".parse()?),
        routing: Routing { task_class: TaskClass::Find, tools: ToolsDown },
    }
    .seal();
    let start: Instant = "2026-03-01T10:00:00Z".parse()?;
    let closed = agent(Setup::new("corr_primary-down".parse()?, &envelope, move || start).start()?, &envelope)?;
    Ok(closed.lines().join("\n"))
}

#[allow(dead_code, reason = "the tests take the log alone")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", log()?);
    Ok(())
}
