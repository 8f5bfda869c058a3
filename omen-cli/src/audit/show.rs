//! `omen audit show`: prints the entries of a log for people.

use std::io::{self, Write as _};
use std::time::{Duration, SystemTime};

use omen::render::human::clean;
use omen_gate::audit::store::log_of;
use omen_gate::audit::{Follow, LogVerification, Logged, read_log};

use super::calls::{OpenCalls, line};
use super::facts::EntryFacts;
use super::filters::Filters;
use super::waiting::Waiting;
use crate::args::{AuditShowArgs, Format};
use crate::exit::{Exit, Failure, complain};
use crate::output::Output;

pub(crate) fn show(args: &AuditShowArgs, out: &mut Output) -> Result<Exit, Failure> {
    let key = super::key(&args.key)?;
    let log = log_of(&args.log);
    let mut printer = EntryPrinter {
        args,
        calls: OpenCalls::default(),
        waiting: Waiting::default(),
        filters: Filters::new(args, SystemTime::now()),
        failed: None,
    };
    let found = read_log(&log, &key, None, &mut |entry| printer.entry(entry, out))?;
    printer.end(out)?;
    out.flush()?;
    if !args.follow {
        printer.filters.missing().iter().for_each(|what| complain(format_args!("note: {}", clean(what))));
    }
    let Some(mut follow) = args.follow.then(|| Follow::after(&log, &found)).flatten() else {
        return Ok(verdict(args, &found));
    };
    loop {
        if let Err(error) = follow.more(&key, &mut |entry| printer.entry(entry, out)) {
            complain(format_args!("{error}; {}", error.help()));
            return Ok(Exit::ErrorsFound);
        }
        printer.end(out)?;
        out.flush()?;
        std::thread::sleep(PAUSE);
    }
}

/// Reports a log that is not sound.
pub(super) fn verdict(args: &AuditShowArgs, found: &LogVerification) -> Exit {
    super::reported(&args.log, found)
}

struct EntryPrinter<'a> {
    args: &'a AuditShowArgs,
    calls: OpenCalls,
    waiting: Waiting,
    filters: Filters<'a>,
    failed: Option<io::Error>,
}

impl EntryPrinter<'_> {
    fn entry(&mut self, entry: Logged<'_>, out: &mut Output) {
        let facts = EntryFacts::new(entry, &mut self.calls, &mut self.waiting);
        if self.filters.admit(&facts) && self.failed.is_none() && !self.args.in_doubt {
            self.failed = self.print(&facts, out).err();
        }
    }

    /// Ends a pass over the log: returns an earlier error, or with `--in-doubt` prints the calls without an outcome.
    fn end(&mut self, out: &mut Output) -> Result<(), Failure> {
        if let Some(error) = self.failed.take() {
            return Err(error.into());
        }
        if self.args.in_doubt {
            for (line, text) in self.calls.in_doubt() {
                match self.args.format {
                    Format::Human => writeln!(out, "{}", clean(text))?,
                    Format::Json => writeln!(out, "{line}")?,
                }
            }
        }
        Ok(())
    }

    fn print(&self, facts: &EntryFacts<'_>, out: &mut Output) -> io::Result<()> {
        match self.args.format {
            Format::Json => writeln!(out, "{}", facts.entry.line()),
            Format::Human => writeln!(out, "{}", clean(&line(facts.entry, facts.tool.as_deref(), facts.waits))),
        }
    }
}

/// Interval between reads of a followed log.
const PAUSE: Duration = Duration::from_millis(200);
