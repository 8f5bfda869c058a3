//! JSON Lines output: one object for each finding, then one for the whole run.
//!
//! Other programs rely on the fields and their order. Unknown facts are `null`.

mod read;

use std::io::{self, Write};

use serde::Serialize;

pub use read::read;

use crate::finding::Finding;
use crate::validator::Summary;

/// Writes a finding as one line. `file` is the path as given by the user, or `-` for standard input.
///
/// # Errors
/// Errors of the writer.
pub fn finding(out: &mut impl Write, file: &str, finding: &Finding) -> io::Result<()> {
    line(out, &row(file, finding))
}

/// Returns a finding as [`finding`] writes it, for embedding in other output.
pub fn row<'a>(file: &'a str, finding: &'a Finding) -> impl Serialize + use<'a> {
    let diagnostic = &finding.diagnostic;
    FindingRow {
        file,
        line: finding.line,
        column: finding.column,
        packet_index: finding.packet_index,
        packet_id: finding.packet_id.as_deref(),
        correlation_id: finding.correlation_id.as_deref(),
        packet_type: finding.packet_type.map(|packet_type| packet_type.as_str()),
        state: finding.state.as_deref(),
        stage: finding.stage.as_str(),
        code: diagnostic.code.as_str(),
        also: diagnostic.also.iter().map(|code| code.as_str()).collect(),
        severity: diagnostic.severity.as_str(),
        pointer: diagnostic.pointer.as_deref(),
        message: &diagnostic.message,
        help: diagnostic.help.as_deref(),
        follows_from: finding
            .follows_from
            .as_ref()
            .map(|cause| CauseRow { line: cause.line, packet_id: cause.packet_id.as_deref() }),
        labels: diagnostic.label.as_deref().into_iter().collect(),
        notes: &diagnostic.notes,
        directive_line: finding.directive_line,
    }
}

/// Writes the last line: the totals over all files.
///
/// # Errors
/// Errors of the writer.
pub fn summary(out: &mut impl Write, files: u64, summary: &Summary) -> io::Result<()> {
    line(out, &SummaryLine { summary: Totals { files, summary } })
}

/// Writes the line in one call, so that other output cannot split it.
fn line(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(value)?;
    text.push(b'\n');
    out.write_all(&text)
}

#[derive(Serialize)]
struct FindingRow<'a> {
    file: &'a str,
    line: Option<u64>,
    column: Option<u64>,
    packet_index: Option<u64>,
    packet_id: Option<&'a str>,
    correlation_id: Option<&'a str>,
    packet_type: Option<&'a str>,
    state: Option<&'a [&'static str]>,
    stage: &'a str,
    code: &'a str,
    also: Vec<&'a str>,
    severity: &'a str,
    pointer: Option<&'a str>,
    message: &'a str,
    help: Option<&'a str>,
    follows_from: Option<CauseRow<'a>>,
    labels: Vec<&'a str>,
    notes: &'a [String],
    directive_line: Option<u64>,
}

#[derive(Serialize)]
struct CauseRow<'a> {
    line: u64,
    packet_id: Option<&'a str>,
}

#[derive(Serialize)]
struct SummaryLine<'a> {
    summary: Totals<'a>,
}

#[derive(Serialize)]
struct Totals<'a> {
    files: u64,
    #[serde(flatten)]
    summary: &'a Summary,
}
