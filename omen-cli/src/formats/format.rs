//! Interface of the output formats of `omen check` and their reports.

use std::fmt;
use std::io;
use std::path::Path;

use omen::Summary;

use super::left_out::LeftOut;
use super::shown::AnyFinding;
use super::statistics::Statistics;
use crate::output::Output;

/// An output format of `omen check`.
pub(crate) struct ReportFormat {
    /// Name in `--format` and `--output`.
    pub(crate) name: &'static str,
    /// Description for `--help`.
    pub(crate) about: &'static str,
    /// Whether people read it, in which case it may be coloured.
    pub(crate) is_for_people: bool,
    /// Starts the report of one run.
    pub(crate) start: fn() -> Box<dyn Report>,
}

impl fmt::Debug for ReportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Report of one run in one format. It may keep state, but not all findings, of which there may be millions.
///
/// The methods are called in this order: `begin`; for each input `file`, `finding` for each of its findings, `unreadable` if it
/// cannot be read to its end, and `file_end`; finally `totals`.
pub(crate) trait Report {
    /// Writes the part before the first finding.
    fn begin(&mut self, out: &mut Output) -> io::Result<()> {
        let _ = out;
        Ok(())
    }

    /// Same as `begin`, for a report of findings about calls in audit logs.
    fn begin_calls(&mut self, out: &mut Output) -> io::Result<()> {
        self.begin(out)
    }

    /// Begins an input.
    fn file(&mut self, out: &mut Output, path: &Path) -> io::Result<()> {
        let _ = (out, path);
        Ok(())
    }

    /// Writes a finding in the file `path`. `line` is the text of its line, if available.
    fn finding(&mut self, out: &mut Output, path: &Path, found: AnyFinding<'_>, line: Option<&str>) -> io::Result<()>;

    /// Reports that the current input cannot be read to its end. Standard error also states the reason.
    fn unreadable(&mut self, out: &mut Output, path: &Path, reason: &str) -> io::Result<()> {
        let _ = (out, path, reason);
        Ok(())
    }

    /// Ends the current input. The summary covers the part that was read.
    fn file_end(&mut self, out: &mut Output, path: &Path, summary: &Summary) -> io::Result<()> {
        let _ = (out, path, summary);
        Ok(())
    }

    /// Writes the part after the last finding.
    fn totals(&mut self, out: &mut Output, totals: &Totals<'_>) -> io::Result<()>;
}

/// Totals of a run.
#[derive(Debug)]
pub(crate) struct Totals<'s> {
    /// Number of logs that were read to their end.
    pub(crate) files: u64,
    /// Counts over all logs, without omitted findings.
    pub(crate) summary: Summary,
    /// Whether the counted packets are calls in audit logs.
    pub(crate) is_about_calls: bool,
    /// Counts of omitted findings; `None` if there is no baseline and no ignore.
    pub(crate) left_out: Option<LeftOut>,
    /// Counts by code.
    pub(crate) statistics: &'s Statistics,
}
