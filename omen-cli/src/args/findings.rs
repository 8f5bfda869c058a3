//! Which findings `omen check` shows.

use clap::Args;

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct FindingArgs {
    /// Show every finding, also those that follow from another and those that repeat on a line
    #[arg(long)]
    pub(crate) all: bool,

    /// The most findings to show; the totals count all [default: 1000 for people, no limit for programs]
    #[arg(long, value_name = "N")]
    pub(crate) max_findings: Option<u64>,
}
