//! `omen report`: writes a self-contained HTML file about logs, which needs no network and no server.
//!
//! Each log is read once. The parts that the report shows are kept in memory until the file is written; see [`gather`].

mod calls;
mod coverage;
mod digest;
mod embed;
mod facts;
mod gather;
mod lines;
mod page;
mod script;
mod tables;
mod texts;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use omen::render::human::clean;
use omen::validator::ValidatorOptions;

use crate::args::ReportArgs;
use crate::config::content::InputSelection;
use crate::exit::{Exit, Failure};
use crate::output::{Color, Output, remove_at_signals};

use calls::Calls;
use gather::Gather;
use page::{CommandFacts, Page};

pub(crate) fn run(args: &ReportArgs, out: &mut Output) -> Result<Exit, Failure> {
    let levels = args.levels.after(&args.config.found.levels).map_err(|error| Failure::Usage(error.to_string()))?;
    let given = InputSelection {
        files: &args.logs,
        exclude: &args.exclude,
        no_ignore: args.no_ignore,
        config: &args.config.found,
    };
    if given.is_nothing() {
        let message = "pass the logs to report on: files, directories, globs, or `-` for standard input";
        return Err(Failure::Usage(message.to_owned()));
    }
    let logs = given.find(false)?;
    refuse_inputs(&args.output, logs.paths.iter().chain(&args.audit.log))?;
    let calls = args.audit.log.as_deref().map(|log| Calls::read(log, &args.audit)).transpose()?;
    // Opened first, so that an unwritable destination is reported before the logs are read.
    remove_at_signals();
    let mut file = Output::to_file(&args.output, false, Color::Never)?;
    let options = ValidatorOptions { now: args.clock.now, levels, ..ValidatorOptions::default() };
    let mut gather = Gather::default();
    for (what, why) in logs.failed {
        gather.unread(what, why);
    }
    for log in &logs.paths {
        gather.read(log, &options);
    }
    let stated = CommandFacts {
        title: args.title.as_deref().map(clean),
        now: args.clock.now,
        levels: args.levels.options(&args.config.found.levels),
    };
    let page = Page::new(&gather, calls.as_ref(), stated);
    let outcome = page.verdict.text();
    page.write(&mut file)?;
    file.finish()?;
    writeln!(out, "{}: {outcome}", clean(&args.output.to_string_lossy()))?;
    out.flush()?;
    Ok(match (gather.is_complete(), gather.total().errors + u64::from(calls.is_some_and(|calls| !calls.is_sound()))) {
        (false, _) => Exit::Unreadable,
        (true, 0) => Exit::Clean,
        (true, _) => Exit::ErrorsFound,
    })
}

/// Refuses to write the report over one of its inputs.
fn refuse_inputs<'p>(output: &Path, mut inputs: impl Iterator<Item = &'p PathBuf>) -> Result<(), Failure> {
    let Ok(place) = output.canonicalize() else { return Ok(()) };
    if inputs.any(|input| input.canonicalize().is_ok_and(|input| input == place) && place.is_file()) {
        let text = format!("`{}` is an input; choose another file for the report", output.display());
        return Err(Failure::Usage(text));
    }
    Ok(())
}
