//! Arguments that select the findings that `omen check` reports and shows.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct FindingArgs {
    /// In the formats `human` and `markdown`, show every finding, including those that follow from another and repetitions on a line
    #[arg(long)]
    pub(crate) all: bool,

    /// In every format, show only root causes: omit findings that follow from another; the totals count all
    ///
    /// Without it, the formats `human` and `markdown` count them, `sarif` has them as notes, and `gitlab` as issues of severity `info`.
    #[arg(long, conflicts_with = "all")]
    pub(crate) roots: bool,

    /// In the format `human`, show only the findings in this line, each with its entire packet, indented; the totals count all
    #[arg(long, value_name = "LINE")]
    pub(crate) pretty: Option<NonZeroU64>,

    /// The maximum number of findings to show; the totals count all [default: 1000 in the format `human`, no limit in the others]
    #[arg(long, value_name = "N", value_parser = number)]
    pub(crate) max_findings: Option<u64>,
}

impl FindingArgs {
    /// Returns the maximum number of shown findings, for people or for programs.
    pub(crate) fn most(self, is_for_people: bool) -> Option<u64> {
        self.max_findings.or(is_for_people.then_some(MOST_FOR_PEOPLE))
    }
}

/// Parses a number of findings.
fn number(text: &str) -> Result<u64, &'static str> {
    text.parse().map_err(|_| "expected a number of findings, at least 0; omit the option to use the default")
}

/// Default limit for people, who would not read more findings.
const MOST_FOR_PEOPLE: u64 = 1000;

/// Arguments for the baseline of `omen check`.
#[derive(Debug, Args)]
pub(crate) struct BaselineArgs {
    /// Report only findings that FILE does not list, and exit with 1 only for these
    ///
    /// A finding is identified by the path of its log, its code, episode and packet, and its location in the packet,
    /// so lines may be inserted and appended. If it occurs more often than FILE says, it is reported. Findings
    /// that follow from an omitted finding are omitted, too.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,

    /// Write the findings to the file of `--baseline`, and report none
    ///
    /// Entries for logs that are not read are kept, unless the log no longer exists.
    #[arg(long, conflicts_with = "follow")]
    pub(crate) write_baseline: bool,
}
