//! SARIF document with findings about a single file, such as a configuration.

use std::io::{self, Write as _};
use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use super::model::{ArtifactLocation, MessageText, Physical, Region};
use super::{SCHEMA, location};
use crate::output::Output;

/// Kind of finding: its identifier, and a sentence that describes it.
pub(crate) type FindingKind = (&'static str, &'static str);

/// A finding about a file.
pub(crate) struct FileFinding<'f> {
    pub(crate) kind: &'static str,
    pub(crate) level: &'f str,
    pub(crate) text: String,
    /// Line and column, both counted from 1; `None` if the finding is about the file as a whole.
    pub(crate) place: Option<(usize, usize)>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'d> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'d>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'d> {
    tool: Value,
    column_kind: &'static str,
    results: Vec<FileResult<'d>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileResult<'d> {
    rule_id: &'static str,
    level: &'d str,
    message: MessageText,
    locations: [FileLocation; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileLocation {
    physical_location: Physical,
}

/// Writes a document with the findings about a file, all of the given kinds.
pub(crate) fn document<'f>(
    out: &mut Output,
    file: &Path,
    kinds: &[FindingKind],
    findings: &'f [FileFinding<'f>],
) -> io::Result<()> {
    let result = |finding: &'f FileFinding<'f>| {
        let number = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let region = finding.place.map(|(line, column)| Region {
            start_line: number(line),
            start_column: Some(number(column)),
            end_column: None,
        });
        // The run defines no base folder for the file's URI.
        let artifact_location = ArtifactLocation { uri_base_id: None, ..location(file) };
        FileResult {
            rule_id: finding.kind,
            level: finding.level,
            message: MessageText::new(&finding.text),
            locations: [FileLocation { physical_location: Physical { artifact_location, region } }],
        }
    };
    let results = findings.iter().map(result).collect();
    let rule = |(id, text): &FindingKind| json!({ "id": id, "shortDescription": MessageText::new(text) });
    let rules: Vec<_> = kinds.iter().map(rule).collect();
    let tool = json!({ "driver": { "name": "omen", "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": rules } });
    let run = Run { tool, column_kind: "unicodeCodePoints", results };
    serde_json::to_writer(&mut *out, &Document { schema: SCHEMA, version: "2.1.0", runs: [run] })?;
    out.write_all(b"\n")
}
