//! `omen audit show`: the entries of a log, for people.

use std::io::{self, Write as _};
use std::time::Duration;

use omen::render::human::clean;
use omen_gate::audit::store::log_of;
use omen_gate::audit::{Follow, LogVerification, Logged, read_log};

use super::calls::{OpenCalls, result};
use crate::args::{AuditShowArgs, Format};
use crate::exit::{Exit, Failure, complain};
use crate::output::Output;

pub(crate) fn show(args: &AuditShowArgs, out: &mut Output) -> Result<Exit, Failure> {
    let Some(key) = super::key(&args.key) else { return Ok(Exit::Unreadable) };
    let log = log_of(&args.log);
    let mut printer = Printer { args, calls: OpenCalls::default(), failed: None };
    let found = match read_log(&log, &key, None, &mut |entry| printer.entry(entry, out)) {
        Ok(found) => found,
        Err(error) => {
            complain(format_args!("{error}; {}", error.help()));
            return Ok(Exit::Unreadable);
        }
    };
    printer.end(out)?;
    out.flush()?;
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

struct Printer<'a> {
    args: &'a AuditShowArgs,
    calls: OpenCalls,
    failed: Option<io::Error>,
}

impl Printer<'_> {
    fn entry(&mut self, entry: Logged<'_>, out: &mut Output) {
        let tool = self.calls.tool(entry);
        if self.failed.is_none() && !self.args.in_doubt && self.is_wanted(entry, tool.as_deref()) {
            self.failed = self.print(entry, tool.as_deref(), out).err();
        }
    }

    /// What was read is over. The calls that have no outcome may be what was asked for.
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

    fn is_wanted(&self, entry: Logged<'_>, tool: Option<&str>) -> bool {
        let AuditShowArgs { turn, tool: of_tool, code, kind, outcome, since, until, .. } = self.args;
        let is = |wanted: &Option<String>, found: Option<&str>| wanted.is_none() || wanted.as_deref() == found;
        let time = entry.time().trim_end_matches('Z');
        is(turn, entry.turn())
            && is(kind, Some(&entry.kind()))
            && is(code, entry.data().get("code").and_then(|code| code.as_str()))
            && is(outcome, result(entry).as_deref())
            && of_tool.as_deref().is_none_or(|wanted| {
                tool.is_some_and(|tool| tool == wanted || tool.split_once('/').is_some_and(|(_, name)| name == wanted))
            })
            && since.as_deref().is_none_or(|since| time >= since)
            && until.as_deref().is_none_or(|until| time < until)
    }

    fn print(&self, entry: Logged<'_>, tool: Option<&str>, out: &mut Output) -> io::Result<()> {
        match self.args.format {
            Format::Json => writeln!(out, "{}", entry.line()),
            Format::Human => writeln!(out, "{}", clean(&super::calls::line(entry, tool))),
        }
    }
}

/// How often a log is asked for more.
const PAUSE: Duration = Duration::from_millis(200);
