//! `omen diff`: compares the findings of two runs.
//!
//! The older output is read twice, so that memory grows with the number of distinct findings in it, not with their texts.

use std::collections::HashMap;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;

use omen::finding::Finding;
use omen::render::json;
use serde::{Deserialize, Serialize};

use crate::args::{DiffArgs, Format};
use crate::exit::{Exit, Failure, unreadable};
use crate::formats::{SummaryLine, concise_line, fingerprint};
use crate::input::{Input, is_stdin, name};
use crate::output::Output;

pub(crate) fn run(args: &DiffArgs, out: &mut Output) -> Result<Exit, Failure> {
    if is_stdin(&args.old) {
        return Err(Failure::Usage("OLD is read twice; pass a file, and use `-` for NEW".to_owned()));
    }
    let mut printer = DiffPrinter { format: args.format, out, summary: DiffSummary::default() };
    match compare(args, &mut printer) {
        Ok(()) => {
            printer.end()?;
            Ok(if printer.summary.new > 0 { Exit::ErrorsFound } else { Exit::Clean })
        }
        Err(DiffFailure::Input(why)) => Err(unreadable(why)),
        Err(DiffFailure::Output(error)) => Err(error.into()),
    }
}

/// Reason why the comparison ended early.
enum DiffFailure {
    /// An input cannot be read or is incomplete.
    Input(String),
    Output(io::Error),
}

fn compare(args: &DiffArgs, printer: &mut DiffPrinter<'_>) -> Result<(), DiffFailure> {
    // For each finding of the older output, how many occurrences have not been matched by the newer output yet.
    let mut missed: HashMap<String, u64> = HashMap::new();
    each(&args.old, |file, finding| {
        *missed.entry(key(file, finding)).or_default() += 1;
        Ok(())
    })?;
    each(&args.new, |file, finding| match missed.get_mut(&key(file, finding)).filter(|count| **count > 0) {
        Some(count) => {
            *count -= 1;
            printer.summary.unchanged += 1;
            Ok(())
        }
        None => printer.finding(FindingChange::New, file, finding),
    })?;
    each(&args.old, |file, finding| match missed.get_mut(&key(file, finding)).filter(|count| **count > 0) {
        Some(count) => {
            *count -= 1;
            printer.finding(FindingChange::Gone, file, finding)
        }
        None => Ok(()),
    })
}

/// Returns a key that identifies a finding in both outputs.
fn key(file: &str, finding: &Finding) -> String {
    // The output does not contain the text of the line, so the message stands in for it.
    fingerprint(file, finding, Some(&finding.diagnostic.message))
}

/// Passes on the findings of an output, which must be complete: a missing finding would look like a fixed one.
fn each(path: &Path, mut pass: impl FnMut(&str, &Finding) -> io::Result<()>) -> Result<(), DiffFailure> {
    let cannot = |why: String| DiffFailure::Input(format!("cannot read {}: {why}", name(path)));
    let mut reader = BufReader::new(Input::open_regular(path).map_err(|error| cannot(error.to_string()))?);
    let (mut line, mut number, mut seen, mut has_ended) = (Vec::new(), 0_u64, 0_u64, false);
    loop {
        line.clear();
        let count = reader.by_ref().take(MOST_BYTES).read_until(b'\n', &mut line);
        if count.map_err(|error| cannot(error.to_string()))? == 0 {
            break;
        }
        number += 1;
        let at = |why: &str| cannot(format!("line {number}: {why}"));
        if line.len() as u64 == MOST_BYTES {
            return Err(at(&format!("the line is longer than {MOST_BYTES} bytes")));
        }
        if has_ended {
            return Err(at("expected nothing after the summary; compare one run with one run"));
        }
        match json::read(&line, None) {
            Ok((file, finding)) => {
                seen += 1;
                pass(&file, &finding).map_err(DiffFailure::Output)?;
            }
            Err(error) => {
                let Some(RunCounts { errors, warnings, consequences, unreadable }) = counts(&line) else {
                    return Err(at(&format!("expected a line of `omen check --format json`: {error}")));
                };
                if unreadable > 0 {
                    return Err(at(
                        "this run could not read all its inputs, so findings may be missing; fix this and repeat it",
                    ));
                }
                // Every output contains all root causes, even with `--roots`.
                if seen < errors.saturating_add(warnings).saturating_sub(consequences) {
                    return Err(at("the summary counts more findings than are listed; check without `--max-findings`"));
                }
                has_ended = true;
            }
        }
    }
    if has_ended {
        Ok(())
    } else {
        Err(cannot(
            "there is no summary at the end: expected the complete output of `omen check --format json`".to_owned(),
        ))
    }
}

/// Counts in the summary of a run.
#[derive(Deserialize)]
struct RunCounts {
    errors: u64,
    warnings: u64,
    consequences: u64,
    /// Number of inputs that were not read to their end.
    #[serde(default)]
    unreadable: u64,
}

/// Parses the counts of a summary line; returns `None` for any other line.
fn counts(line: &[u8]) -> Option<RunCounts> {
    Some(serde_json::from_slice::<SummaryLine<_>>(line).ok()?.summary)
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum FindingChange {
    New,
    Gone,
}

#[derive(Debug, Default, Serialize)]
struct DiffSummary {
    new: u64,
    gone: u64,
    unchanged: u64,
}

struct DiffPrinter<'o> {
    format: Format,
    out: &'o mut Output,
    summary: DiffSummary,
}

impl DiffPrinter<'_> {
    fn finding(&mut self, change: FindingChange, file: &str, finding: &Finding) -> io::Result<()> {
        #[derive(Serialize)]
        struct ChangeLine<F> {
            change: FindingChange,
            #[serde(flatten)]
            finding: F,
        }
        let sign = match change {
            FindingChange::New => {
                self.summary.new += 1;
                '+'
            }
            FindingChange::Gone => {
                self.summary.gone += 1;
                '-'
            }
        };
        match self.format {
            Format::Human => {
                write!(self.out, "{sign} {}", concise_line(Path::new(file), finding, self.out.is_coloured))
            }
            Format::Json => self.out.json(&ChangeLine { change, finding: json::row(file, finding) }),
        }
    }

    fn end(&mut self) -> io::Result<()> {
        let DiffSummary { new, gone, unchanged } = self.summary;
        match self.format {
            Format::Human => writeln!(self.out, "{new} new, {gone} gone, {unchanged} unchanged")?,
            Format::Json => self.out.json(&SummaryLine { summary: DiffSummary { new, gone, unchanged } })?,
        }
        self.out.flush()
    }
}

/// Maximum line length in bytes. Real lines are far shorter, as a finding quotes only parts of a packet.
const MOST_BYTES: u64 = 64 << 20;
