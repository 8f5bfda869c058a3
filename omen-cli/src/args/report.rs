//! Arguments of `omen report`.

use std::path::PathBuf;

use clap::Args;

use super::common::{ClockArgs, ConfigArgs};
use super::levels::LevelArgs;

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The file to write; an existing one is replaced when the new one is complete
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// The subject of the report, such as a run or a release; shown above the verdict
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,

    #[command(flatten)]
    pub(crate) clock: ClockArgs,

    #[command(flatten)]
    pub(crate) levels: LevelArgs,

    #[command(flatten)]
    pub(crate) audit: ReportAuditArgs,

    /// Skip files and directories that match, in the syntax of .gitignore
    #[arg(long, value_name = "PATTERNS", value_delimiter = ',')]
    pub(crate) exclude: Vec<String>,

    /// Report on files in directories even if a .gitignore or .ignore excludes them
    #[arg(long)]
    pub(crate) no_ignore: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    /// Logs, directories with logs, or globs; `-` means standard input [default: `inputs` of omen.toml]
    ///
    /// Each log is reported on its own. Directories are searched as `omen check` searches them.
    #[arg(value_name = "LOG")]
    pub(crate) logs: Vec<PathBuf>,
}

/// Audit log to include, and how to verify it.
#[derive(Debug, Args)]
pub(crate) struct ReportAuditArgs {
    /// The audit log of the gate; its head record is the file `AUDIT.head` next to it
    #[arg(long = "audit", value_name = "AUDIT", requires = "report_key")]
    pub(crate) log: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) key: ReportKeyArgs,

    /// A regular file with an anchor of the audit log
    #[arg(long, value_name = "FILE", requires = "log")]
    pub(crate) anchor: Option<PathBuf>,
}

/// Source of the audit log's key. It is optional, as is the audit log.
#[derive(Debug, Args)]
#[group(id = "report_key", multiple = false)]
pub(crate) struct ReportKeyArgs {
    /// A file with the key in hexadecimal digits, readable by its owner only
    #[arg(long, value_name = "FILE", requires = "log")]
    pub(crate) key_file: Option<PathBuf>,

    /// An environment variable with the key in hexadecimal digits
    #[arg(long, value_name = "NAME", requires = "log")]
    pub(crate) key_env: Option<String>,
}

pub(super) const HELP: &str = concat!(
    "\
The report is a single HTML file, which needs neither a network nor a server. It shows the verdict, each \
     rejected packet, each episode as a timeline, and what was not checked.

Inputs, excludes, severities and the time are taken from omen.toml, as in `omen check`.

Examples:
  omen report -o report.html monday.jsonl tuesday.jsonl
  omen report -o report.html --title Nightly logs/
  omen report -o report.html --audit audit.jsonl --key-file audit.key episode.jsonl

",
    exit_codes!()
);
