//! A first episode: an agent verifies an assumption, then writes under a token.
//!
//! ```text
//! cargo run -p omen-examples --example first_episode
//! ```
//!
//! The agent has to enlarge a connection pool. The stakes are high, so it may act only at quality SUPERB and on verified
//! assumptions: S0 → S1 → S2 → S4 → S2 → S3 → S5 → S6 → S7. Each step is a method of the state that the episode is in; a
//! step that is not legal there does not compile. Try it: delete the line that verifies first, or the one that authorizes.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::convert::Infallible;
use std::error::Error;

use omen::facts::{
    Budgets, Epistemics, Inferred, Operational, Quality, Risk, Routing, Stakes, adversariality, impact,
    irreversibility, uncertainty,
};
use omen::finding::Finding;
use omen::packet::TaskClass;
use omen::prelude::*;
use omen::validator::{JudgedPacket, Sink, Validator, ValidatorOptions};
use omen::{Instant, json};

tool!(ConfigGet = "config.get", Read);
tool!(ConfigSet = "config.set", Write);
scope!(RaisePool: tools [ConfigSet], operations [Modify]);

/// The agent: takes an episode that has not begun, and returns one that is closed.
fn agent(episode: Episode<Idle>, envelope: &Envelope<HighStakes, Superb, ToolsOk>) -> Result<Closed, Box<dyn Error>> {
    // Sense, then model.
    let episode = episode
        .observe(Observation::user_input(Observed, fields!({ "ask": "raise the pool `orders` to 80" })))
        .believe(Belief::new("db", "pool.orders.max", 50));

    // Verify first: a plan, a READ directive that succeeds, an observation of its result, and a belief update that closes the
    // loop and returns the proof.
    let (plan, unchanged) =
        Plan::one(Target::tool(text!("nobody else has changed the pool"), text!("config.get reports 50"), ConfigGet));
    let read = Directive::new(ConfigGet, op::Read, fields!({ "key": "pool.orders.max" })).timeout_seconds(10).ready();
    let episode =
        episode.verify_first(arbitrate("verify")?, envelope)?.verify(plan)?.check(read, |task| task.success(50))?;
    let (episode, proof) = episode
        .observe(Observation::tool_output(Observed, "config.get", fields!({ "pool.orders.max": 50 })))
        .believe(Belief::revision("db", "pool.orders.max", 50, 50));

    // Decide again: at high stakes the order relies on what the loop proved.
    let order = arbitrate("raise")?.to_act().relies_on(proof.verifies(unchanged));
    let episode = episode.act(order, envelope)?;

    // Authorize one write, and carry it out.
    let (episode, [permit]) = episode.authorize::<RaisePool, 1>(TokenSpec::new(60, text!("ticket OPS-77")))?;
    let write = Directive::new(ConfigSet, op::Modify, fields!({ "key": "pool.orders.max", "value": 80 }))
        .timeout_seconds(30)
        .with(permit);
    let (episode, [task]) = episode.execute([write])?;
    let episode = episode.settle([task.success(json!({ "value": 80 })).used(0, 1)])?;

    Ok(episode.review(Belief::revision("db", "pool.orders.max", 50, 80)).close()?)
}

/// Veto, feasibility, tradeoff: a decision without all three does not compile.
fn arbitrate(option: &str) -> Result<Ruling, NothingLeft> {
    let feasible = Arbitration::of([option, "restart"]).veto(|option| option.id != "restart")?.feasible(|_| true)?;
    Ok(feasible.tradeoff(Tradeoff::SafetyFirst, &text!("the smallest step that helps")))
}

/// Returns the log of one episode.
pub(crate) fn log() -> Result<String, Box<dyn Error>> {
    // The envelope of every packet: without one of its fields, the literal does not compile.
    let envelope = OpenEnvelope {
        intent: Intent::new(text!("raise the connection pool `orders`"), text!("database orders")),
        stakes: Stakes {
            impact: impact::High,
            irreversibility: irreversibility::Partial,
            uncertainty: uncertainty::High,
            adversariality: adversariality::Benign,
        },
        quality: Quality::superb(text!("the pool is 80 and healthy"), ["pool.orders.max == 80"]),
        budgets: Budgets { tokens: 8_000, tool_calls: 10, seconds: 300, risk: Risk::new(text!("conservative"), 10) },
        epistemics: Epistemics::new(Inferred, Operational, unit!(0.9), text!("read from the live configuration")),
        evidence: Evidence::user_observation(text!("ticket OPS-77"), "2026-03-01T09:59:00Z".parse()?),
        routing: Routing { task_class: TaskClass::Create, tools: ToolsOk },
    }
    .seal();

    // Time is injected, so that every run writes the same log.
    let start: Instant = "2026-03-01T10:00:00Z".parse()?;
    let episode = Setup::new("corr_orders-pool".parse()?, &envelope, move || start).start()?;
    let closed = agent(episode, &envelope)?;

    Ok(closed.lines().join("\n"))
}

#[allow(dead_code, reason = "the tests take the log alone")]
fn main() -> Result<(), Box<dyn Error>> {
    let log = log()?;
    println!("{} packets:", log.lines().count());
    let mut trace = Trace(Vec::new());
    let mut validator = Validator::new(ValidatorOptions::default());
    validator.feed(log.as_bytes(), &mut trace);
    let Ok(summary) = validator.finish(&mut trace);
    println!("{}", trace.0.join("\n"));
    println!("{} accepted, {} errors, {} warnings\n", summary.accepted, summary.errors, summary.warnings);

    let path = std::env::temp_dir().join(format!("omen-first-episode-{}.jsonl", std::process::id()));
    std::fs::write(&path, log + "\n")?;
    println!("next: cargo run -p omen-cli --bin omen -- check {}", path.display());
    println!("      cargo run -p omen-cli --bin omen -- explain INV-007");
    println!("      delete a step of `agent` in examples/first_episode.rs, and read what rustc says");
    println!("      docs/compile-errors.md shows what else does not compile");
    Ok(())
}

/// Records each packet as it is checked.
struct Trace(Vec<String>);

impl Sink for Trace {
    type Error = Infallible;

    fn finding(&mut self, finding: Finding, _: Option<&str>) -> Result<(), Infallible> {
        self.0.push(format!("  {}", finding.diagnostic));
        Ok(())
    }

    fn packet(&mut self, packet: &JudgedPacket<'_>) -> Result<(), Infallible> {
        let (Some(before), Some(after), Some(event)) = (packet.before, packet.after, packet.event) else {
            return Ok(());
        };
        let mark = if packet.accepted { "✓" } else { "✗" };
        self.0.push(format!("  {mark} {:<14} → {:<24} {}", before.to_string(), after.to_string(), event.description()));
        Ok(())
    }
}
