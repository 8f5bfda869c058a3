//! `--format` and `--output` of `omen check`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::FindingArgs;
use crate::exit::Failure;
use crate::formats::{self, Format};

#[derive(Debug, Args)]
pub(crate) struct FormatArgs {
    /// The format of standard output [default: human]
    #[arg(long, value_name = "FORMAT", value_parser = formats::parser())]
    pub(crate) format: Option<&'static Format>,

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
        if self.findings.pretty.is_some() && format.name != formats::DEFAULT.name {
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
    pub(crate) format: &'static Format,
    /// Path of the file; `None` for standard output.
    pub(crate) file: Option<PathBuf>,
}

impl FromStr for OutputArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, file) = text.split_once('=').ok_or("expected FORMAT=FILE, such as sarif=omen.sarif")?;
        let format = formats::by_name(name).ok_or_else(|| {
            let names: Vec<&str> = formats::ALL.iter().map(|format| format.name).collect();
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
    pub(crate) fn stdout(&self) -> &'static Format {
        let dash = self.outputs.iter().find(|output| output.file.is_none()).map(|output| output.format);
        dash.or(self.format).unwrap_or(formats::DEFAULT)
    }
}
