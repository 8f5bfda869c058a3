//! One line per finding, with a position that terminals and editors can open.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;

use clap::builder::styling::{AnsiColor, Style};
use omen::finding::Severity;
use omen::render::human::clean;

use super::format::{Report, ReportFormat, Totals};
use super::shown::AnyFinding;
use super::{place, prose};
use crate::input;
use crate::output::Output;

pub(super) const FORMAT: ReportFormat = ReportFormat {
    name: "concise",
    about: "Text, one line per finding",
    is_for_people: true,
    start: || Box::new(Concise),
};

struct Concise;

impl Report for Concise {
    fn finding(&mut self, out: &mut Output, path: &Path, finding: AnyFinding<'_>, _: Option<&str>) -> io::Result<()> {
        out.write_all(line(path, finding, out.is_coloured).as_bytes())
    }

    /// Writes nothing: this format has no totals.
    fn totals(&mut self, _: &mut Output, _: &Totals<'_>) -> io::Result<()> {
        Ok(())
    }
}

/// Returns `PLACE: SEVERITY[CODE] MESSAGE`, with a line end.
pub(crate) fn line<'f>(path: &Path, finding: impl Into<AnyFinding<'f>>, is_coloured: bool) -> String {
    let finding = finding.into();
    let severity = finding.severity();
    let colour = match severity {
        Severity::Error => AnsiColor::Red,
        Severity::Warning => AnsiColor::Yellow,
    };
    let style = if is_coloured { Style::new().bold().fg_color(Some(colour.into())) } else { Style::new() };
    let mut text = place(path, finding);
    let _ = writeln!(text, ": {style}{severity}[{}]{style:#} {}", finding.code().as_str(), prose::message(finding));
    text
}

/// Returns `FILE:LINE:COLUMN`, omitting unknown parts.
pub(super) fn place(path: &Path, finding: AnyFinding<'_>) -> String {
    let mut text = clean(&input::name(path)).into_owned();
    if let Some(line) = place::line(finding) {
        let _ = write!(text, ":{line}");
        if let Some(column) = finding.column() {
            let _ = write!(text, ":{column}");
        }
    }
    text
}
