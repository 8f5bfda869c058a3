//! Findings for people: each with an excerpt of its line; the last line shows the counts.

use std::fmt;
use std::io::{self, Write as _};
use std::path::Path;

use omen::Summary;

use super::format::{Report, ReportFormat, Totals};
use super::shown::AnyFinding;
use crate::input;
use crate::output::Output;

pub(super) const FORMAT: ReportFormat = ReportFormat {
    name: "human",
    about: "Text, with excerpts of the log",
    is_for_people: true,
    start: || Box::new(HumanReport { shown: 0 }),
};

struct HumanReport {
    shown: u64,
}

impl Report for HumanReport {
    fn finding(&mut self, out: &mut Output, path: &Path, found: AnyFinding<'_>, line: Option<&str>) -> io::Result<()> {
        self.shown += 1;
        let mut text = found.human(out.human(), &input::name(path), line);
        text.push('\n');
        // Written in a single call: a progress bar expects the cursor at the start of a line.
        out.write_all(text.as_bytes())
    }

    fn totals(&mut self, out: &mut Output, totals: &Totals<'_>) -> io::Result<()> {
        // Earlier findings have scrolled off the screen, so a table by code sums them up.
        if self.shown > SCREEN {
            let mut table = Vec::new();
            totals.statistics.by_code(&mut table)?;
            for row in String::from_utf8_lossy(&table).lines() {
                let row = out.human().fit(row);
                writeln!(out, "{row}")?;
            }
            writeln!(out)?;
        }
        let line = TotalsLine(totals).to_string();
        writeln!(out, "{}", out.human().fit(&line))
    }
}

pub(super) struct TotalsLine<'t>(pub(super) &'t Totals<'t>);

impl fmt::Display for TotalsLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Totals { files, summary, is_about_calls, left_out, .. } = self.0;
        let Summary { bytes, packets, accepted, rejected, episodes, errors, warnings, consequences } = summary;
        write!(f, "{}, {}, ", count(*files, "file"), count(*bytes, "byte"))?;
        match is_about_calls {
            true => write!(f, "{}: {accepted} allowed, {rejected} not", count(*packets, "call")),
            false => {
                let (episodes, packets) = (count(*episodes, "episode"), count(*packets, "packet"));
                write!(f, "{episodes}, {packets}: {accepted} accepted, {rejected} rejected")
            }
        }?;
        write!(f, "; {}, {}", count(*errors, "error"), count(*warnings, "warning"))?;
        match consequences {
            0 => {}
            1 => write!(f, " (1 follows from another)")?,
            many => write!(f, " ({many} follow from others)")?,
        }
        match left_out {
            Some(left_out) if !left_out.is_empty() => write!(f, "; {left_out}"),
            Some(_) | None => Ok(()),
        }
    }
}

fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Number of findings that fit on a screen.
const SCREEN: u64 = 20;
