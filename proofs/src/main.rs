//! `cargo xtask referee`, `cargo xtask walk` and `cargo xtask bench`.

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use omen_proofs::{bench, referee, walk};

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "Shows that the crates agree with each other, and how fast they are")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Compare the packet parser with an independent JSON Schema validator on mutated packets
    Referee(referee::Options),
    /// Walk at random over the typed API; validate and resume what it writes
    Walk(walk::Options),
    /// Measure validation (default), the typed API (--episode), the gate (--gate), an editor (--editor) or workers (--workers)
    Bench(bench::Options),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Referee(options) => referee(&options),
        Task::Walk(options) => walk(&options),
        Task::Bench(options) => bench::command(&options, &mut std::io::stdout()),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            // If writing this fails, there is nothing left to do.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn referee(options: &referee::Options) -> Result<ExitCode, Box<dyn std::error::Error + Send + Sync>> {
    let report = referee::run(options)?;
    write!(std::io::stdout(), "{report}")?;
    Ok(if report.disagreements.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn walk(options: &walk::Options) -> Result<ExitCode, Box<dyn std::error::Error + Send + Sync>> {
    let report = walk::run(options)?;
    write!(std::io::stdout(), "{report}")?;
    Ok(if report.faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
