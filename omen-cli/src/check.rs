//! `omen check`: checks logs.

use std::io;
use std::path::{Path, PathBuf};

use omen::finding::Finding;
use omen::validator::{Sink, Summary, ValidatorOptions};

use crate::args::CheckArgs;
use crate::exit::{Exit, Failure};
use crate::formats::Reports;
use crate::input::{self, Reporter};
use crate::jobs;
use crate::output::{Color, Output};
use crate::several::Several;

pub(crate) fn run(args: &CheckArgs, color: Color, out: &mut Output) -> Result<Exit, Failure> {
    let options = ValidatorOptions { now: args.clock.now, levels: args.levels.0.clone() };
    let jobs = args.jobs.unwrap_or_else(jobs::available);
    let stdin = [PathBuf::from("-")];
    let paths = if args.files.is_empty() { &stdin[..] } else { &args.files };

    let mut reports = Reports::open(&args.formats, color, paths, out)?;
    let mut files = 0;
    let mut total = Summary::default();
    let mut is_complete = true;
    let several = Several::new(paths, &options, jobs);
    let checked = several.run(|| {
        for (index, path) in paths.iter().enumerate() {
            let mut findings = Findings { path, reports: &mut reports };
            findings.reports.file(path)?;
            let checked = match several.take(index) {
                Some(recorded) => input::replay(path, recorded, &mut findings)?,
                None => input::check(path, options.clone(), jobs, &mut findings)?,
            };
            reports.file_end(path, &checked.summary)?;
            files += u64::from(checked.is_complete);
            is_complete &= checked.is_complete;
            total += checked.summary;
        }
        Ok::<(), io::Error>(())
    });
    let (has_errors, is_judged) = (reports.has_errors(), checked.is_ok());
    match checked.and_then(|()| reports.finish(files, &total)).map_err(Failure::from) {
        // The reader has read enough; the verdict holds if it is known.
        Err(Failure::Closed) if has_errors => return Ok(Exit::ErrorsFound),
        Err(Failure::Closed) if is_judged => {}
        ended => ended?,
    }
    Ok(if !is_complete {
        Exit::Unreadable
    } else if total.errors > 0 {
        Exit::ErrorsFound
    } else {
        Exit::Clean
    })
}

/// Reports findings as they come.
struct Findings<'r, 'o> {
    path: &'r Path,
    reports: &'r mut Reports<'o>,
}

impl Sink for Findings<'_, '_> {
    type Error = io::Error;

    fn finding(&mut self, finding: Finding, line: Option<&str>) -> io::Result<()> {
        self.reports.finding(self.path, &finding, line)
    }

    fn wants_packets(&self) -> bool {
        false
    }

    fn caught_up(&mut self) -> io::Result<()> {
        self.reports.caught_up()
    }
}

impl Reporter for Findings<'_, '_> {
    fn out(&mut self) -> &mut Output {
        self.reports.stdout()
    }

    fn unreadable(&mut self, reason: &str) -> io::Result<()> {
        self.reports.unreadable(self.path, reason)
    }
}
