//! `omen check`: checks logs.

mod baseline;
mod continued_episodes;
mod filter;
mod findings;
mod follow;
mod ignores;
mod joined;
mod order;
mod text;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use omen::finding::Code;
use omen::input::available_jobs;
use omen::validator::{Summary, ValidatorOptions};

use crate::args::{CheckArgs, InputArgs};
use crate::check_ahead::CheckAhead;
use crate::config::content::{InputSelection, LevelTarget};
use crate::exit::{Exit, Failure, complain};
use crate::formats::{DEFAULT, FOLLOWED, Reports, Statistics, Totals};
use crate::input::find::Logs;
use crate::input::{self, Layout};
use crate::output::{Color, Output, remove_at_signals};
use baseline::Baseline;
use continued_episodes::ContinuedEpisodes;
use filter::Filter;
use findings::{Findings, Total};

pub(crate) use text::TextCheck;

pub(crate) fn run(args: &CheckArgs, color: Color, out: &mut Output) -> Result<Exit, Failure> {
    if let Some(config) = &args.inputs.order.gate {
        return order::run(args, config, color, out);
    }
    let options = options(args)?;
    let format = args.formats.stdout();
    let quiet = args.inputs.quiet;
    args.formats.refuse_unsupported(args.inputs.statistics)?;
    let (mut statistics, is_silent) = (Statistics::default(), args.inputs.statistics);
    let mut filter = Filter::new(args, Baseline::from_args(&args.baseline)?);
    refuse_to_follow(args, &filter)?;
    refuse_codes(args)?;
    refuse_input_options(args)?;
    if args.inputs.join && filter.is_active() {
        let message = "`--join` reports causes in other files, but `--baseline` and `[[ignore]]` look for them in the \
                       same file; use neither with it (`--no-config` reads no omen.toml)";
        return Err(Failure::Usage(message.to_owned()));
    }
    let InputArgs { exclude, no_ignore, files, .. } = &args.inputs;
    let mut logs = InputSelection { files, exclude, no_ignore: *no_ignore, config: &args.config.found }.find(quiet)?;
    logs.paths.retain(|path| !filter.is_baseline(path));
    if args.inputs.join {
        joined::oldest_first(&mut logs.paths);
    }
    if args.inputs.follow && logs.paths.iter().any(|path| input::is_stdin(path)) {
        let message = "standard input is always followed; omit `--follow`, or pass a file";
        return Err(Failure::Usage(message.to_owned()));
    }

    // With `--follow`, a signal is the regular end, so it must not remove files.
    if !args.inputs.follow && (args.fix.fix().is_some() || !args.formats.outputs.is_empty()) {
        remove_at_signals();
    }
    let mut has_failed = false;
    if let Some(fix) = args.fix.fix() {
        let fixed = fix.run(&logs.paths, &options, out, quiet)?;
        if fix.is_shown {
            out.flush()?;
            for (what, why) in &logs.failed {
                complain(format_args!("cannot read {what}: {why}"));
            }
            let is_empty = args.inputs.fail_on_empty && logs.paths.is_empty();
            if is_empty {
                complain(NO_PACKETS);
            }
            let is_clean = !fixed.is_changed || args.inputs.exit_zero;
            return Ok(if fixed.has_failed || is_empty || !logs.failed.is_empty() {
                Exit::Unreadable
            } else if is_clean {
                Exit::Clean
            } else {
                Exit::ErrorsFound
            });
        }
        has_failed = fixed.has_failed;
    }

    let mut reports = Reports::open(&args.formats, color, &logs.paths, out, |report, out| report.begin(out))?;
    let checked = failed(&logs, &mut reports).map_err(Failure::from).and_then(|()| {
        let (path, reports, filter) = (Path::new(""), &mut reports, &mut filter);
        let findings = Findings {
            path,
            reports,
            filter,
            statistics: &mut statistics,
            is_silent,
            quiet,
            halves: ContinuedEpisodes::default(),
        };
        if args.inputs.follow {
            follow::run(&logs.paths, args.inputs.checkpoint.as_deref(), &options, findings)
        } else if args.inputs.join {
            joined::check(args, &logs.paths, &options, findings).map_err(Failure::from)
        } else {
            in_turn(args, &logs.paths, &options, findings).map_err(Failure::from)
        }
    });
    let has_errors = reports.has_errors;
    let exit = |has_errors: bool| if has_errors && !args.inputs.exit_zero { Exit::ErrorsFound } else { Exit::Clean };
    // The reader may have closed the output; the exit code is still valid if errors were found.
    let total = match checked {
        Ok(total) => total,
        Err(Failure::Closed) if has_errors => return Ok(exit(true)),
        Err(failure) => return Err(failure),
    };
    let counted = match is_silent {
        true if format.is_for_people => statistics.table(reports.stdout()),
        true => statistics.json(reports.stdout()),
        false => Ok(()),
    };
    // Programs need the summary even with `--quiet`.
    let without_totals = quiet && format.is_for_people;
    let is_complete = total.is_complete && logs.failed.is_empty();
    let left_out = filter.left_out();
    let summary = left_out.unwrap_or_default().without(total.summary);
    let totals = Totals { files: total.files, summary, is_about_calls: false, left_out, statistics: &statistics };
    match counted.and_then(|()| reports.finish(&totals, without_totals)).map_err(Failure::from) {
        Ok(()) | Err(Failure::Closed) => {}
        Err(failure) => return Err(failure),
    }
    if let Some(left_out) = left_out.filter(|left_out| !left_out.is_empty() && !quiet && format.name != DEFAULT.name) {
        complain(format_args!("note: {left_out}"));
    }
    filter.finish(is_complete, quiet)?;
    if let Some(note) = args.stage.note().filter(|_| !without_totals && format.is_for_people) {
        complain(format_args!("note: {note}"));
    }
    let is_empty = args.inputs.fail_on_empty && total.summary.packets == 0;
    if is_empty {
        complain(NO_PACKETS);
    }
    Ok(if is_complete && !is_empty && !has_failed { exit(totals.summary.errors > 0) } else { Exit::Unreadable })
}

const NO_PACKETS: &str = "no packets were found; pass logs, or omit `--fail-on-empty`";

fn options(args: &CheckArgs) -> Result<ValidatorOptions, Failure> {
    let levels = args.levels.after(&args.config.found.levels).map_err(|error| Failure::Usage(error.to_string()))?;
    Ok(ValidatorOptions { now: args.clock.now, levels, depth: args.stage.into() })
}

/// Checks logs one after another.
fn in_turn<'r>(
    args: &CheckArgs,
    paths: &'r [PathBuf],
    options: &ValidatorOptions,
    mut findings: Findings<'r, '_, '_>,
) -> io::Result<Total> {
    let jobs = args.jobs.unwrap_or_else(available_jobs);
    let format = args.inputs.format();
    let mut total = Total { is_complete: true, ..Total::default() };
    let ahead = CheckAhead::new(paths, &format, options, jobs);
    ahead.run(|| {
        for (index, path) in paths.iter().enumerate() {
            findings.path = path;
            findings.halves.next_file();
            findings.reports.file(path)?;
            findings.filter.begin();
            let checked = match ahead.take(index) {
                Some(recorded) => input::replay(path, recorded, &mut findings)?,
                None => input::check_as(path, &format, options.clone(), jobs, &mut findings)?,
            };
            findings.reports.file_end(path, &checked.summary)?;
            if checked.is_complete {
                findings.filter.end(path);
            }
            total.files += u64::from(checked.is_complete);
            total.is_complete &= checked.is_complete;
            total.summary += checked.summary;
        }
        if let Some(cut) = findings.halves.found().filter(|_| !findings.quiet) {
            complain(format_args!("note: {cut}"));
        }
        Ok(total)
    })
}

/// Reports paths that could not be searched.
fn failed(logs: &Logs, reports: &mut Reports<'_>) -> io::Result<()> {
    for (what, why) in &logs.failed {
        complain(format_args!("cannot read {what}: {why}"));
        let path = Path::new(what);
        reports.file(path)?;
        reports.unreadable(path, why)?;
        reports.file_end(path, &Summary::default())?;
    }
    Ok(())
}

/// Refuses a code that is not separated by a comma: in `-A INV-011 INV-012`, the second code is parsed as a file name.
fn refuse_codes(args: &CheckArgs) -> Result<(), Failure> {
    // Also covers codes with a fixed severity; written with a comma, they are refused for that.
    let is_code = |text: &str| text.parse::<Code>().is_ok() || LevelTarget::parse(text).is_ok();
    let is_code = |path: &&PathBuf| path.to_str().is_some_and(is_code) && !path.exists();
    match args.inputs.files.iter().find(is_code).filter(|_| !args.levels.is_empty()) {
        Some(path) => {
            let code = path.display();
            let message =
                format!("`{code}` is parsed as a file, and does not exist; separate codes by commas: `-A CODE,{code}`");
            Err(Failure::Usage(message))
        }
        None => Ok(()),
    }
}

/// Refuses options for reading and fixing logs that cannot be combined.
fn refuse_input_options(args: &CheckArgs) -> Result<(), Failure> {
    if args.inputs.join && (args.inputs.layout() == Layout::Array || args.inputs.format().wrapping.is_some()) {
        let message = "`--join` requires logs with one packet per line, and nothing else; omit it, or join the files \
                       first, for example with `zcat -f FILE… | omen check --prefix`";
        return Err(Failure::Usage(message.to_owned()));
    }
    if args.inputs.layout() == Layout::Array && args.inputs.format().wrapping.is_some() {
        let message = "`--field` and `--prefix` read one packet per line; omit `--input array`";
        return Err(Failure::Usage(message.to_owned()));
    }
    if args.fix.is_idle() {
        return Err(Failure::Usage(
            "`--unsafe-fixes` only selects fixes; add `--fix` or `--diff` to apply them".to_owned(),
        ));
    }
    let is_plain = args.inputs.layout() != Layout::Array && args.inputs.format().wrapping.is_none();
    if args.fix.fix().is_some() && (args.inputs.follow || !is_plain) {
        let message = "`--fix` and `--diff` require complete logs with one packet per line, and nothing else";
        return Err(Failure::Usage(message.to_owned()));
    }
    Ok(())
}

/// Refuses options that are incompatible with following.
fn refuse_to_follow(args: &CheckArgs, filter: &Filter<'_>) -> Result<(), Failure> {
    if !args.inputs.follow {
        let message =
            "`--checkpoint` records how far logs were followed; add `--follow`, which continues until it is stopped";
        return if args.inputs.checkpoint.is_none() { Ok(()) } else { Err(Failure::Usage(message.to_owned())) };
    }
    if args.inputs.layout() == Layout::Array {
        let message = "`--follow` reads logs with one packet per line; omit `--input array`";
        return Err(Failure::Usage(message.to_owned()));
    }
    if args.inputs.checkpoint.is_some() && filter.is_active() {
        let message = "`--checkpoint` continues the counts of an earlier run, and does not know what `--baseline` and \
                       `[[ignore]]` omitted from it; use neither with it (`--no-config` reads no omen.toml)";
        return Err(Failure::Usage(message.to_owned()));
    }
    if args.inputs.format().wrapping.is_some() {
        let message = "`--follow` reads packets that are lines; pipe the log instead, for example with `tail -F FILE \
                       | omen check --prefix`";
        return Err(Failure::Usage(message.to_owned()));
    }
    let outputs = args.formats.outputs.iter().map(|output| output.format);
    match outputs.chain([args.formats.stdout()]).find(|format| !FOLLOWED.contains(&format.name)) {
        Some(format) => {
            let message = format!(
                "`--follow` reports findings as they occur, but `{}` reports each log at its end; use one of `{}`",
                format.name,
                FOLLOWED.join("`, `")
            );
            Err(Failure::Usage(message))
        }
        None => Ok(()),
    }
}
