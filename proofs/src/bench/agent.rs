//! The agent of the benchmarks: it reads a setting.

use std::time::SystemTime;

use crate::Failure;
use omen::*;

tool!(Get = "store/get", Read);

/// Returns an envelope with low stakes.
pub(super) fn envelope() -> Envelope<LowStakes, Par, ToolsOk> {
    omen::facts::OpenEnvelope {
        intent: Intent::new(text!("look after the pool"), text!("database orders")),
        stakes: Stakes {
            impact: impact::Low,
            irreversibility: irreversibility::Reversible,
            uncertainty: uncertainty::Low,
            adversariality: adversariality::Benign,
        },
        quality: Quality::par(text!("the pool is healthy"), ["pool.ok"]),
        budgets: Budgets { tokens: 1_000, tool_calls: 3, seconds: 600, risk: Risk::new(text!("conservative"), 10) },
        epistemics: Epistemics::new(Observed, Operational, unit!(0.9), text!("read from the live configuration")),
        evidence: Evidence::tool_output(text!("store/get"), now().into()),
        routing: Routing { task_class: TaskClass::Lookup, tools: ToolsOk },
    }
    .seal()
}

/// Returns the setup of an episode with its log in memory.
pub(super) fn setup(number: u32) -> Result<Setup, Failure> {
    Ok(Setup::new(format!("corr_{number}").parse()?, &envelope(), now).claims(&Claims::new()))
}

/// Returns a task that reads, and the episode that ordered it, which must outlive the task.
pub(super) fn task(setup: Setup) -> Result<(Episode<Open<Execute, 1>>, Pending), Failure> {
    let ruling = Arbitration::of(["read"])
        .veto(|_| true)?
        .feasible(|_| true)?
        .tradeoff(Tradeoff::SafetyFirst, &text!("it changes nothing"));
    let episode = setup
        .start()?
        .observe(Observation::user_input(Observed, fields!({ "ask": "how large is the pool?" })))
        .believe(Belief::new("db", "pool", 50))
        .act(ruling.to_act(), &envelope())?;
    let order = Directive::new(Get, op::Read, fields!({ "key": "pool" })).timeout_seconds(60).ready();
    let (episode, [task]) = episode.execute([order])?;
    Ok((episode, task))
}

/// # Errors
/// If the task did not succeed.
pub(super) fn succeeded(settled: &Settled) -> Result<(), Failure> {
    match settled.status() {
        omen::packet::ResultStatus::Success => Ok(()),
        _ => Err(format!("the task did not succeed: {settled:?}").into()),
    }
}

fn now() -> Instant {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Instant::default().plus_seconds(since.as_secs())
}
