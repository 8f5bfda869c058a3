//! Report that omits folded findings.

use std::io::{self, Write as _};
use std::num::NonZeroU64;
use std::path::Path;

use omen::Summary;

use super::args::FindingArgs;
use super::fold::{Fold, HiddenKinds};
use super::format::{Report, ReportFormat, Totals};
use super::shown::AnyFinding;
use super::{DEFAULT, FOLDED};
use crate::output::Output;

/// A report in any format, with folding applied.
pub(super) struct FoldedReport {
    report: Box<dyn Report>,
    fold: Fold,
    /// Whether to print notes on hidden findings.
    is_talkative: bool,
    /// Line whose findings alone are shown, and whether it had any.
    pretty: Option<(NonZeroU64, bool)>,
}

impl FoldedReport {
    /// Starts a report. Repetitions and limits fold only the default format, since people read every line of it, while the others
    /// are also read by programs. Markdown shows only root causes.
    pub(super) fn start(format: &ReportFormat, args: FindingArgs) -> Box<dyn Report> {
        let is_read = format.name == DEFAULT.name;
        let repetitions = is_read && !args.all;
        let consequences = args.roots || (!args.all && FOLDED.contains(&format.name));
        let fold = Fold::new(HiddenKinds { consequences, repetitions }, args.most(is_read));
        let pretty = args.pretty.filter(|_| is_read).map(|line| (line, false));
        Box::new(Self { report: (format.start)(), fold, is_talkative: is_read, pretty })
    }

    fn say(&self, out: &mut Output, notes: impl IntoIterator<Item = String>) -> io::Result<()> {
        notes.into_iter().filter(|_| self.is_talkative).try_for_each(|note| writeln!(out, "{note}\n"))
    }
}

impl Report for FoldedReport {
    fn begin(&mut self, out: &mut Output) -> io::Result<()> {
        if self.pretty.is_some() {
            out.show_whole_packets();
        }
        self.report.begin(out)
    }

    fn begin_calls(&mut self, out: &mut Output) -> io::Result<()> {
        self.report.begin_calls(out)
    }

    fn file(&mut self, out: &mut Output, path: &Path) -> io::Result<()> {
        self.report.file(out, path)
    }

    fn finding(&mut self, out: &mut Output, path: &Path, found: AnyFinding<'_>, line: Option<&str>) -> io::Result<()> {
        if let Some((number, is_found)) = &mut self.pretty {
            if found.own_line() != Some(number.get()) {
                return Ok(());
            }
            *is_found = true;
        }
        let (notes, is_shown) = self.fold.finding(found);
        self.say(out, notes)?;
        if is_shown { self.report.finding(out, path, found, line) } else { Ok(()) }
    }

    fn unreadable(&mut self, out: &mut Output, path: &Path, reason: &str) -> io::Result<()> {
        self.report.unreadable(out, path, reason)
    }

    fn file_end(&mut self, out: &mut Output, path: &Path, summary: &Summary) -> io::Result<()> {
        let notes = self.fold.end_of_input();
        self.say(out, notes)?;
        self.report.file_end(out, path, summary)
    }

    fn totals(&mut self, out: &mut Output, totals: &Totals<'_>) -> io::Result<()> {
        self.say(out, self.fold.end())?;
        if let Some((number, false)) = self.pretty {
            self.say(out, [format!("note: there is no finding in line {number}")])?;
        }
        self.report.totals(out, totals)
    }
}
