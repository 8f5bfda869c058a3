//! An agent that only reads: no token, one READ directive, and a review of the result.
//!
//! ```text
//! cargo run -p omen-examples --example read_only
//! ```

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use omen::Instant;
use omen::Json;
use omen::facts::{
    Budgets, Epistemics, Quality, Realtime, Risk, Routing, Stakes, adversariality, impact, irreversibility, uncertainty,
};
use omen::packet::TaskClass;
use omen::prelude::*;

tool!(MetricsQuery = "metrics.query", Read);

fn agent(episode: Episode<Idle>, envelope: &Envelope<LowStakes, Par, ToolsOk>) -> Result<Closed, Box<dyn Error>> {
    let ruling = Arbitration::of(["query", "wait"])
        .veto(|_| true)?
        .feasible(|option| option.id == "query")?
        .tradeoff(Tradeoff::SafetyFirst, &text!("reading changes nothing"));
    let episode = episode
        .observe(Observation::user_input(Observed, fields!({ "ask": "how many requests fail?" })))
        .believe(Belief::new("web", "error_rate", ()))
        .act(ruling.to_act(), envelope)?;

    // In `Decide<Act>`, a READ directive is legal at once. One that writes does not compile here.
    let query = Directive::new(MetricsQuery, op::Read, fields!({ "metric": "http_errors", "minutes": 5 }));
    let (episode, [task]) = episode.execute([query.timeout_seconds(20).ready()])?;
    // JSON has no NaN and no infinity, so a float is checked where it is computed.
    let rate = &Json::number(2.0 / 100.0)?;
    let episode = episode.settle([task.success(rate).used(0, 1)])?.observe(Observation::tool_output(
        Observed,
        "metrics.query",
        fields!({ "error_rate": rate }),
    ));

    Ok(episode.review(Belief::revision("web", "error_rate", (), rate)).close()?)
}

/// Returns the log of one episode.
pub(crate) fn log() -> Result<String, Box<dyn Error>> {
    let envelope = OpenEnvelope {
        intent: Intent::new(text!("find out how many requests fail"), text!("service web")),
        stakes: Stakes {
            impact: impact::Low,
            irreversibility: irreversibility::Reversible,
            uncertainty: uncertainty::Low,
            adversariality: adversariality::Benign,
        },
        quality: Quality::par(text!("the error rate of the last five minutes is known"), ["error_rate is a number"]),
        budgets: Budgets { tokens: 2_000, tool_calls: 3, seconds: 120, risk: Risk::new(text!("none"), 0) },
        epistemics: Epistemics::new(Observed, Realtime, unit!(0.95), text!("metrics are sampled every ten seconds")),
        evidence: Evidence::user_observation(text!("chat/4711"), "2026-03-01T09:59:58Z".parse()?),
        routing: Routing { task_class: TaskClass::Lookup, tools: ToolsOk },
    }
    .seal();
    let start: Instant = "2026-03-01T10:00:00Z".parse()?;
    let closed = agent(Setup::new("corr_error-rate".parse()?, &envelope, move || start).start()?, &envelope)?;
    Ok(closed.lines().join("\n"))
}

#[allow(dead_code, reason = "the tests take the log alone")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", log()?);
    Ok(())
}
