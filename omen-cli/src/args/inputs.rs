//! Arguments of `omen check` for its inputs, its baseline and the amount of its output.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::order::OrderArgs;
use crate::input::{Layout, LogFormat, Wrapping};

#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// How packets are laid out
    #[arg(long = "input", value_name = "LAYOUT", value_enum, default_value_t)]
    layout: LayoutArg,

    /// Read the packet of each line from the field at a JSON pointer, such as /log, as an object or as text
    ///
    /// For packets that a container or a log collector has wrapped in its own objects. A line without the field is checked
    /// as it is.
    #[arg(long, value_name = "POINTER", value_parser = pointer, conflicts_with = "prefix")]
    pub(crate) field: Option<String>,

    /// Skip the text before the packet in each line, such as `2026-11-24T10:00:00Z stdout F `
    #[arg(long)]
    pub(crate) prefix: bool,

    /// Skip files and directories that match, in the syntax of .gitignore
    ///
    /// Only files found in a directory or by a glob are skipped; a file that is given by name is always checked.
    #[arg(long, value_name = "PATTERNS", value_delimiter = ',')]
    pub(crate) exclude: Vec<String>,

    /// Check files in directories even if a .gitignore or .ignore excludes them
    #[arg(long)]
    pub(crate) no_ignore: bool,

    /// Check all files as one rotated log: episodes continue from one file to the next
    ///
    /// Files are joined in their order. Those that have one name and numbers or dates after it, as logrotate names them, are
    /// joined from the highest number down (a.jsonl.2.gz, a.jsonl.1, a.jsonl), or by date (a.jsonl.2026-03-01, a.jsonl).
    #[arg(long, conflicts_with = "follow")]
    pub(crate) join: bool,

    /// Keep checking what is appended to the logs, until SIGINT (Ctrl-C) or SIGTERM
    ///
    /// A log that is replaced by a new file, or truncated, continues in the new content, and so do its
    /// episodes. What is still open when the command stops is not reported.
    #[arg(long, visible_alias = "watch")]
    pub(crate) follow: bool,

    /// With `--follow`, store in FILE how far the logs are checked, and continue from there after a restart
    ///
    /// The file is written once a second while there is something new, and at the end. After a kill, the
    /// findings of the last second may be reported again; none is lost. The totals continue.
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) order: OrderArgs,

    /// Print findings only: no totals, notes or progress
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Print the number of findings by code and packet type instead of the findings
    #[arg(long, conflicts_with = "outputs")]
    pub(crate) statistics: bool,

    /// Exit with 0 even if there are errors, unless an input could not be read
    #[arg(long)]
    pub(crate) exit_zero: bool,

    /// Exit with 3 if the inputs have no packets, such as an empty directory
    #[arg(long, conflicts_with = "follow")]
    pub(crate) fail_on_empty: bool,

    /// Logs, directories with logs, or globs; `-` means standard input [default: -]
    ///
    /// Each log is checked on its own. In a directory, *.jsonl, *.ndjson and *.json are checked, also with
    /// .gz or .zst appended, unless they are hidden or a .gitignore excludes them. A file that is given by
    /// name is always checked. Compressed logs are recognised by their first bytes.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

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

/// Argument for the layout of packets.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum LayoutArg {
    /// `array` if the first value does not end on the first line, otherwise `lines`
    #[default]
    Auto,
    /// JSON Lines: one packet on each line
    Lines,
    /// A JSON array of packets, or packets one after the other, with any whitespace
    Array,
}

impl InputArgs {
    /// Returns the layout of packets.
    pub(crate) fn layout(&self) -> Layout {
        match self.layout {
            LayoutArg::Auto => Layout::Auto,
            LayoutArg::Lines => Layout::Lines,
            LayoutArg::Array => Layout::Array,
        }
    }

    /// Returns the format of the logs.
    pub(crate) fn format(&self) -> LogFormat {
        let prefix = self.prefix.then_some(Wrapping::Prefix);
        LogFormat { layout: self.layout(), wrapping: prefix.or_else(|| self.field.clone().map(Wrapping::Field)) }
    }
}

/// Parses a JSON pointer to a field.
fn pointer(text: &str) -> Result<String, &'static str> {
    if text.starts_with('/') { Ok(text.to_owned()) } else { Err("expected a JSON pointer, such as `/log`") }
}
