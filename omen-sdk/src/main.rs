//! The command `omen`: see `omen --help`, and the modules under `cli`.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(std::env::args_os())
}
