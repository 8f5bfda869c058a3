//! Arguments of `omen diff`.

use std::path::PathBuf;

use clap::Args;

use super::common::Format;

pub(crate) const HELP: &str = "\
OLD and NEW are outputs of `omen check --format json`. Two findings are the same if they agree in log, code, episode,
packet and location in the packet: lines may be inserted before a finding, and its severity and text may change. If
the packet has no readable id, the message is compared instead. Equal findings are counted.

Examples:
  omen diff yesterday.json today.json
  omen check --format json logs/ | omen diff yesterday.json -

Exit codes:
  0  no finding is new
  1  at least one finding is new
  2  usage error
  3  an input could not be read, or the output could not be written";

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The output format; `json` is JSON Lines: findings with their `change`, and a summary at the end
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: Format,

    /// The output of the earlier run: a regular file
    #[arg(value_name = "OLD")]
    pub(crate) old: PathBuf,

    /// The output of the later run; `-` means standard input
    #[arg(value_name = "NEW")]
    pub(crate) new: PathBuf,
}
