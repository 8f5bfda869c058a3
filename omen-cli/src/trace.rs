//! `omen trace`: shows the effect of each packet in a log on the state of its episode.

mod human;
mod json;
mod printer;

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::mem;
use std::num::NonZeroUsize;
use std::path::Path;

use omen::Summary;
use omen::finding::{Finding, Severity};
use omen::validator::{JudgedPacket, Sink, ValidatorOptions};

use crate::args::{Format, TraceArgs};
use crate::exit::{Exit, Failure};
use crate::input::{self, Reporter};
use crate::output::Output;
use printer::{States, TracePrinter};

pub(crate) fn run(args: &TraceArgs, out: &mut Output) -> Result<Exit, Failure> {
    let options = ValidatorOptions { now: args.clock.now, ..ValidatorOptions::default() };
    let printer: Box<dyn TracePrinter> = match args.format {
        Format::Human => Box::new(human::HumanTrace::new(args.files.len() > 1)),
        Format::Json => Box::new(json::JsonTrace),
    };
    let wanted = WantedEpisodes(args.episodes.iter().map(|id| (id.clone(), false)).collect());
    let mut trace = Trace {
        out,
        printer,
        path: Path::new(""),
        findings: Vec::new(),
        states: States::default(),
        wanted,
        total: Summary::default(),
    };
    let mut files = 0;
    let traced = args.files.iter().try_for_each(|path| {
        // One thread suffices, since printing a packet takes longer than checking it.
        trace.begin(path)?;
        let checked = input::check(path, options.clone(), NonZeroUsize::MIN, &mut trace)?;
        if checked.is_complete {
            files += 1;
            trace.end()?;
        }
        trace.total.bytes += checked.summary.bytes;
        Ok::<(), io::Error>(())
    });
    let ended = traced.and_then(|()| trace.finish(files));
    let Trace { wanted, total, .. } = trace;
    match ended.map_err(Failure::from) {
        Err(Failure::Closed) if total.errors > 0 => return Ok(Exit::ErrorsFound),
        ended => ended?,
    }
    if files < args.files.len() as u64 {
        return Ok(Exit::Unreadable);
    }
    wanted.check()?;
    Ok(if total.errors > 0 { Exit::ErrorsFound } else { Exit::Clean })
}

/// Sink that passes each packet on with its findings.
struct Trace<'o> {
    out: &'o mut Output,
    printer: Box<dyn TracePrinter>,
    path: &'o Path,
    /// Findings whose packet has not arrived yet.
    findings: Vec<Finding>,
    states: States,
    wanted: WantedEpisodes,
    /// Counts over the shown episodes.
    total: Summary,
}

impl<'o> Trace<'o> {
    fn begin(&mut self, path: &'o Path) -> io::Result<()> {
        self.path = path;
        self.states = States::default();
        self.findings.clear();
        self.printer.file(self.out, path)
    }

    fn end(&mut self) -> io::Result<()> {
        let findings = mem::take(&mut self.findings);
        self.total.episodes += self.states.all.len() as u64;
        self.printer.end(self.out, self.path, &self.states, &findings)
    }

    fn finish(&mut self, files: u64) -> io::Result<()> {
        self.printer.totals(self.out, files, &self.total)?;
        self.out.flush()
    }
}

impl Sink for Trace<'_> {
    type Error = io::Error;

    fn finding(&mut self, finding: Finding, _: Option<&str>) -> io::Result<()> {
        if !self.wanted.has(finding.correlation_id.as_deref()) {
            return Ok(());
        }
        match finding.diagnostic.severity {
            Severity::Error => self.total.errors += 1,
            Severity::Warning => self.total.warnings += 1,
        }
        self.total.consequences += u64::from(finding.follows_from.is_some());
        self.findings.push(finding);
        Ok(())
    }

    fn packet(&mut self, packet: &JudgedPacket<'_>) -> io::Result<()> {
        if !self.wanted.has(packet.correlation_id) {
            return Ok(());
        }
        self.total.packets += 1;
        match packet.accepted {
            true => self.total.accepted += 1,
            false => self.total.rejected += 1,
        }
        if let (Some(episode), Some(after)) = (packet.correlation_id, packet.after.or(packet.before)) {
            self.states.set(episode, after);
        }
        let findings = mem::take(&mut self.findings);
        self.printer.packet(self.out, self.path, packet, &findings)
    }

    fn caught_up(&mut self) -> io::Result<()> {
        self.out.caught_up()
    }
}

impl Reporter for Trace<'_> {
    fn out(&mut self) -> &mut Output {
        self.out
    }
}

/// Episodes to show, each with whether it has occurred; empty for all.
struct WantedEpisodes(BTreeMap<String, bool>);

impl WantedEpisodes {
    fn has(&mut self, episode: Option<&str>) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let seen = episode.and_then(|episode| self.0.get_mut(episode));
        seen.map(|seen| *seen = true).is_some()
    }

    fn check(&self) -> Result<(), Failure> {
        match self.0.iter().find(|(_, seen)| !**seen) {
            Some((episode, _)) => Err(no_such_episode(episode)),
            None => Ok(()),
        }
    }
}

/// Returns the usage error for an episode that does not occur in the input.
pub(crate) fn no_such_episode(id: &str) -> Failure {
    let id = omen::render::human::clean(id);
    Failure::Usage(format!("no packet of the episode `{id}`; `omen trace FILE` shows all episodes"))
}
