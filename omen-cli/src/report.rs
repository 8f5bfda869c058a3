//! `omen report`: writes one HTML file about logs, which needs no network and no server.
//!
//! Each log is read once. What the report shows of it is kept in memory until the file is written: see [`gather`].

mod calls;
mod coverage;
mod digest;
mod embed;
mod facts;
mod gather;
mod lines;
mod page;
mod policy;
mod script;
mod tables;
mod texts;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use omen::render::human::clean;
use omen::validator::ValidatorOptions;

use crate::args::ReportArgs;
use crate::exit::{Exit, Failure};
use crate::output::{Color, Output};

use calls::Calls;
use gather::Gather;
use page::Page;

pub(crate) fn run(args: &ReportArgs, out: &mut Output) -> Result<Exit, Failure> {
    refuse_inputs(&args.output, args.logs.iter().chain(&args.audit.log))?;
    let calls = match args.audit.log.as_deref().map(|log| Calls::read(log, &args.audit)).transpose() {
        Ok(calls) => calls,
        Err(_) => return Ok(Exit::Unreadable),
    };
    // A place that cannot be written to is reported before the logs are read.
    let mut file = Output::to_file(&args.output, false, Color::Never)?;
    let options = ValidatorOptions { now: args.clock.now, ..ValidatorOptions::default() };
    let mut gather = Gather::default();
    for log in &args.logs {
        gather.read(log, &options);
    }
    let page = Page::new(&gather, calls.as_ref(), args.clock.now);
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
        let text = format!("`{}` is an input; name another file for the report", output.display());
        return Err(Failure::Usage(text));
    }
    Ok(())
}
