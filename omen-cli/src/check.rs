//! `omen check`: checks logs.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use omen::finding::Finding;
use omen::validator::{Sink, Summary, ValidatorOptions};

use crate::args::{CheckArgs, InputArgs};
use crate::exit::{Exit, Failure, complain};
use crate::formats::FindingFormat;
use crate::input::find::{Argument, Excludes, Logs, Search};
use crate::input::{self, Layout, Reporter};
use crate::output::Output;
use crate::several::Several;
use crate::statistics::Statistics;
use crate::{follow, jobs};

pub(crate) fn run(args: &CheckArgs, out: &mut Output) -> Result<Exit, Failure> {
    let levels = args.levels.after(&args.config.found.levels).map_err(|error| Failure::Usage(error.to_string()))?;
    let options = ValidatorOptions { now: args.clock.now, levels };
    let jobs = args.jobs.unwrap_or_else(jobs::available);
    let logs = find(args)?;

    let mut statistics = counted(args)?;
    let (quiet, layout) = (args.inputs.quiet, args.inputs.layout);
    let mut files = 0;
    let mut total = Summary::default();
    let mut is_complete = logs.failed.is_empty();
    if args.inputs.follow {
        if layout == Layout::Array {
            let message = "`--follow` reads logs with one packet on each line; leave out `--input array`";
            return Err(Failure::Usage(message.to_owned()));
        }
        let mut findings =
            Findings { path: Path::new(""), format: args.format, out, statistics: &mut statistics, quiet };
        let followed = follow::run(&logs.paths, &options, &mut findings)?;
        (files, total) = (followed.files, followed.summary);
        is_complete &= followed.is_complete;
    } else {
        let several = Several::new(&logs.paths, layout, &options, jobs);
        several.run(|| {
            for (index, path) in logs.paths.iter().enumerate() {
                let mut findings = Findings { path, format: args.format, out, statistics: &mut statistics, quiet };
                let checked = match several.take(index) {
                    Some(recorded) => input::replay(path, recorded, &mut findings)?,
                    None => input::check_as(path, layout, options.clone(), jobs, &mut findings)?,
                };
                files += u64::from(checked.is_complete);
                is_complete &= checked.is_complete;
                total += checked.summary;
            }
            Ok::<(), io::Error>(())
        })?;
    }
    match &statistics {
        Some(statistics) if args.format.is_for_people() => statistics.table(out)?,
        Some(statistics) => statistics.json(out)?,
        None => {}
    }
    // Programs rely on the summary.
    if !quiet || !args.format.is_for_people() {
        args.format.totals(out, files, &total)?;
    }
    out.flush()?;
    Ok(if !is_complete {
        Exit::Unreadable
    } else if total.errors > 0 && !args.inputs.exit_zero {
        Exit::ErrorsFound
    } else {
        Exit::Clean
    })
}

/// The statistics, if they are asked for.
fn counted(args: &CheckArgs) -> Result<Option<Statistics>, Failure> {
    if args.inputs.statistics && !args.format.is_for_people() && args.format.name() != "json" {
        let message = format!("`--statistics` is a table or JSON; leave out `--format {}`", args.format.name());
        return Err(Failure::Usage(message));
    }
    Ok(args.inputs.statistics.then(Statistics::default))
}

/// Finds the logs to check. What could not be searched is reported here.
fn find(args: &CheckArgs) -> Result<Logs, Failure> {
    let InputArgs { exclude, no_ignore, files, .. } = &args.inputs;
    let configured = &args.config.found;
    let here = PathBuf::new();
    let mut excludes = Excludes::default();
    for (root, patterns) in [(&configured.root, &configured.exclude), (&here, exclude)] {
        excludes.add(root, patterns).map_err(|error| Failure::Usage(error.to_string()))?;
    }
    let stdin = [PathBuf::from("-")];
    let (root, paths) = match (&files[..], &configured.inputs[..]) {
        ([], []) => (&here, &stdin[..]),
        ([], inputs) => (&configured.root, inputs),
        (files, _) => (&here, files),
    };
    if paths.iter().filter(|path| input::is_stdin(path)).count() > 1 {
        return Err(Failure::Usage("`-` is given twice; standard input can be read only once".to_owned()));
    }
    let arguments: Vec<_> = paths.iter().map(|path| Argument { root: root.clone(), path: path.clone() }).collect();
    let logs = Search { excludes, no_ignore: *no_ignore || configured.no_ignore }.run(&arguments);
    for (what, why) in &logs.failed {
        complain(format_args!("cannot read {what}: {why}"));
    }
    for path in logs.empty.iter().filter(|_| !args.inputs.quiet) {
        complain(format_args!("note: {} contains no logs (*.jsonl, *.ndjson, *.json)", path.display()));
    }
    Ok(logs)
}

/// Prints findings as they come.
struct Findings<'o> {
    path: &'o Path,
    format: &'static dyn FindingFormat,
    out: &'o mut Output,
    /// Where findings are counted instead.
    statistics: &'o mut Option<Statistics>,
    quiet: bool,
}

impl Sink for Findings<'_> {
    type Error = io::Error;

    fn finding(&mut self, finding: Finding, line: Option<&str>) -> io::Result<()> {
        match self.statistics {
            Some(statistics) => statistics.add(&finding),
            None => self.format.finding(self.out, self.path, &finding, line)?,
        }
        Ok(())
    }

    fn wants_packets(&self) -> bool {
        false
    }

    fn caught_up(&mut self) -> io::Result<()> {
        self.out.caught_up()
    }
}

impl<'o> follow::Reports<'o> for Findings<'o> {
    fn of(&mut self, path: &'o Path) {
        self.path = path;
    }
}

impl Reporter for Findings<'_> {
    fn out(&mut self) -> &mut Output {
        self.out
    }

    fn is_quiet(&self) -> bool {
        self.quiet
    }
}
