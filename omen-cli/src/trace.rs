//! `omen trace`: follows a log state by state.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};

use indicatif::ProgressBar;
use omen::finding::Finding;
use omen::render::human::clean;
use omen::validator::{Sink, Step, ValidatorOptions};

use super::args::TraceArgs;
use super::input::{self, Reporter};
use super::output::Output;
use super::{Failure, Outcome};

pub(crate) fn run(args: &TraceArgs, out: &mut Output) -> Result<Outcome, Failure> {
    let options = ValidatorOptions { now: args.clock.now, ..ValidatorOptions::default() };
    let mut trace = Trace { out, findings: Vec::new(), episodes: Episodes::default(), failed: None };
    let judged = input::judge(&args.file, options, &mut trace)?;
    if judged.complete {
        trace.end()?;
    }
    trace.out.flush()?;
    Ok(if !judged.complete {
        Outcome::Unread
    } else if judged.summary.errors > 0 {
        Outcome::ErrorsFound
    } else {
        Outcome::Clean
    })
}

/// Prints a line a packet, and the findings under it.
struct Trace<'o> {
    out: &'o mut Output,
    /// Those whose packet was not printed yet.
    findings: Vec<Finding>,
    episodes: Episodes,
    failed: Option<io::Error>,
}

impl Trace<'_> {
    /// Writes a packet in one piece: a progress bar must find the cursor at the start of a line.
    fn print(&mut self, step: &Step<'_>) -> io::Result<()> {
        let mut text = String::new();
        if let Some(episode) = step.correlation_id
            && self.episodes.current.as_deref() != Some(episode)
        {
            self.episodes.current = Some(episode.to_owned());
            let _ = writeln!(text, "episode {}", clean(episode));
        }
        text.push_str(&line(step));
        for finding in self.findings.drain(..) {
            let diagnostic = &finding.diagnostic;
            let (codes, message) = (codes(&finding), clean(&diagnostic.message));
            let _ = writeln!(text, "{INDENT}{}[{codes}]: {message}", diagnostic.severity);
        }
        if let (Some(episode), Some(after)) = (step.correlation_id, step.after.or(step.before)) {
            self.episodes.is_in(episode, after.to_string());
        }
        self.out.write_all(text.as_bytes())
    }

    /// Where every episode stands, and what the end of the stream has shown.
    fn end(&mut self) -> io::Result<()> {
        writeln!(self.out, "end of the stream")?;
        for (episode, state) in &self.episodes.states {
            writeln!(self.out, "{INDENT}episode {} in {state}", clean(episode))?;
        }
        for finding in self.findings.drain(..) {
            let diagnostic = &finding.diagnostic;
            write!(self.out, "{INDENT}{}[{}]: ", diagnostic.severity, codes(&finding))?;
            if let Some(episode) = &finding.correlation_id {
                write!(self.out, "episode {}: ", clean(episode))?;
            }
            writeln!(self.out, "{}", clean(&diagnostic.message))?;
        }
        Ok(())
    }
}

/// `line #index  id  type  verdict  before -> after: event`
fn line(step: &Step<'_>) -> String {
    let id = step.packet_id.map_or("-".into(), clean);
    let packet_type = step.packet_type.map_or("-", |packet_type| packet_type.as_str());
    let verdict = if step.accepted { "accepted" } else { "rejected" };
    let index = format!("#{}", step.packet_index);
    let mut text = format!("{:>6} {index:>6}  {id:<24}  {packet_type:<22}  {verdict}", step.line);
    match (step.before, step.after) {
        (Some(before), Some(after)) if step.accepted => drop(write!(text, "  {before} -> {after}")),
        (Some(state), _) => drop(write!(text, "  {state}")),
        (None, _) => {}
    }
    if let Some(event) = step.event {
        let _ = write!(text, ": {}", event.description());
    }
    text.push('\n');
    text
}

fn codes(finding: &Finding) -> String {
    let mut text = finding.diagnostic.code.as_str().to_owned();
    for also in &finding.diagnostic.also {
        let _ = write!(text, ", {also}");
    }
    text
}

impl Sink for Trace<'_> {
    fn finding(&mut self, finding: Finding, _: Option<&str>) {
        self.findings.push(finding);
    }

    fn packet(&mut self, step: &Step<'_>) {
        if self.failed.is_none() {
            self.failed = self.print(step).err();
        }
    }
}

impl Reporter for Trace<'_> {
    fn behind(&mut self, bar: ProgressBar) {
        self.out.behind(bar);
    }

    fn settle(&mut self, live: bool) -> io::Result<()> {
        match self.failed.take() {
            Some(error) => Err(error),
            None if live || self.out.is_terminal() => self.out.flush(),
            None => Ok(()),
        }
    }
}

/// The state of every episode, in the order of their first packets.
#[derive(Default)]
struct Episodes {
    current: Option<String>,
    states: Vec<(String, String)>,
    at: HashMap<String, usize>,
}

impl Episodes {
    fn is_in(&mut self, episode: &str, state: String) {
        match self.at.get(episode).and_then(|at| self.states.get_mut(*at)) {
            Some((_, old)) => *old = state,
            None => {
                self.at.insert(episode.to_owned(), self.states.len());
                self.states.push((episode.to_owned(), state));
            }
        }
    }
}

/// Under the packet's id.
const INDENT: &str = "               ";
