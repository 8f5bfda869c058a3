//! The `omen` command: see `omen --help`. Each subcommand is a module called by `run`; shared code is in `args`, `config`,
//! `exit`, `formats`, `input` and `output`. The arguments are parsed into the types of these modules, none of which knows `args`.
//!
//! Architecture invariant: no verdict is made here. The libraries check; the command prints.
//! Architecture invariant: only `output` writes to standard output.

mod args;
mod audit;
mod check;
mod check_ahead;
mod completions;
mod config;
mod diff;
mod exit;
mod explain;
mod fix;
mod formats;
mod gate;
mod graph;
mod hook;
mod input;
mod jsonc;
mod logs;
mod lsp;
mod man;
#[cfg(feature = "nats")]
mod nats;
mod new;
mod output;
mod quoting;
mod report;
mod rules;
mod run;
mod schema;
mod stop;
mod text_edit;
mod trace;

use std::process::ExitCode;

fn main() -> ExitCode {
    // `omen gate catalog` starts servers, which must end with this process, however it ends.
    omen_gate::mcp::guard_servers();
    run::run(std::env::args_os())
}
