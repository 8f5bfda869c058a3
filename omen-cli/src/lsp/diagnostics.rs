//! Conversion of findings to editor diagnostics.

use std::cell::LazyCell;
use std::ops::Range;
use std::path::Path;
use std::time::SystemTime;

use omen::finding::{Finding, Severity};
use omen::render::human::clean;
use omen_gate::Config;
use omen_gate::config::ConfigError;
use serde::Serialize;
use serde_json::{Value, json};

use super::documents::{DocumentKind, OpenDocument, PlacedFinding};
use super::packets::{self, PacketEntry};
use super::protocol::{ERROR, INFORMATION, TextPosition, TextRange, WARNING};
use super::settings::CheckSettings;
use super::text::{IndexedText, log_lines};
use crate::args::check_command;
use crate::check::TextCheck;
use crate::config;
use crate::formats::message_and_help;

/// Result of checking a document.
#[derive(Debug, Default)]
pub(super) struct DocumentFindings {
    /// The findings as diagnostics of the protocol.
    pub(super) diagnostics: Vec<EditorDiagnostic>,
    pub(super) findings: Vec<PlacedFinding>,
}

/// A diagnostic of the Language Server Protocol.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EditorDiagnostic {
    range: TextRange,
    severity: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    source: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_information: Vec<Value>,
}

impl EditorDiagnostic {
    fn new(range: TextRange, severity: u32, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { range, severity, code: None, source: "omen", message, related_information: Vec::new() }
    }
}

pub(super) fn check(document: &OpenDocument, settings: &mut CheckSettings) -> DocumentFindings {
    let only = |diagnostic| DocumentFindings { diagnostics: vec![diagnostic], ..DocumentFindings::default() };
    if document.kind == DocumentKind::Other {
        return DocumentFindings::default();
    }
    let Some(text) = document.text() else {
        let (most, size) = (document.kind.most_bytes(), document.kept().map(str::len));
        let size = size.map_or_else(String::new, |size| format!(" ({size} bytes)"));
        let message = format!("the document exceeds {} MiB{size}, and is not checked in an editor", most >> 20);
        return only(EditorDiagnostic::new(BEGINNING, WARNING, format!("{message}\nhelp: run `omen` on the file")));
    };
    match document.kind {
        DocumentKind::CheckConfig => of_check_config(text, &document.path),
        DocumentKind::GateConfig => of_gate_config(text, &document.path),
        DocumentKind::Log | DocumentKind::Json => match settings.check(&document.path) {
            Ok(check) => of_log(document, text, check),
            Err(why) => only(EditorDiagnostic::new(BEGINNING, ERROR, format!("the log is not checked: {why}"))),
        },
        DocumentKind::Other => DocumentFindings::default(),
    }
}

fn of_log(document: &OpenDocument, text: &IndexedText, check: &mut TextCheck) -> DocumentFindings {
    let layout = check.layout();
    if document.kind == DocumentKind::Json && !packets::is_log(text.as_str(), layout) {
        return DocumentFindings::default();
    }
    let places = LogPlaces { text: text.as_str(), starts: log_lines(text.as_str()) };
    // Read at most once, and only for a finding without a line, at the end of an episode.
    let packets = LazyCell::new(|| packets::read(text.as_str(), layout));
    let mut found = DocumentFindings::default();
    let read = check.run(&document.path, text.as_str(), MOST_FINDINGS, |finding, line| {
        let range = places.finding(finding, line).unwrap_or_else(|| {
            let is_about = |packet: &&PacketEntry| match &finding.packet_id {
                Some(id) => packet.packet_id.as_ref() == Some(id),
                None => packet.episode.is_some() && packet.episode == finding.correlation_id,
            };
            // The last packet with the finding's id (the directive), or else the last packet of its episode.
            let packet = packets.iter().rfind(is_about);
            packet.map_or_else(|| places.last(), |packet| places.first_line(&packet.range))
        });
        let cause = finding.follows_from.as_ref().and_then(|cause| places.line(cause.line));
        let severity = match (finding.diagnostic.severity, &cause) {
            (_, Some(_)) => INFORMATION,
            (Severity::Error, None) => ERROR,
            (Severity::Warning, None) => WARNING,
        };
        let mut message = message_and_help(finding, "\n");
        for note in &finding.diagnostic.notes {
            message.push_str("\nnote: ");
            message.push_str(&clean(note));
        }
        let mut diagnostic = EditorDiagnostic::new(text.range(&range), severity, message);
        diagnostic.code = Some(finding.diagnostic.code.as_str());
        diagnostic.related_information.extend(cause.as_ref().map(|cause| {
            let location = json!({"uri": document.uri, "range": text.range(cause)});
            json!({"location": location, "message": "the rejected packet that this follows from"})
        }));
        found.diagnostics.push(diagnostic);
        found.findings.push(PlacedFinding {
            range,
            code: finding.diagnostic.code,
            help: finding.diagnostic.help.clone(),
            cause: cause.map(|cause| cause.start),
        });
    });
    match read {
        Ok(0) => {}
        Ok(more) => {
            let message = format!("{more} more findings are not shown; run `omen check` to see all");
            found.diagnostics.push(EditorDiagnostic::new(text.range(&places.last()), INFORMATION, message));
        }
        Err(why) => found.diagnostics.push(EditorDiagnostic::new(BEGINNING, ERROR, why)),
    }
    found
}

/// Positions in a log, whose lines are counted as in findings.
struct LogPlaces<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl LogPlaces<'_> {
    /// Returns the range of a finding, or of the directive that the finding is about.
    fn finding(&self, finding: &Finding, line: Option<&str>) -> Option<Range<usize>> {
        let number = finding.line.or(finding.directive_line)?;
        let whole = self.line(number)?;
        let (Some(column), Some(span)) = (finding.column, &finding.diagnostic.span) else { return Some(whole) };
        let start = self.column(number, column)?;
        let length = line.and_then(|line| line.get(span.clone())).map_or(0, str::len);
        let end = (start + length).min(self.text.len());
        // An empty range could not be marked by an editor, so mark the rest of the line.
        Some(if end > start { start..end } else { start..whole.end.max(start) })
    }

    /// Returns the range of a line without surrounding whitespace.
    fn line(&self, number: u64) -> Option<Range<usize>> {
        let at = usize::try_from(number.checked_sub(1)?).ok()?;
        let start = *self.starts.get(at)?;
        let end = self.starts.get(at + 1).copied().unwrap_or(self.text.len());
        let line = self.text.get(start..end)?;
        let before = line.len() - line.trim_start().len();
        Some(start + before..start + before + line.trim().len())
    }

    /// Returns the byte offset of a column; a byte order mark is not counted.
    fn column(&self, number: u64, column: u64) -> Option<usize> {
        let at = usize::try_from(number.checked_sub(1)?).ok()?;
        let start = *self.starts.get(at)?;
        let mark = if start == 0 && self.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let rest = self.text.get(start + mark..)?;
        let characters = usize::try_from(column.checked_sub(1)?).ok()?;
        let before = rest.char_indices().nth(characters).map_or(rest.len(), |(before, _)| before);
        Some(start + mark + before)
    }

    fn first_line(&self, packet: &Range<usize>) -> Range<usize> {
        let line = self.text.get(packet.clone()).and_then(|text| text.lines().next());
        packet.start..packet.start + line.map_or(0, str::len)
    }

    /// Returns the range of the last non-blank line.
    fn last(&self) -> Range<usize> {
        let end = self.text.trim_end().len();
        self.text.get(..end).and_then(|text| text.rfind('\n')).map_or(0, |at| at + 1)..end
    }
}

fn of_check_config(text: &IndexedText, path: &Path) -> DocumentFindings {
    let directory = path.parent().unwrap_or(Path::new(""));
    let mistakes = config::mistakes(text.as_str(), directory, &check_command());
    let diagnostics = mistakes.iter().map(|mistake| {
        let place = (mistake.line, mistake.column);
        in_config(text, place, ERROR, &mistake.message, &mistake.help)
    });
    DocumentFindings { diagnostics: diagnostics.collect(), ..DocumentFindings::default() }
}

fn of_gate_config(text: &IndexedText, path: &Path) -> DocumentFindings {
    let inspection = Config::inspect_as(text.as_str(), path, SystemTime::now(), None);
    let all = [(ERROR, &inspection.errors), (WARNING, &inspection.warnings)].into_iter();
    let each = all.flat_map(|(severity, errors)| errors.iter().map(move |error| (severity, error)));
    let diagnostics = each.map(|(severity, error): (u32, &ConfigError)| {
        in_config(text, (error.line, error.column), severity, &error.message, &error.help)
    });
    DocumentFindings { diagnostics: diagnostics.collect(), ..DocumentFindings::default() }
}

/// Returns a diagnostic at a key or value in TOML. Line and column are counted from 1; both are 0 for the text as a whole.
fn in_config(
    text: &IndexedText,
    (line, column): (usize, usize),
    severity: u32,
    message: &str,
    help: &str,
) -> EditorDiagnostic {
    let places = LogPlaces { text: text.as_str(), starts: log_lines(text.as_str()) };
    let start = places.column(line as u64, column as u64).unwrap_or_default();
    let token = toml_token(text.as_str().get(start..).unwrap_or_default());
    let message = format!("{}\nhelp: {}", clean(message), clean(help));
    EditorDiagnostic::new(text.range(&(start..start + token)), severity, message)
}

/// Returns the length of the key or value at the start of a text.
fn toml_token(rest: &str) -> usize {
    let line = rest.lines().next().unwrap_or_default();
    match line.chars().next() {
        Some(quote @ ('"' | '\'')) => line.get(1..).and_then(|inner| inner.find(quote)).map_or(line.len(), |at| at + 2),
        Some('[') => line.rfind(']').map_or(line.len(), |at| at + 1),
        _ => line.find(|c: char| c.is_whitespace() || "=,]}#".contains(c)).unwrap_or(line.len()),
    }
}

/// Range for diagnostics about a document as a whole.
const BEGINNING: TextRange =
    TextRange { start: TextPosition { line: 0, character: 0 }, end: TextPosition { line: 0, character: 0 } };

/// Maximum number of findings shown per document, more than an editor lists.
const MOST_FINDINGS: u64 = 1000;

#[cfg(test)]
mod tests {
    use super::toml_token;

    #[test]
    fn a_mistake_marks_its_token() {
        for (text, token) in [
            ("stage = 1", "stage"),
            ("\"a b\", \"c\"]", "\"a b\""),
            ("'open", "'open"),
            ("[\"a\", 1] # x", "[\"a\", 1]"),
            ("12]\n", "12"),
            ("", ""),
            ("\n", ""),
        ] {
            assert_eq!(text.get(..toml_token(text)), Some(token), "{text}");
        }
    }
}
