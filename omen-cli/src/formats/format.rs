//! What an output format of `omen check` is, and what its reports have to do.

use std::fmt;
use std::io;
use std::path::Path;

use omen::Summary;
use omen::finding::Finding;

use super::left_out::LeftOut;
use crate::output::Output;
use crate::statistics::Statistics;

/// An output format of `omen check`: an entry of the registry.
pub(crate) struct Format {
    /// The name that `--format` and `--output` take.
    pub(crate) name: &'static str,
    /// What `--help` says about it.
    pub(crate) about: &'static str,
    /// Whether people read it, so that it may be coloured.
    pub(crate) is_for_people: bool,
    /// Starts the report of one run.
    pub(crate) start: fn() -> Box<dyn Report>,
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The report of one run in one format. It may keep state, but not all findings: there may be millions.
///
/// The calls come in this order: `begin`; for each input `file`, its findings, `unreadable` if it cannot be read (to its end),
/// and `file_end`; `totals`.
pub(crate) trait Report {
    /// Writes what comes before the first finding.
    fn begin(&mut self, out: &mut Output) -> io::Result<()> {
        let _ = out;
        Ok(())
    }

    /// An input begins.
    fn file(&mut self, out: &mut Output, path: &Path) -> io::Result<()> {
        let _ = (out, path);
        Ok(())
    }

    /// Writes one finding in the file `path`. `line` is the text of its line, if there is one.
    fn finding(&mut self, out: &mut Output, path: &Path, finding: &Finding, line: Option<&str>) -> io::Result<()>;

    /// The current input cannot be read, or not to its end. Standard error says so in any case.
    fn unreadable(&mut self, out: &mut Output, path: &Path, reason: &str) -> io::Result<()> {
        let _ = (out, path, reason);
        Ok(())
    }

    /// The current input ends. The summary is that of what was read of it.
    fn file_end(&mut self, out: &mut Output, path: &Path, summary: &Summary) -> io::Result<()> {
        let _ = (out, path, summary);
        Ok(())
    }

    /// Writes what comes after the last finding.
    fn totals(&mut self, out: &mut Output, totals: &Totals<'_>) -> io::Result<()>;
}

/// The totals of a run.
#[derive(Debug)]
pub(crate) struct Totals<'s> {
    /// How many logs were read to their end.
    pub(crate) files: u64,
    /// The counts over all of them, without findings that were left out.
    pub(crate) summary: Summary,
    /// The findings that were left out; `None` if none could be.
    pub(crate) left_out: Option<LeftOut>,
    /// The counts by code.
    pub(crate) statistics: &'s Statistics,
}
