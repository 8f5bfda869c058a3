//! `cargo xtask`: what people would else do by hand.

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::{bench, ci, docs, expand, referee, rustdoc, walk};

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "What people would else do by hand")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run all of CI
    Ci,
    /// Fill the generated parts of the pages in docs
    Docs,
    /// Print the generated code
    Expand(expand::Options),
    /// Compare the packet readers with an independent JSON Schema validator on mutated packets
    Referee(referee::Options),
    /// Walk at random over the typed API, and judge and resume what it writes
    Walk(walk::Options),
    /// Measure how fast a log is judged, or what the gate costs
    Bench(bench::Options),
}

fn main() -> ExitCode {
    if let Some(code) = rustdoc::stand_in() {
        return code;
    }
    let done = match Arguments::parse().task {
        Task::Ci => ci::run(&mut std::io::stdout()),
        Task::Docs => docs::write().map(|()| ExitCode::SUCCESS),
        Task::Expand(options) => expand::command(&options, &mut std::io::stdout().lock()),
        Task::Referee(options) => referee(&options),
        Task::Walk(options) => walk(&options),
        Task::Bench(options) => bench::command(&options, &mut std::io::stdout()),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            // Nothing is left to do if even this cannot be written.
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
