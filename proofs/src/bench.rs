//! Benchmarks: the speed of validation compared with that of skipping a log, and the cost of the typed API and the gate.
//!
//! All measurements run in one process, on one corpus generated from a seed, and in one thread unless stated otherwise. They
//! alternate round by round, so other load on the machine affects all of them alike. Only ratios within one run are comparable.

use std::process::ExitCode;
use std::{env, fmt, io};

use serde::Serialize;

mod agent;
pub mod allocations;
pub mod corpus;
pub mod editor;
pub mod episode;
pub mod gate;
mod hand;
pub mod hook;
mod measure;
mod memory;
pub mod order;
mod programs;
pub mod proxy;
mod report;
mod samples;
pub mod scaling;
pub mod workers;

pub use report::Report;

use crate::Failure;
use corpus::Kind;
use samples::Samples;

/// Options of the benchmarks.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Measure the cost of the gate: calls, the audit log, its verification, and calls through `omen gate proxy`
    #[arg(long)]
    gate: bool,
    /// Measure the cost of the typed API: packets, leases of tasks, and dropping an episode
    #[arg(long, conflicts_with = "gate")]
    episode: bool,
    /// Measure the time from an edit in an editor to its findings from `omen lsp`
    #[arg(long, conflicts_with_all = ["gate", "episode"])]
    editor: bool,
    /// Measure how the speed of validation depends on the number of episodes and on how many are interleaved
    #[arg(long, conflicts_with_all = ["gate", "episode", "editor"])]
    scaling: bool,
    /// Measure the workers: speed compared with `omen check`, lag, recovery and memory; with nats-server at `OMEN_NATS_SERVER`
    #[arg(long, conflicts_with_all = ["gate", "episode", "editor", "scaling"])]
    workers: bool,
    /// Measure the order rules: decisions by the number of rules, and the memory of a session
    #[arg(long, conflicts_with_all = ["gate", "episode", "editor", "scaling", "workers"])]
    order: bool,
    /// Measure the hooks of coding agents: the delay before each tool, with and without `omen hook serve`
    #[arg(long, conflicts_with_all = ["gate", "episode", "editor", "scaling", "workers", "order"])]
    hook: bool,
    #[command(flatten)]
    of_workers: workers::Arguments,
    /// Write one JSON object instead of a table
    #[arg(long)]
    json: bool,
    /// Number of rounds; the report shows medians
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Number of episodes in the corpus; about 10 kB each
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    episodes: u64,
    /// Seed of the corpus
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Measure the memory of this many open episodes in this process
    #[arg(long, hide = true)]
    child_open_episodes: Option<u64>,
    /// Measure the memory of this many ended episodes in this process
    #[arg(long, hide = true)]
    child_closed_episodes: Option<u64>,
    /// With --gate: measure only calls through `omen gate proxy`
    #[arg(long, requires = "gate")]
    proxy_only: bool,
    /// Act as a stand-in server, on the standard streams
    #[arg(long, hide = true)]
    child_server: bool,
}

/// Runs the benchmark and writes its report.
///
/// # Errors
/// If it was built without optimizations, if the corpus has findings, or if a child process fails.
pub fn command(options: &Options, out: &mut impl io::Write) -> Result<ExitCode, Failure> {
    if options.child_server {
        proxy::server::serve(io::stdin().lock(), out)?;
        return Ok(ExitCode::SUCCESS);
    }
    if cfg!(debug_assertions) {
        return Err("the benchmark was built without optimisations; run `cargo xtask bench`".into());
    }
    let children = [(options.child_open_episodes, Kind::Open), (options.child_closed_episodes, Kind::Closed)];
    for (episodes, kind) in children {
        if let Some(episodes) = episodes {
            writeln!(out, "{}", memory::growth(options.seed, kind, episodes)?)?;
            return Ok(ExitCode::SUCCESS);
        }
    }
    if options.gate {
        let counts = gate::Counts { rounds: options.rounds, ..gate::Counts::default() };
        let gate = (!options.proxy_only).then(|| gate::run(&counts)).transpose()?;
        let own = env::current_exe()?;
        let programs = proxy::Programs {
            omen: programs::built(&own, &[])?,
            server: vec![own.into(), "bench".into(), "--child-server".into()],
            official: env::var_os("OMEN_MCP_SERVERS").map(Into::into),
        };
        let counts = proxy::Counts { rounds: options.rounds, ..proxy::Counts::default() };
        return show(&Both { gate, proxy: proxy::run(&counts, &programs)? }, options.json, out);
    }
    if options.episode {
        let counts = episode::Counts { rounds: options.rounds, ..episode::Counts::default() };
        return show(&allocations::of_the_typed_api(&counts)?, options.json, out);
    }
    if options.editor {
        let counts = editor::EditorCounts { seed: options.seed, ..editor::EditorCounts::default() };
        let report = editor::run(counts, &programs::built(&env::current_exe()?, &[])?)?;
        let kept = report.logs.iter().all(editor::EditedLog::is_kept);
        let shown = show(&report, options.json, out)?;
        return Ok(if kept { shown } else { ExitCode::FAILURE });
    }
    if options.hook {
        let report = hook::run(hook::HookCounts::default(), &programs::built(&env::current_exe()?, &[])?)?;
        let kept = report.hooks.iter().all(hook::MeasuredHook::is_kept);
        let shown = show(&report, options.json, out)?;
        return Ok(if kept { shown } else { ExitCode::FAILURE });
    }
    if options.order {
        let counts = order::OrderCounts { rounds: options.rounds, ..order::OrderCounts::default() };
        return show(&order::run(&counts)?, options.json, out);
    }
    if options.workers {
        let packets = (options.seed, options.rounds, options.episodes);
        return show(&workers::command(&options.of_workers, packets)?, options.json, out);
    }
    if options.scaling {
        return show(&scaling::run(options.seed, scaling::SIZES)?, options.json, out);
    }
    show(&report::run(options.seed, options.episodes, options.rounds)?, options.json, out)
}

/// The gate, in this process and in a proxy.
#[derive(Debug, Serialize)]
struct Both {
    #[serde(flatten)]
    gate: Option<gate::Report>,
    proxy: proxy::Report,
}

impl fmt::Display for Both {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(gate) = &self.gate {
            writeln!(f, "{gate}")?;
        }
        self.proxy.fmt(f)
    }
}

fn show(report: &(impl Serialize + fmt::Display), json: bool, out: &mut impl io::Write) -> Result<ExitCode, Failure> {
    if json {
        serde_json::to_writer(&mut *out, report)?;
        writeln!(out)?;
    } else {
        write!(out, "{report}")?;
    }
    Ok(ExitCode::SUCCESS)
}
