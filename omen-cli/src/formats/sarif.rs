//! SARIF 2.1.0, the exchange format of static analysis.
//!
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>
//!
//! Results are written as they are found, followed by the members known only at the end; the order of an object's members does
//! not matter.

mod document;
mod model;
mod rules;

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::path::Path;

use omen::Summary;
use omen::render::human::clean;

pub(crate) use self::document::{FileFinding, FindingKind, document};
use self::model::{
    Artifact, ArtifactLocation, FindingProperties, Invocation, LogicalLocation, Message, MessageText, Notification,
    Physical, Region, SarifLocation, SarifResult, WorkingDirectory,
};
use super::fingerprint::Fingerprints;
use super::format::{Report, ReportFormat, Totals};
use super::shown::{AnyFinding, EntryPlace};
use super::{place, prose};
use crate::output::Output;

pub(super) const FORMAT: ReportFormat = ReportFormat {
    name: "sarif",
    about: "SARIF 2.1.0, for code scanning",
    is_for_people: false,
    start: || Box::new(Sarif::default()),
};

#[derive(Default)]
struct Sarif {
    /// Artifacts, each listed once even if a file is given twice.
    artifacts: Vec<Artifact>,
    /// Artifact indices by URI.
    index: HashMap<String, usize>,
    /// Index of the artifact being checked.
    current: Option<usize>,
    notifications: Vec<Notification>,
    fingerprints: Option<Fingerprints>,
    has_results: bool,
}

impl Report for Sarif {
    fn begin(&mut self, out: &mut Output) -> io::Result<()> {
        Self::begin_with(out, &rules::of_packets())
    }

    fn begin_calls(&mut self, out: &mut Output) -> io::Result<()> {
        Self::begin_with(out, &rules::of_calls())
    }

    fn file(&mut self, _: &mut Output, path: &Path) -> io::Result<()> {
        let location = location(path);
        let next = self.artifacts.len();
        let index = *self.index.entry(location.uri.clone()).or_insert(next);
        if index == next {
            self.artifacts.push(Artifact { location, length: None });
        }
        self.current = Some(index);
        Ok(())
    }

    fn finding(&mut self, out: &mut Output, path: &Path, found: AnyFinding<'_>, line: Option<&str>) -> io::Result<()> {
        let mut text = if self.has_results { b",\n".to_vec() } else { b"\n".to_vec() };
        self.has_results = true;
        let fingerprint = self.fingerprints.get_or_insert_with(Fingerprints::new).fingerprint(path, found, line);
        serde_json::to_writer(&mut text, &self.result(path, found, line, fingerprint))?;
        out.write_all(&text)
    }

    fn unreadable(&mut self, _: &mut Output, path: &Path, reason: &str) -> io::Result<()> {
        self.notifications.push(Notification {
            level: "error",
            message: MessageText::new(&format!("cannot read the log: {reason}")),
            locations: [SarifLocation { physical_location: self.physical(path, None), logical_locations: Vec::new() }],
        });
        Ok(())
    }

    fn file_end(&mut self, _: &mut Output, _: &Path, summary: &Summary) -> io::Result<()> {
        if let Some(artifact) = self.current.and_then(|current| self.artifacts.get_mut(current)) {
            artifact.length = Some(summary.bytes);
        }
        Ok(())
    }

    fn totals(&mut self, out: &mut Output, _: &Totals<'_>) -> io::Result<()> {
        let invocation = Invocation {
            execution_successful: self.notifications.is_empty(),
            tool_execution_notifications: &self.notifications,
        };
        out.write_all(b"\n],\"artifacts\":")?;
        serde_json::to_writer(&mut *out, &self.artifacts)?;
        out.write_all(b",\"invocations\":")?;
        serde_json::to_writer(&mut *out, &[invocation])?;
        out.write_all(b"}]}\n")
    }
}

impl Sarif {
    fn begin_with(out: &mut Output, tool: &rules::SarifTool) -> io::Result<()> {
        out.write_all(b"{\"$schema\":\"")?;
        out.write_all(SCHEMA.as_bytes())?;
        out.write_all(b"\",\"version\":\"2.1.0\",\"runs\":[{\"tool\":")?;
        serde_json::to_writer(&mut *out, tool)?;
        out.write_all(b",\"columnKind\":\"unicodeCodePoints\",\"originalUriBaseIds\":{\"")?;
        out.write_all(BASE.as_bytes())?;
        out.write_all(b"\":")?;
        serde_json::to_writer(
            &mut *out,
            &WorkingDirectory { description: MessageText::new("the folder in which omen was started") },
        )?;
        out.write_all(b"},\"results\":[")
    }

    fn result<'f>(
        &self,
        path: &Path,
        finding: AnyFinding<'f>,
        line: Option<&str>,
        fingerprint: String,
    ) -> SarifResult<'f> {
        let region = place::line(finding).map(|start_line| Region {
            start_line,
            start_column: finding.column(),
            end_column: place::end_column(finding, line),
        });
        SarifResult {
            rule_id: finding.code().as_str(),
            rule_index: rules::index(finding.code()),
            // Consequences are notes, so that one mistake shows as one alert.
            level: if finding.follows_from().is_some() { "note" } else { finding.severity().as_str() },
            message: MessageText::new(&prose::message_and_help(finding, "\n")),
            locations: [SarifLocation {
                physical_location: self.physical(path, region),
                logical_locations: LogicalLocation::from_finding(finding),
            }],
            related_locations: self.related(path, finding),
            partial_fingerprints: model::PartialFingerprint { value: fingerprint },
            properties: FindingProperties::from_finding(finding),
        }
    }

    /// Returns the other locations that a finding refers to.
    fn related<'f>(&self, path: &Path, finding: AnyFinding<'f>) -> Vec<model::RelatedLocation<'f>> {
        let at = |path: &Path, line| {
            let region = Some(Region { start_line: line, start_column: None, end_column: None });
            SarifLocation { physical_location: self.physical(path, region), logical_locations: Vec::new() }
        };
        let places = match finding {
            AnyFinding::Packet(finding) => {
                let cause = finding.follows_from.as_ref();
                let place = |line| (at(path, line), "the rejected packet that this follows from".to_owned());
                cause.map(|cause| place(cause.line)).into_iter().collect()
            }
            AnyFinding::Entry(finding) => {
                let cause = finding.follows_from.iter().map(|place| (place, "is what this follows from"));
                let related = finding.related.iter().map(|(place, what)| (place, *what));
                let places = cause.chain(related);
                let place = |(place, what): (&EntryPlace, &str)| {
                    (at(&place.path, place.line), format!("entry {} {what}", place.entry))
                };
                places.map(place).collect::<Vec<_>>()
            }
        };
        let places = (1..).zip(places);
        let place = |(id, (location, text)): (u64, (_, String))| model::RelatedLocation {
            id,
            location,
            message: MessageText::new(&text),
        };
        places.map(place).collect()
    }

    fn physical(&self, path: &Path, region: Option<Region>) -> Physical {
        let location = location(path);
        let index = self.index.get(&location.uri).copied();
        Physical { artifact_location: ArtifactLocation { index, ..location }, region }
    }
}

fn location(path: &Path) -> ArtifactLocation {
    if place::is_stdin(path) {
        return ArtifactLocation { uri: "stdin".to_owned(), uri_base_id: None, index: None };
    }
    let uri = place::uri(path);
    let uri_base_id = (!uri.starts_with("file:")).then_some(BASE);
    ArtifactLocation { uri, uri_base_id, index: None }
}

impl MessageText {
    /// Creates a message without links: text from the log that looks like one, `[text](target)`, is escaped. Braces, which would
    /// begin an argument placeholder, need no escape: readers show them literally if a message has no arguments.
    fn new(text: &str) -> Self {
        let lines: Vec<_> = text.split('\n').map(clean).collect();
        let text = lines.join("\n");
        let is_like_a_link = text.contains("](");
        MessageText(Message {
            text: if is_like_a_link {
                text.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
            } else {
                text
            },
        })
    }
}

/// Name of the folder to which relative URIs refer.
const BASE: &str = "%SRCROOT%";

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
