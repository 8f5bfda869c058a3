//! Governed write: an agent with real tools that it can only call through the gate.
//!
//! ```text
//! cargo run --example governed_write -- --audit DIR
//! ```
//!
//! The agent is to raise a connection pool from 50 to 80. It reads the setting first, because it may act only on
//! verified assumptions; then it writes, under a token. Both tools are on a server of the Model Context Protocol, a
//! child process that keeps settings in a file: this very program, run as `governed_write --serve FILE`.
//!
//! The episode orders a task, and `gate.run(task).await` returns its result. In between the gate asks the server for
//! its tools, checks the arguments against the tool's schema, checks the operator's allowlist and grants, and asks
//! somebody to confirm the write; it records the intent, calls the tool, records the outcome, and types the answer. No
//! agent can change the settings in `operator.rs`.
//!
//! Afterwards `DIR` has the episode, the audit log and its key. Run it again with the same `DIR`: the pool is no longer
//! 50, and the agent leaves it alone.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

mod operator;
#[path = "../config_store/server.rs"]
mod server;

use std::error::Error;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use omen::facts::{
    Budgets, Epistemics, Inferred, Operational, Quality, Risk, Routing, Stakes, adversariality, impact,
    irreversibility, uncertainty,
};
use omen::packet::TaskClass;
use omen::prelude::*;
use omen::{Instant, json};
use omen_gate::Gate;
use serde_json::Value;

// Tools as the episode knows them: their names are those that the server lists.
tool!(ConfigGet = "config.get", Read);
tool!(ConfigSet = "config.set", Write);
scope!(RaisePool: tools [ConfigSet], operations [Modify]);

const POOL: &str = "pool.orders.max";
const BEFORE: &str = "50";
const AFTER: &str = "80";

type Failure = Box<dyn Error + Send + Sync>;

/// Agent: receives an episode that has not begun, and ends with a closed one.
async fn agent(
    gate: &Gate,
    episode: Episode<Idle>,
    envelope: &Envelope<HighStakes, Superb, ToolsOk>,
) -> Result<Closed, Failure> {
    let episode = episode
        .observe(Observation::user_input(Observed, fields!({ "ask": "raise the pool `orders` to 80" })))
        .believe(Belief::new("db", POOL, BEFORE));

    // Verify first: a plan, and a directive to read. The gate carries it out.
    let (plan, unchanged) =
        Plan::one(Target::tool(text!("nobody else has changed the pool"), text!("config.get reports 50"), ConfigGet));
    let read = Directive::new(ConfigGet, op::Read, fields!({ "key": POOL })).timeout_seconds(10).ready();
    let (episode, [task]) = episode.verify_first(arbitrate("verify")?, envelope)?.verify(plan)?.execute([read])?;
    let result = gate.run(task).await;
    let found = member(&result, "value").unwrap_or("unknown").to_owned();
    println!("the pool is {found}");
    let (episode, proof) = episode
        .settle([result])?
        .observe(Observation::tool_output(Observed, "config.get", fields!({ "pool.orders.max": found })))
        .believe(Belief::revision("db", POOL, BEFORE, found.as_str()));

    // The assumption was wrong: somebody else has changed the pool.
    if found != BEFORE {
        println!("it was to be {BEFORE}, so it is left alone");
        let episode = episode.cancel(arbitrate("leave")?, envelope).believe(Belief::new("db", "pool.raised", false));
        return Ok(episode.close()?);
    }

    // Decide again, based on the proof, and authorize one write.
    let order = arbitrate("raise")?.to_act().relies_on(proof.verifies(unchanged));
    let (episode, [permit]) =
        episode.act(order, envelope)?.authorize::<RaisePool, 1>(TokenSpec::new(300, text!("ticket OPS-77")))?;
    // Confirmation takes time, which counts.
    let write = Directive::new(ConfigSet, op::Modify, fields!({ "key": POOL, "value": AFTER }));
    let (episode, [task]) = episode.execute([write.timeout_seconds(120).with(permit)])?;
    let result = gate.run(task).await;

    // The new belief is the value that the tool reports. If the call was refused, nothing has changed.
    let now = member(&result, "after").unwrap_or(BEFORE).to_owned();
    println!("the pool is {now}");
    let episode = episode.settle([result])?;
    Ok(episode.review(Belief::revision("db", POOL, BEFORE, now)).close()?)
}

/// Veto, feasibility, tradeoff: a decision without all three does not compile.
fn arbitrate(option: &str) -> Result<Ruling, NothingLeft> {
    let feasible = Arbitration::of([option, "restart"]).veto(|option| option.id != "restart")?.feasible(|_| true)?;
    Ok(feasible.tradeoff(Tradeoff::SafetyFirst, &text!("the smallest step that helps")))
}

/// Member of a tool's answer. The gate has typed it.
fn member<'r>(result: &'r Settled, name: &str) -> Option<&'r str> {
    result.data()?.get(name)?.as_str()
}

/// Runs the agent. `dir` receives the episode, the audit log and its key.
async fn governed(dir: &Path) -> Result<(), Failure> {
    fs::create_dir_all(dir)?;
    // Initial state of the world: as the last run has left it.
    let settings = dir.join("settings.json");
    if !settings.exists() {
        fs::write(&settings, json!({ POOL: BEFORE }).to_string())?;
    }
    let gate = operator::gate(dir, &settings).await?;

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
        evidence: Evidence::user_observation(text!("ticket OPS-77"), now().into()),
        routing: Routing { task_class: TaskClass::Create, tools: ToolsOk },
    }
    .seal();

    // An episode's id is the id of its turn in the audit log, and must be unique across runs.
    let id = format!("corr_orders-pool-{}", SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis());
    let log = File::options().append(true).create(true).open(dir.join("episode.jsonl"))?;
    let episode = Setup::new(id.parse()?, &envelope, now).log(JsonLines(log)).start()?;
    let closed = agent(&gate, episode, &envelope).await?;
    gate.closed(&closed);
    println!("the episode `{}` is closed; the audit log says of it:", closed.correlation_id());
    tell(&dir.join("audit.jsonl"), closed.correlation_id().as_str())?;

    let dir = dir.display();
    println!("\nnext: cargo run -p omen-cli --bin omen -- check {dir}/episode.jsonl");
    println!("      cargo run -p omen-cli --bin omen -- audit verify --key-file {dir}/audit.key {dir}/audit.jsonl");
    println!("      change a byte of {dir}/audit.jsonl, and verify it again");
    Ok(())
}

/// Prints the audit log's entries of a turn.
fn tell(log: &Path, turn: &str) -> Result<(), Failure> {
    for line in fs::read_to_string(log)?.lines() {
        let entry: Value = serde_json::from_str(line)?;
        let text = |pointer: &str| entry.pointer(pointer).and_then(Value::as_str);
        if text("/turn") == Some(turn) {
            let sequence = entry.pointer("/sequence").and_then(Value::as_u64).unwrap_or_default();
            let kind = text("/kind").unwrap_or_default();
            let what = text("/data/tool/tool")
                .map_or_else(|| format!("ran: {}", text("/data/ran").unwrap_or("?")), str::to_owned);
            println!("  {sequence:>3} {kind:<13}{what}");
        }
    }
    Ok(())
}

/// Machine's clock, in whole seconds.
fn now() -> Instant {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Instant::default().plus_seconds(since.as_secs())
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    // The tool server ends with this process in any case.
    omen_gate::mcp::guard_servers();
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    match args.as_slice() {
        [flag, file] if flag == "--serve" => {
            server::serve(file.into(), (tokio::io::stdin(), tokio::io::stdout())).await
        }
        [flag, dir] if flag == "--audit" => governed(Path::new(dir)).await,
        [] => governed(&std::env::temp_dir().join(format!("omen-governed-write-{}", std::process::id()))).await,
        _ => Err("usage: governed_write [--audit DIR]".into()),
    }
}
