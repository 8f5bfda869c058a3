//! The command `omen`: see `omen --help`, and the modules under `cli`.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    // `omen gate catalog` starts servers. Whatever becomes of this process, they end with it.
    omen::gate::mcp::guard_servers();
    cli::run(std::env::args_os())
}
