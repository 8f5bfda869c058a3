//! Arguments and help text of `omen gate confirm`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct GateConfirmArgs {
    /// The configuration of the gate, which names the socket
    #[arg(long, value_name = "FILE", default_value = "gate.toml")]
    pub(crate) config: PathBuf,

    /// The socket of the gate, instead of the one in a configuration
    #[arg(long, value_name = "PATH", conflicts_with = "config")]
    pub(crate) socket: Option<PathBuf>,

    /// Wait for a gate that is not running yet, and for the next one when that one stops; the default in a terminal
    #[arg(long, conflicts_with = "list")]
    pub(crate) wait: bool,

    /// Print the waiting calls, and exit
    #[arg(long)]
    pub(crate) list: bool,

    /// Print the gate's lines as JSON and read answers as JSON, for other front ends
    #[arg(long)]
    pub(crate) json: bool,
}

macro_rules! exit_codes {
    () => {
        "\
Exit codes:
  0  the input ended, or the waiting calls were listed; without --wait, also if the gate stopped
  2  usage error
  3  no gate is listening, or it stopped before it accepted an answer"
    };
}

pub(crate) const CONFIRM_EXIT_CODES: &str = exit_codes!();

pub(crate) const CONFIRM_HELP: &str = concat!(
    "\
Shows the calls that are waiting for a confirmation at a gate, one after the other: the tool, what it can do, \
     and the exact arguments. `y` confirms the displayed call, once; `n` denies it, optionally followed by a \
     reason. A call waits for `timeout_seconds` in `[confirm]`, 60 by default, and the prompt shows how much \
     time is left; after that, the call is denied and does not run, and the client is notified. Several people \
     can answer: the first answer counts, and the others are notified. The audit log records who confirmed.

Leave it running in a terminal: it waits for a gate that is started later, for example by a client, and for \
     the next one when that one stops, until Ctrl+D or Ctrl+C. In a script, --wait does the same.

If the displayed call goes away before you answer, the next one must be answered with its number, such as `y \
     7`, so that you never answer a call that you have not read.

With --json, each line is an object with a `type`. Questions have an `id` and a `hash`, and an answer \
     repeats both:

  {\"type\":\"answer\",\"id\":1,\"hash\":\"9f86…\",\"confirm\":true}

Examples:
  omen gate confirm --config gate.toml
  omen gate confirm --wait --json
  omen gate confirm --list --json

",
    exit_codes!()
);
