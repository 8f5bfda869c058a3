//! Trace for people: one line per packet, with its findings below.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;

use clap::builder::styling::{AnsiColor, Style};
use omen::Summary;
use omen::finding::{Finding, Severity};
use omen::render::human::clean;
use omen::validator::JudgedPacket;

use super::printer::{States, TracePrinter};
use crate::formats::{codes, message};
use crate::input;
use crate::output::Output;

pub(super) struct HumanTrace {
    /// Whether to name each log, because there are several.
    names_files: bool,
    /// Episode of the previous packet.
    current: Option<String>,
}

impl HumanTrace {
    pub(super) fn new(names_files: bool) -> Self {
        Self { names_files, current: None }
    }
}

impl TracePrinter for HumanTrace {
    fn file(&mut self, out: &mut Output, path: &Path) -> io::Result<()> {
        self.current = None;
        if self.names_files { writeln!(out, "file {}", clean(&input::name(path))) } else { Ok(()) }
    }

    /// Writes a packet in a single call: a progress bar expects the cursor at the start of a line.
    fn packet(&mut self, out: &mut Output, _: &Path, packet: &JudgedPacket<'_>, found: &[Finding]) -> io::Result<()> {
        let mut text = String::new();
        if let Some(episode) = packet.correlation_id
            && self.current.as_deref() != Some(episode)
        {
            self.current = Some(episode.to_owned());
            let _ = writeln!(text, "episode {}", clean(episode));
        }
        line(&mut text, packet, out.is_coloured);
        for finding in found {
            let _ = writeln!(text, "{INDENT}{}{}", head(finding, out.is_coloured), message(finding));
        }
        out.write_all(text.as_bytes())
    }

    fn end(&mut self, out: &mut Output, _: &Path, states: &States, findings: &[Finding]) -> io::Result<()> {
        writeln!(out, "end of the stream")?;
        for (episode, state) in &states.all {
            writeln!(out, "{INDENT}episode {} in {state}", clean(episode))?;
        }
        for finding in findings {
            let head = head(finding, out.is_coloured);
            write!(out, "{INDENT}{head}")?;
            if let Some(episode) = &finding.correlation_id {
                write!(out, "episode {}: ", clean(episode))?;
            }
            writeln!(out, "{}", message(finding))?;
        }
        Ok(())
    }

    fn totals(&mut self, _: &mut Output, _: u64, _: &Summary) -> io::Result<()> {
        Ok(())
    }
}

/// Writes `line #index  id  type  verdict  before -> after: event`.
fn line(text: &mut String, packet: &JudgedPacket<'_>, is_coloured: bool) {
    let id = packet.packet_id.map_or("-".into(), clean);
    let packet_type = packet.packet_type.map_or("-", |packet_type| packet_type.as_str());
    let (verdict, colour) = match packet.accepted {
        true => ("accepted", AnsiColor::Green),
        false => ("rejected", AnsiColor::Red),
    };
    let style = style(colour, is_coloured);
    let index = format!("#{}", packet.packet_index);
    let _ = write!(text, "{:>6} {index:>6}  {id:<24}  {packet_type:<22}  {style}{verdict}{style:#}", packet.line);
    match (packet.before, packet.after) {
        (Some(before), Some(after)) if packet.accepted => drop(write!(text, "  {before} -> {after}")),
        (Some(state), _) => drop(write!(text, "  {state}")),
        (None, _) => {}
    }
    if let Some(event) = packet.event {
        let _ = write!(text, ": {}", event.description());
    }
    text.push('\n');
}

/// Returns `error[CODE, CODE]: `.
fn head(finding: &Finding, is_coloured: bool) -> String {
    let severity = finding.diagnostic.severity;
    let style = match severity {
        Severity::Error => style(AnsiColor::Red, is_coloured),
        Severity::Warning => style(AnsiColor::Yellow, is_coloured),
    };
    format!("{style}{severity}[{}]{style:#}: ", codes(finding))
}

fn style(colour: AnsiColor, is_coloured: bool) -> Style {
    if is_coloured { Style::new().bold().fg_color(Some(colour.into())) } else { Style::new() }
}

/// Indentation of lines below a packet.
const INDENT: &str = "               ";
