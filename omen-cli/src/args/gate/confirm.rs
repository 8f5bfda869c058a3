//! The arguments of `omen gate confirm`, and their help.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct GateConfirmArgs {
    /// The configuration of the gate, which names the socket
    #[arg(long, value_name = "FILE", default_value = "gate.toml")]
    pub(crate) config: PathBuf,

    /// The socket of the gate, instead of that of a configuration
    #[arg(long, value_name = "PATH", conflicts_with = "config")]
    pub(crate) socket: Option<PathBuf>,

    /// Print what waits, and end
    #[arg(long)]
    pub(crate) list: bool,

    /// Print the lines of the gate as JSON, and read answers as JSON, for other front ends
    #[arg(long)]
    pub(crate) json: bool,
}

/// A macro, because `concat!` takes no constants.
macro_rules! exit_codes {
    () => {
        "\
Exit codes:
  0  the input or the gate has ended, or what waits was listed
  2  usage error
  3  no gate listens, or it ended before it took an answer"
    };
}

pub(crate) const CONFIRM_EXIT_CODES: &str = exit_codes!();

pub(crate) const CONFIRM_HELP: &str = concat!(
    "\
Shows the calls of a gate that wait for a confirmation, one after the other: the tool, what it can do, and \
     the exact arguments. `y` confirms the call that is shown, once; `n` denies it, with the reason behind \
     it, if you give one. What is not answered in time is denied. Several can answer: the first answer \
     counts, and the others are told so. The audit log records who confirmed.

If the call that is shown goes away before you answer, the next one is answered with its number, such as \
     `y 7`: an answer must not be for a call that you have not read.

With --json, each line is an object with a `type`. Questions have an `id` and a `hash`, and an answer \
     repeats both:

  {\"type\":\"answer\",\"id\":1,\"hash\":\"9f86…\",\"confirm\":true}

Examples:
  omen gate confirm --config gate.toml
  omen gate confirm --list --json

",
    exit_codes!()
);
