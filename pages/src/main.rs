//! `cargo xtask docs` and `cargo xtask expand`.

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use omen_pages::{docs, expand};

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "Writes the generated parts of the docs, and prints generated code")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Write the generated parts of the pages in docs/, and all compile errors to target/compile-errors.md
    Docs,
    /// Print the generated code
    Expand(expand::Options),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Docs => docs::write().map(|()| ExitCode::SUCCESS),
        Task::Expand(options) => expand::command(&options, &mut std::io::stdout().lock()),
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
