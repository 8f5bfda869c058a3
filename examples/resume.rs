//! An agent is killed during its work, and another process resumes the episode from its log.
//!
//! ```text
//! cargo run -p omen-examples --example resume
//! ```

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use omen::facts::{
    Budgets, Epistemics, Operational, Quality, Risk, Routing, Stakes, adversariality, impact, irreversibility,
    uncertainty,
};
use omen::packet::TaskClass;
use omen::prelude::*;
use omen::{Instant, Invalid, json};

tool!(DnsSet = "dns.set", Write);
scope!(TwoRecords: tools [DnsSet], operations [Write]);

type Plain = Envelope<MediumStakes, Par, ToolsOk>;

/// Sends the first of two writes, and is killed before the result arrives.
fn first_process(episode: Episode<Idle>, envelope: &Plain) -> Result<Vec<String>, Box<dyn Error>> {
    let ruling = Arbitration::of(["move"])
        .veto(|_| true)?
        .feasible(|_| true)?
        .tradeoff(Tradeoff::SafetyFirst, &text!("one record at a time"));
    let (episode, [first, _second]) = episode
        .observe(Observation::user_input(Observed, fields!({ "ask": "move www to the new host" })))
        .believe(Belief::new("dns", "www", "192.0.2.1"))
        .act(ruling.to_act(), envelope)?
        .authorize::<TwoRecords, 2>(TokenSpec::new(600, text!("change 12")))?;
    let write = Directive::new(DnsSet, op::Write, fields!({ "name": "www", "value": "192.0.2.7" })).with(first);
    let (episode, [_task]) = episode.execute([write])?;
    // Killed: the task has no result, and the token has one use left.
    Ok(episode.lines().to_vec())
}

/// Continues where the log ends.
fn second_process(setup: Setup, log: &[String]) -> Result<Vec<String>, Box<dyn Error>> {
    let AnyEpisode::ExecuteOpen(episode) = AnyEpisode::resume(setup, log.iter().map(String::as_str))? else {
        return Err("the log does not end with an open directive".into());
    };
    // An open task has its directive: check whether it was done, and settle the task.
    let results = episode.tasks().into_iter().map(|task| task.success(json!({ "value": "192.0.2.7" })));
    let episode = episode.settle(results)?.all_settled()?;
    // The remaining use of the token; its id is not needed.
    let [permit] = episode.claim_any::<TwoRecords, 1>()?;
    let write = Directive::new(DnsSet, op::Write, fields!({ "name": "www6", "value": "2001:db8::7" })).with(permit);
    let (episode, [task]) = episode.execute([write])?;
    let episode = episode.settle([task.success(json!({ "value": "2001:db8::7" }))])?;
    let closed = episode.review(Belief::revision("dns", "www", "192.0.2.1", "192.0.2.7")).close()?;
    Ok(closed.lines().to_vec())
}

/// Returns the log of one episode, written by two processes.
pub(crate) fn log() -> Result<String, Box<dyn Error>> {
    let envelope = OpenEnvelope {
        intent: Intent::new(text!("move www to the new host"), text!("zone example.org")),
        stakes: Stakes {
            impact: impact::Medium,
            irreversibility: irreversibility::Reversible,
            uncertainty: uncertainty::Medium,
            adversariality: adversariality::Benign,
        },
        quality: Quality::par(text!("both records point to the new host"), ["www", "www6"]),
        budgets: Budgets { tokens: 2_000, tool_calls: 5, seconds: 900, risk: Risk::new(text!("low"), 5) },
        epistemics: Epistemics::new(Observed, Operational, unit!(0.9), text!("asked the zone's own server")),
        evidence: Evidence::tool_output(text!("dns.get#1"), "2026-03-01T09:58:00Z".parse()?),
        routing: Routing { task_class: TaskClass::Create, tools: ToolsOk },
    }
    .seal();
    let start: Instant = "2026-03-01T10:00:00Z".parse()?;
    let setup = || Ok::<_, Invalid>(Setup::new("corr_www".parse()?, &envelope, move || start));
    let mut lines = first_process(setup()?.start()?, &envelope)?;
    let more = second_process(setup()?, &lines)?;
    lines.extend(more);
    Ok(lines.join("\n"))
}

#[allow(dead_code, reason = "the tests take the log alone")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", log()?);
    Ok(())
}
