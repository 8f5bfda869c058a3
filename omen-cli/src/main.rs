//! The command `omen`: see `omen --help`. One module a subcommand; what they share stands in `args`, `input`, `output`
//! and `run`.
//!
//! Architecture invariant: no verdict is made here. The libraries judge, the command shows.
//! Architecture invariant: only `output` writes to standard output.

mod args;
mod audit;
mod check;
mod explain;
mod gate;
mod graph;
mod input;
mod output;
mod rules;
mod run;
mod schema;
mod trace;

use std::process::ExitCode;

use run::{Failure, Outcome, complain};

fn main() -> ExitCode {
    // `omen gate catalog` starts servers. Whatever becomes of this process, they end with it.
    omen_gate::mcp::guard_servers();
    run::run(std::env::args_os())
}
