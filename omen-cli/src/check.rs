//! `omen check`: checks logs.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use omen::finding::Finding;
use omen::validator::{Sink, Summary, ValidatorOptions};

use crate::args::CheckArgs;
use crate::exit::{Exit, Failure};
use crate::formats::FindingFormat;
use crate::input::{self, Reporter};
use crate::jobs;
use crate::output::Output;
use crate::several::Several;

pub(crate) fn run(args: &CheckArgs, out: &mut Output) -> Result<Exit, Failure> {
    let options = ValidatorOptions { now: args.clock.now, levels: args.levels.0.clone() };
    let jobs = args.jobs.unwrap_or_else(jobs::available);
    let stdin = [PathBuf::from("-")];
    let paths = if args.files.is_empty() { &stdin[..] } else { &args.files };

    let mut files = 0;
    let mut total = Summary::default();
    let mut is_complete = true;
    let several = Several::new(paths, &options, jobs);
    several.run(|| {
        for (index, path) in paths.iter().enumerate() {
            let mut findings = Findings { path, format: args.format, out };
            let checked = match several.take(index) {
                Some(recorded) => input::replay(path, recorded, &mut findings)?,
                None => input::check(path, options.clone(), jobs, &mut findings)?,
            };
            files += u64::from(checked.is_complete);
            is_complete &= checked.is_complete;
            total += checked.summary;
        }
        Ok::<(), io::Error>(())
    })?;
    args.format.totals(out, files, &total)?;
    out.flush()?;
    Ok(if !is_complete {
        Exit::Unreadable
    } else if total.errors > 0 {
        Exit::ErrorsFound
    } else {
        Exit::Clean
    })
}

/// Prints findings as they come.
struct Findings<'o> {
    path: &'o Path,
    format: &'static dyn FindingFormat,
    out: &'o mut Output,
}

impl Sink for Findings<'_> {
    type Error = io::Error;

    fn finding(&mut self, finding: Finding, line: Option<&str>) -> io::Result<()> {
        self.format.finding(self.out, self.path, &finding, line)
    }

    fn wants_packets(&self) -> bool {
        false
    }

    fn caught_up(&mut self) -> io::Result<()> {
        self.out.caught_up()
    }
}

impl Reporter for Findings<'_> {
    fn out(&mut self) -> &mut Output {
        self.out
    }
}
