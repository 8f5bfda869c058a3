//! `omen trace`: shows what each packet of a log did to the state of its episode.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::num::NonZeroUsize;

use omen::finding::Finding;
use omen::render::human::clean;
use omen::validator::{JudgedPacket, Sink, ValidatorOptions};

use crate::args::TraceArgs;
use crate::exit::{Exit, Failure};
use crate::input::{self, Reporter};
use crate::output::Output;

pub(crate) fn run(args: &TraceArgs, out: &mut Output) -> Result<Exit, Failure> {
    let options = ValidatorOptions { now: args.clock.now, ..ValidatorOptions::default() };
    let mut trace = Trace { out, findings: Vec::new(), episodes: Episodes::default() };
    // Printing every packet takes longer than checking it.
    let checked = input::check(&args.file, options, NonZeroUsize::MIN, &mut trace)?;
    if checked.is_complete {
        trace.end()?;
    }
    trace.out.flush()?;
    Ok(if !checked.is_complete {
        Exit::Unreadable
    } else if checked.summary.errors > 0 {
        Exit::ErrorsFound
    } else {
        Exit::Clean
    })
}

/// Prints one line for each packet, and its findings below it.
struct Trace<'o> {
    out: &'o mut Output,
    /// Findings whose packet is not printed yet.
    findings: Vec<Finding>,
    episodes: Episodes,
}

impl Trace<'_> {
    /// Writes a packet in one piece: a progress bar must find the cursor at the start of a line.
    fn print(&mut self, packet: &JudgedPacket<'_>) -> io::Result<()> {
        let mut text = String::new();
        if let Some(episode) = packet.correlation_id
            && self.episodes.current.as_deref() != Some(episode)
        {
            self.episodes.current = Some(episode.to_owned());
            let _ = writeln!(text, "episode {}", clean(episode));
        }
        text.push_str(&line(packet));
        for finding in self.findings.drain(..) {
            let diagnostic = &finding.diagnostic;
            let (codes, message) = (codes(&finding), clean(&diagnostic.message));
            let _ = writeln!(text, "{INDENT}{}[{codes}]: {message}", diagnostic.severity);
        }
        if let (Some(episode), Some(after)) = (packet.correlation_id, packet.after.or(packet.before)) {
            self.episodes.is_in(episode, after.to_string());
        }
        self.out.write_all(text.as_bytes())
    }

    /// The state of every episode, and the findings at the end of the log.
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
fn line(packet: &JudgedPacket<'_>) -> String {
    let id = packet.packet_id.map_or("-".into(), clean);
    let packet_type = packet.packet_type.map_or("-", |packet_type| packet_type.as_str());
    let verdict = if packet.accepted { "accepted" } else { "rejected" };
    let index = format!("#{}", packet.packet_index);
    let mut text = format!("{:>6} {index:>6}  {id:<24}  {packet_type:<22}  {verdict}", packet.line);
    match (packet.before, packet.after) {
        (Some(before), Some(after)) if packet.accepted => drop(write!(text, "  {before} -> {after}")),
        (Some(state), _) => drop(write!(text, "  {state}")),
        (None, _) => {}
    }
    if let Some(event) = packet.event {
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
    type Error = io::Error;

    fn finding(&mut self, finding: Finding, _: Option<&str>) -> io::Result<()> {
        self.findings.push(finding);
        Ok(())
    }

    fn packet(&mut self, packet: &JudgedPacket<'_>) -> io::Result<()> {
        self.print(packet)
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
