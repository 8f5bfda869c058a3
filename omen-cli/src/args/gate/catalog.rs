//! Arguments and help text of `omen gate catalog`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct CatalogArgs {
    /// The configuration of the gate: a regular file, in TOML
    #[arg(long, value_name = "FILE", default_value = "gate.toml")]
    pub(crate) config: PathBuf,

    /// Write the catalogue to a file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Print allowlist entries with pins, and their grants, instead of the catalogue
    #[arg(long)]
    pub(crate) pins: bool,
}

macro_rules! exit_codes {
    () => {
        "\
Exit codes:
  0  every server that has a `command` listed its tools
  2  usage error
  3  the configuration is invalid, a server failed, or the output could not be written"
    };
}

pub(crate) const CATALOG_EXIT_CODES: &str = exit_codes!();

pub(crate) const CATALOG_HELP: &str = concat!(
    "\
The catalogue is one JSON object, {\"server\": [tool, …]}. If a server fails, no catalogue is written: with a \
     gap, the server would look as if it had no tools. No tool is called. A server without a `command` runs \
     inside your program and is skipped; the program can write its part of the catalogue.

A pin is a hash of a tool's name, description and schemas. Adding a pin to the allowlist approves the tool, so \
     review it first. You fill in the permissions; what a server claims about its tools grants nothing.

Examples:
  omen gate catalog --config gate.toml --out catalog.json
  omen gate catalog --config gate.toml --out catalog.json --pins > review.toml

",
    exit_codes!()
);
