//! Findings for people: each with an excerpt of its line, and the counts in one last line.

use std::fmt;
use std::io::{self, Write as _};
use std::path::Path;

use omen::Summary;
use omen::finding::Finding;

use super::format::{Format, Report};
use crate::input;
use crate::output::Output;

pub(super) const FORMAT: Format =
    Format { name: "human", about: "Text, with excerpts of the log", is_for_people: true, start: || Box::new(Human) };

struct Human;

impl Report for Human {
    fn finding(&mut self, out: &mut Output, path: &Path, finding: &Finding, line: Option<&str>) -> io::Result<()> {
        let mut text = out.human().finding(&input::name(path), finding, line);
        text.push('\n');
        // In one piece: a progress bar must find the cursor at the start of a line.
        out.write_all(text.as_bytes())
    }

    fn totals(&mut self, out: &mut Output, files: u64, summary: &Summary) -> io::Result<()> {
        writeln!(out, "{}", Totals { files, summary })
    }
}

struct Totals<'s> {
    files: u64,
    summary: &'s Summary,
}

impl fmt::Display for Totals<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { bytes, packets, accepted, rejected, episodes, errors, warnings, consequences } = self.summary;
        write!(
            f,
            "{}, {}, {}, {}: {accepted} accepted, {rejected} rejected; {}, {}",
            count(self.files, "file"),
            count(*bytes, "byte"),
            count(*episodes, "episode"),
            count(*packets, "packet"),
            count(*errors, "error"),
            count(*warnings, "warning"),
        )?;
        match consequences {
            0 => Ok(()),
            1 => write!(f, " (1 follows from another)"),
            many => write!(f, " ({many} follow from others)"),
        }
    }
}

fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
