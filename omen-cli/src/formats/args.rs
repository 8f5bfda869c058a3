//! Options of `omen check` for its formats, and for the findings that they show.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::format::ReportFormat;
use super::{ALL, DEFAULT, by_name, parser};
use crate::exit::Failure;

#[derive(Debug, Args)]
pub(crate) struct FormatArgs {
    /// The format of standard output [default: human]
    #[arg(long, value_name = "FORMAT", value_parser = parser())]
    pub(crate) format: Option<&'static ReportFormat>,

    /// Also write a report to a file; may be repeated
    ///
    /// FORMAT is one of those of `--format`. The file is replaced when the report is complete, and left as it is if the
    /// command fails before. `-` means standard output, in place of `--format`.
    #[arg(long = "output", value_name = "FORMAT=FILE")]
    pub(crate) outputs: Vec<OutputArg>,

    #[command(flatten)]
    pub(crate) findings: FindingArgs,
}

impl FormatArgs {
    /// Refuses `--pretty` and `--statistics` in formats that do not support them.
    pub(crate) fn refuse_unsupported(&self, has_statistics: bool) -> Result<(), Failure> {
        let format = self.stdout();
        if self.findings.pretty.is_some() && format.name != DEFAULT.name {
            let message = format!("`--pretty` shows a packet to people; omit `--format {}`", format.name);
            return Err(Failure::Usage(message));
        }
        if has_statistics && !format.is_for_people && format.name != "json" {
            let message = format!("`--statistics` is a table or JSON; omit `--format {}`", format.name);
            return Err(Failure::Usage(message));
        }
        Ok(())
    }
}

/// `FORMAT=FILE`
#[derive(Clone, Debug)]
pub(crate) struct OutputArg {
    pub(crate) format: &'static ReportFormat,
    /// Path of the file; `None` for standard output.
    pub(crate) file: Option<PathBuf>,
}

impl FromStr for OutputArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, file) = text.split_once('=').ok_or("expected FORMAT=FILE, such as sarif=omen.sarif")?;
        let format = by_name(name).ok_or_else(|| {
            let names: Vec<&str> = ALL.iter().map(|format| format.name).collect();
            format!("invalid format `{name}`; expected one of {}", names.join(", "))
        })?;
        match file {
            "" => Err(format!("expected a file after `{name}=`")),
            "-" => Ok(Self { format, file: None }),
            file => Ok(Self { format, file: Some(PathBuf::from(file)) }),
        }
    }
}

impl FormatArgs {
    /// Returns the format for standard output.
    pub(crate) fn stdout(&self) -> &'static ReportFormat {
        let dash = self.outputs.iter().find(|output| output.file.is_none()).map(|output| output.format);
        dash.or(self.format).unwrap_or(DEFAULT)
    }
}

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
