//! Arguments of `omen hook`, and their help.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use omen_hook::Dialect;

#[derive(Debug, Subcommand)]
pub(crate) enum HookCommand {
    /// Answer one event of a coding agent: the hook itself
    #[command(after_help = RUN_EXIT_CODES, after_long_help = RUN_HELP)]
    Run(HookRunArgs),

    /// Print the tools of a coding agent, or entries for the allowlist
    #[command(after_long_help = TOOLS_HELP)]
    Tools(HookToolsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct HookRunArgs {
    /// The coding agent whose hook this is: its events are read, and answered, in its own dialect
    #[arg(long, value_name = "AGENT", value_parser = agents())]
    pub(crate) agent: String,

    /// The configuration of the gate: a regular file, in TOML
    #[arg(long, value_name = "FILE", default_value = "gate.toml")]
    pub(crate) config: PathBuf,

    /// The tools of MCP servers, as `omen gate catalog` prints them; without it, no tool of theirs is allowed
    #[arg(long, value_name = "FILE")]
    pub(crate) catalog: Option<PathBuf>,

    /// The folder below which calls may be made [default: the folder of the configuration]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) root: Option<PathBuf>,

    /// The agent's timeout for a hook, in seconds; the call is denied at 80 % of it [default: that of the agent]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) timeout: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct HookToolsArgs {
    /// The coding agent
    #[arg(value_name = "AGENT", value_parser = agents())]
    pub(crate) agent: String,

    /// Print entries for the allowlist, with pins, and their grants instead of the catalogue
    #[arg(long)]
    pub(crate) pins: bool,
}

fn agents() -> PossibleValuesParser {
    PossibleValuesParser::new(Dialect::agents())
}

/// A macro, because `concat!` takes no constants.
macro_rules! exit_codes {
    () => {
        "\
Exit codes:
  0  the answer is on standard output, in the dialect of the agent; nothing there means no objection
  2  the call is denied, or a call ran that was not allowed; the reason is on standard error"
    };
}

const RUN_EXIT_CODES: &str = exit_codes!();

const RUN_HELP: &str = concat!(
    "\
The event is read from standard input. Before a tool, the gate decides as it does in `omen gate proxy`: \
     to it, the agent is a server with the agent's name, whose tools are `claude-code/Bash` and others. A patch is \
     judged file by file. After a tool, the outcome is recorded with its call. Any failure \
     denies the call: an unknown event, an unusable configuration or log, a panic, a timeout.

A call that ran although it was denied, without a decision, or with other arguments is an entry of its \
     own in the audit log, which `omen audit verify --policy` reports.

Examples:
  omen hook run --agent claude-code --config gate.toml < event.json
  omen hook run --agent codex --config gate.toml --root /home/dev/project

",
    exit_codes!()
);

const TOOLS_HELP: &str = "\
The pins are over the names and arguments of the tools that this version knows; the agent is not started.

Examples:
  omen hook tools claude-code > catalog.json
  omen hook tools codex --pins > review.toml

Exit codes:
  0  the tools were printed
  2  usage error
  3  the output could not be written";
