//! `omen check`: judges logs.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use omen::finding::Finding;
use omen::render::json;
use omen::validator::{Sink, Summary, ValidatorOptions};

use super::args::{CheckArgs, Format};
use super::input::{self, Reporter};
use super::output::Output;
use super::{Failure, Outcome};

pub(crate) fn run(args: &CheckArgs, out: &mut Output) -> Result<Outcome, Failure> {
    let options = ValidatorOptions { now: args.clock.now, levels: args.levels.0.clone() };
    let stdin = [PathBuf::from("-")];
    let paths = if args.files.is_empty() { &stdin[..] } else { &args.files };

    let mut files = 0;
    let mut total = Summary::default();
    let mut unread = false;
    for path in paths {
        let mut findings = Findings::new(path, args.format, out);
        let judged = input::judge(path, options.clone(), &mut findings)?;
        files += u64::from(judged.complete);
        unread |= !judged.complete;
        total += judged.summary;
    }
    match args.format {
        Format::Human => writeln!(out, "{}", Totals { files, summary: total })?,
        Format::Json => json::summary(out, files, &total)?,
    }
    out.flush()?;
    Ok(if unread {
        Outcome::Unread
    } else if total.errors > 0 {
        Outcome::ErrorsFound
    } else {
        Outcome::Clean
    })
}

/// The last line for people.
struct Totals {
    files: u64,
    summary: Summary,
}

impl std::fmt::Display for Totals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Summary { bytes, packets, accepted, rejected, episodes, errors, warnings } = self.summary;
        write!(
            f,
            "{}, {}, {}, {}: {accepted} accepted, {rejected} rejected; {}, {}",
            count(self.files, "file"),
            count(bytes, "byte"),
            count(episodes, "episode"),
            count(packets, "packet"),
            count(errors, "error"),
            count(warnings, "warning"),
        )
    }
}

fn count(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Prints findings as they come.
struct Findings<'o> {
    /// As the format wants the file to be called.
    file: String,
    format: Format,
    out: &'o mut Output,
    failed: Option<io::Error>,
}

impl<'o> Findings<'o> {
    fn new(path: &Path, format: Format, out: &'o mut Output) -> Self {
        let file = match format {
            Format::Human => input::name(path),
            Format::Json => path.to_string_lossy().into_owned(),
        };
        Self { file, format, out, failed: None }
    }

    /// Writes a finding in one piece: a progress bar must find the cursor at the start of a line.
    fn print(&mut self, finding: &Finding, line: Option<&str>) -> io::Result<()> {
        match self.format {
            Format::Human => {
                let mut text = self.out.human().finding(&self.file, finding, line);
                text.push('\n');
                self.out.write_all(text.as_bytes())
            }
            Format::Json => json::finding(self.out, &self.file, finding),
        }
    }
}

impl Sink for Findings<'_> {
    fn finding(&mut self, finding: Finding, line: Option<&str>) {
        // A sink cannot stop the validator in the midst of a piece; it falls silent.
        if self.failed.is_none() {
            self.failed = self.print(&finding, line).err();
        }
    }
}

impl Reporter for Findings<'_> {
    fn behind(&mut self, bar: ProgressBar) {
        self.out.behind(bar);
    }

    fn settle(&mut self, live: bool) -> io::Result<()> {
        match self.failed.take() {
            Some(error) => Err(error),
            None if live || self.out.is_terminal() => self.out.flush(),
            None => Ok(()),
        }
    }
}
