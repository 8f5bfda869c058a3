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
mod save;
mod script;
mod tables;
mod texts;

use std::io::Write as _;

use omen::validator::ValidatorOptions;

use crate::args::ReportArgs;
use crate::exit::{Exit, Failure, complain};
use crate::output::Output;

use calls::Calls;
use gather::Gather;
use page::Page;

pub(crate) fn run(args: &ReportArgs, out: &mut Output) -> Result<Exit, Failure> {
    save::refuse_inputs(&args.output, args.logs.iter().chain(&args.audit.log))?;
    let calls = match args.audit.log.as_deref().map(|log| Calls::read(log, &args.audit)).transpose() {
        Ok(calls) => calls,
        Err(_) => return Ok(Exit::Unreadable),
    };
    let options = ValidatorOptions { now: args.clock.now, ..ValidatorOptions::default() };
    let mut gather = Gather::default();
    for log in &args.logs {
        gather.read(log, &options);
    }
    let page = Page::new(&gather, calls.as_ref(), args.clock.now);
    let outcome = page.verdict.text();
    let written = page.html().and_then(|html| save::replace(&args.output, html.as_bytes()));
    if let Err(error) = written {
        complain(format_args!("cannot write {}: {error}", args.output.display()));
        return Ok(Exit::Unreadable);
    }
    writeln!(out, "{}: {outcome}", args.output.display())?;
    out.flush()?;
    Ok(match (gather.is_complete(), gather.total().errors + u64::from(calls.is_some_and(|calls| !calls.is_sound()))) {
        (false, _) => Exit::Unreadable,
        (true, 0) => Exit::Clean,
        (true, _) => Exit::ErrorsFound,
    })
}
