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
First the text is checked: every error is reported with its line and column. If there is none, what the \
     text refers to is checked: whether the key can be read, and by its owner only; whether the log can be \
     written; whether the programs of the servers exist. Warnings are about tools that are listed and \
     cannot be called: without a pin, without a grant for each permission, or with one that has expired; and \
     about folders in `under` that do not exist; and about rules on order that refuse nothing, or that a call can \
     evade by another spelling, another tool or a longer wait.

With `--catalog`, a rule on arguments (`where`) or on order that names a member which the schema of its tool does \
     not have, or that no call can satisfy, is an error. Without it, such a tool is not called, either: the \
     refusal says why.

No server is started, and nothing is written. Whether the pins fit the tools of the servers is what \
     `omen gate catalog --pins` shows.

Examples:
  omen gate check --config gate.toml
  omen gate check --config gate.toml --catalog catalog.json
  omen gate check --config gate.toml --format json
  omen gate check --config gate.toml --format sarif > gate.sarif

",
    exit_codes!()
);
