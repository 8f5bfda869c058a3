//! Arguments and help text of `omen gate check`.

use std::path::PathBuf;

use clap::Args;

use super::FileFormat;

#[derive(Debug, Args)]
pub(crate) struct GateCheckArgs {
    /// The configuration of the gate: a regular file, in TOML
    #[arg(long, value_name = "FILE", default_value = "gate.toml")]
    pub(crate) config: PathBuf,

    /// The tools of the servers, as `omen gate catalog` prints them: rules on arguments are checked against their schemas
    #[arg(long, value_name = "FILE")]
    pub(crate) catalog: Option<PathBuf>,

    /// The output format; `json` and `sarif` print one object
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: FileFormat,
}

macro_rules! exit_codes {
    () => {
        "\
Exit codes:
  0  a gate can start with this configuration (there may be warnings)
  1  errors found
  2  usage error
  3  the configuration could not be read, or the output could not be written"
    };
}

pub(crate) const CHECK_EXIT_CODES: &str = exit_codes!();

pub(crate) const CHECK_HELP: &str = concat!(
    "\
The text is checked first: every error is reported with its line and column. If there are none, what the text \
     refers to is checked: whether the key can be read, and only by its owner; whether the log can be written; \
     whether the programs of the servers exist. Warnings report listed tools that cannot be called, because \
     they lack a pin, lack a grant for a permission or have one that has expired; folders in `under` that do \
     not exist; and order rules that refuse nothing, or that a call can evade by another spelling, another \
     tool or a longer wait.

With `--catalog`, a rule on arguments (`where`) or an order rule is an error if it names a member that the schema \
     of its tool does not have, or if no call can satisfy it. Without `--catalog`, such a tool cannot be \
     called either: the refusal says why.

No server is started, and nothing is written. `omen gate catalog --pins` shows whether the pins match the \
     tools of the servers.

Examples:
  omen gate check --config gate.toml
  omen gate check --config gate.toml --catalog catalog.json
  omen gate check --config gate.toml --format json
  omen gate check --config gate.toml --format sarif > gate.sarif

",
    exit_codes!()
);
