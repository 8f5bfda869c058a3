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

    /// Wait for a gate that is not running yet, and for the next one when it ends; the default at a terminal
    #[arg(long, conflicts_with = "list")]
    pub(crate) wait: bool,

    /// Print the calls that wait, and exit
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
  0  the input has ended, or what waits was listed; without --wait, also if the gate has ended
  2  usage error
  3  no gate listens, or it ended before it took an answer"
    };
}

pub(crate) const CONFIRM_EXIT_CODES: &str = exit_codes!();

pub(crate) const CONFIRM_HELP: &str = concat!(
    "\
Shows the calls of a gate that wait for a confirmation, one after the other: the tool, what it can do, and \
     the exact arguments. `y` confirms the call that is shown, once; `n` denies it, with the reason behind \
     it, if you give one. A call waits for `timeout_seconds` in `[confirm]`, by default 60, and the prompt shows how \
     long it still does; then it is denied, the client reads that, and nothing ran. Several can answer: the first \
     answer counts, and the others learn that. The audit log records who confirmed.

Leave it running in a terminal: it waits for a gate that is started later, as by a client, and for the next one \
     when that ends, until Ctrl+D or Ctrl+C. From a script, --wait does the same.

If the call that is shown goes away before you answer, the next one is answered with its number, such as \
     `y 7`: an answer must not be for a call that you have not read.

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
