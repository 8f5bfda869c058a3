//! Parser for findings in JSON.

use std::io::{self, Error, ErrorKind};

use omen_fsm::State;
use omen_types::{Code, Diagnostic, PacketType, Severity, Stage, parse};
use serde::Deserialize;

use crate::finding::{Cause, Finding};

/// Parses a line written by [`finding`](super::finding) into the file and the finding. `packet` is the text of the
/// finding's line, if known; it is needed to restore the span.
///
/// ```
/// use omen::render::json;
/// use omen::{Finding, Validator, ValidatorOptions};
///
/// let mut findings: Vec<Finding> = Vec::new();
/// let Ok(()) = Validator::new(ValidatorOptions::default()).feed(b"{\"header\": {}}\n", &mut findings);
/// let mut line = Vec::new();
/// json::finding(&mut line, "a.jsonl", &findings[0])?;
/// let (file, read) = json::read(&line, Some("{\"header\": {}}"))?;
/// assert_eq!((file.as_str(), read.line, read.diagnostic.message), ("a.jsonl", Some(1), findings[0].diagnostic.message.clone()));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::InvalidData`] if the line is not a finding.
pub fn read(line: &[u8], packet: Option<&str>) -> io::Result<(String, Finding)> {
    let row: Row = serde_json::from_slice(line).map_err(|error| Error::new(ErrorKind::InvalidData, error))?;
    let state = row.state.map(|names| names.iter().map(|name| state(name)).collect::<io::Result<_>>()).transpose()?;
    let packet_type = row.packet_type.map(|name| known(PacketType::ALL, &name, |it| it.as_str())).transpose()?;
    let code = |name: String| name.parse::<Code>().map_err(|_| unknown(&name));
    let mut diagnostic = Diagnostic::error(code(row.code)?, row.message);
    diagnostic.also = row.also.into_iter().map(code).collect::<io::Result<_>>()?;
    diagnostic.severity = known(&[Severity::Error, Severity::Warning], &row.severity, |it| it.as_str())?;
    diagnostic.label = row.labels.into_iter().next();
    diagnostic.help = row.help;
    diagnostic.notes = row.notes;
    diagnostic.span = packet.and_then(|packet| {
        row.pointer.as_deref().and_then(|pointer| parse::locate(packet, pointer)).or_else(|| {
            let column = usize::try_from(row.column?.checked_sub(1)?).ok()?;
            let (start, character) = packet.char_indices().nth(column)?;
            Some(start..start + character.len_utf8())
        })
    });
    diagnostic.pointer = row.pointer;
    let finding = Finding {
        line: row.line,
        column: row.column,
        packet_index: row.packet_index,
        packet_id: row.packet_id,
        correlation_id: row.correlation_id,
        packet_type,
        state,
        stage: known(&[Stage::Json, Stage::Schema, Stage::Fsm, Stage::Invariant, Stage::End], &row.stage, |it| {
            it.as_str()
        })?,
        diagnostic,
        directive_line: row.directive_line,
        follows_from: row.follows_from.map(|cause| Cause { line: cause.line, packet_id: cause.packet_id }),
    };
    Ok((row.file, finding))
}

fn state(name: &str) -> io::Result<&'static str> {
    known(State::ALL, name, |it| it.as_str()).map(State::as_str)
}

/// Returns the value with the given name.
fn known<T: Copy>(all: &[T], name: &str, name_of: impl Fn(&T) -> &'static str) -> io::Result<T> {
    all.iter().copied().find(|it| name_of(it) == name).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("unknown name `{name}` in a finding; update this program"))
}

/// Fields of a line. Fields from later versions are ignored.
#[derive(Deserialize)]
struct Row {
    file: String,
    line: Option<u64>,
    column: Option<u64>,
    packet_index: Option<u64>,
    packet_id: Option<String>,
    correlation_id: Option<String>,
    packet_type: Option<String>,
    state: Option<Vec<String>>,
    stage: String,
    code: String,
    also: Vec<String>,
    severity: String,
    pointer: Option<String>,
    message: String,
    help: Option<String>,
    follows_from: Option<Earlier>,
    labels: Vec<String>,
    notes: Vec<String>,
    directive_line: Option<u64>,
}

#[derive(Deserialize)]
struct Earlier {
    line: u64,
    packet_id: Option<String>,
}
