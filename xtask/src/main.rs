//! `cargo xtask`: what people would else do by hand.

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::referee;

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "What people would else do by hand")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Compare the packet readers with an independent JSON Schema validator on mutated packets
    Referee(referee::Options),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Referee(options) => referee(&options),
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
