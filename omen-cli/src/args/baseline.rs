//! `--baseline` of `omen check`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct BaselineArgs {
    /// Report only findings that FILE does not list, and exit with 1 for these only
    ///
    /// A finding is recognised by the path of its log, its code, its episode, its packet and its place in the packet,
    /// so lines may be inserted and appended. If it occurs more often than FILE says, it is reported. What follows
    /// from a finding that is left out is left out, too.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,

    /// Write the findings to the file of `--baseline`, and report none
    ///
    /// Entries on logs that are not read stay, unless the log does not exist any more.
    #[arg(long, conflicts_with = "follow")]
    pub(crate) write_baseline: bool,
}
