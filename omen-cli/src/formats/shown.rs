//! Findings as the formats show them: about packets, or about entries of an audit log.

use std::ops::Range;
use std::path::PathBuf;

use omen::finding::{Cause, Code, Finding, Severity, Stage};
use omen::render::human::{FindingParts, Human};
use omen::render::json;
use omen_gate::GateCode;
use omen_gate::order::OrderFinding;
use serde::Serialize;

use crate::input;
use crate::output::Output;

/// A finding about a packet or an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AnyFinding<'f> {
    Packet(&'f Finding),
    Entry(&'f EntryFinding),
}

/// A finding about a call in an audit log, with the locations of the entries concerned.
#[derive(Clone, Debug)]
pub(crate) struct EntryFinding {
    pub(crate) order: OrderFinding,
    pub(crate) severity: Severity,
    pub(crate) line: u64,
    /// Position in that line: the column in characters, counted from 1, and the byte range.
    pub(crate) span: Option<(u64, Range<usize>)>,
    /// Earlier entries, each with its relation to this one.
    pub(crate) related: Vec<(EntryPlace, &'static str)>,
    pub(crate) follows_from: Option<EntryPlace>,
}

/// Location of an entry in a file of an audit log.
#[derive(Clone, Debug)]
pub(crate) struct EntryPlace {
    pub(crate) entry: u64,
    pub(crate) path: PathBuf,
    pub(crate) line: u64,
}

/// Code of a packet finding, or of the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ShownCode {
    Packet(Code),
    Gate(GateCode),
}

impl ShownCode {
    /// Returns the codes that a check can report, in the order of the documentation.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let packets = Code::ALL.iter().copied().map(Self::Packet);
        packets.chain(order_codes().map(Self::Gate))
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Packet(code) => code.as_str(),
            Self::Gate(code) => code.as_str(),
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Packet(code) => code.info().title,
            Self::Gate(code) => code.title(),
        }
    }
}

pub(super) fn order_codes() -> impl Iterator<Item = GateCode> {
    use GateCode::{O1, O2, O3, O4, O5, O6};
    [O1, O2, O3, O4, O5, O6].into_iter()
}

impl<'f> From<&'f Finding> for AnyFinding<'f> {
    fn from(finding: &'f Finding) -> Self {
        Self::Packet(finding)
    }
}

impl<'f> AnyFinding<'f> {
    pub(super) fn packet(self) -> Option<&'f Finding> {
        match self {
            Self::Packet(finding) => Some(finding),
            Self::Entry(_) => None,
        }
    }

    pub(crate) fn code(self) -> ShownCode {
        match self {
            Self::Packet(finding) => ShownCode::Packet(finding.diagnostic.code),
            Self::Entry(finding) => ShownCode::Gate(finding.order.code),
        }
    }

    /// Returns the codes of other rules that the same problem violates.
    pub(super) fn also(self) -> &'f [Code] {
        self.packet().map_or(&[], |finding| &finding.diagnostic.also)
    }

    pub(crate) fn severity(self) -> Severity {
        match self {
            Self::Packet(finding) => finding.diagnostic.severity,
            Self::Entry(finding) => finding.severity,
        }
    }

    pub(super) fn message(self) -> &'f str {
        match self {
            Self::Packet(finding) => &finding.diagnostic.message,
            Self::Entry(finding) => &finding.order.message,
        }
    }

    pub(super) fn help(self) -> Option<&'f str> {
        match self {
            Self::Packet(finding) => finding.diagnostic.help.as_deref(),
            Self::Entry(finding) => Some(&finding.order.help),
        }
    }

    pub(super) fn notes(self) -> Vec<String> {
        match self {
            Self::Packet(finding) => finding.diagnostic.notes.clone(),
            Self::Entry(finding) => {
                let related = finding.related.iter().map(|(place, what)| format!("entry {} {what}", place.entry));
                related.collect()
            }
        }
    }

    /// Returns the line that the finding is about.
    pub(super) fn own_line(self) -> Option<u64> {
        match self {
            Self::Packet(finding) => finding.line,
            Self::Entry(finding) => Some(finding.line),
        }
    }

    pub(super) fn column(self) -> Option<u64> {
        match self {
            Self::Packet(finding) => finding.column,
            Self::Entry(finding) => finding.span.as_ref().map(|(column, _)| *column),
        }
    }

    /// Returns the byte range within the line.
    pub(super) fn span(self) -> Option<Range<usize>> {
        match self {
            Self::Packet(finding) => finding.diagnostic.span.clone(),
            Self::Entry(finding) => finding.span.as_ref().map(|(_, span)| span.clone()),
        }
    }

    /// Returns the line of the root cause, if the finding follows from another one.
    pub(crate) fn follows_from(self) -> Option<u64> {
        match self {
            Self::Packet(finding) => finding.follows_from.as_ref().map(|cause: &Cause| cause.line),
            Self::Entry(finding) => finding.follows_from.as_ref().map(|place| place.line),
        }
    }

    pub(super) fn is_at_end(self) -> bool {
        self.packet().is_some_and(|finding| finding.stage == Stage::End)
    }

    /// Returns the pointer into the packet, or the path of the violated rule.
    pub(super) fn pointer(self) -> Option<&'f str> {
        match self {
            Self::Packet(finding) => finding.diagnostic.pointer.as_deref(),
            Self::Entry(finding) => finding.order.rule.as_deref(),
        }
    }

    pub(super) fn correlation_id(self) -> Option<&'f str> {
        self.packet().and_then(|finding| finding.correlation_id.as_deref())
    }

    pub(super) fn packet_id(self) -> Option<&'f str> {
        self.packet().and_then(|finding| finding.packet_id.as_deref())
    }

    /// Formats the finding for people, with an excerpt of the line.
    pub(super) fn human(self, human: &Human, file: &str, line: Option<&str>) -> String {
        match self {
            Self::Packet(finding) => human.finding(file, finding, line),
            Self::Entry(finding) => {
                let code = self.code();
                let column = self.column().map(|column| format!(":{column}")).unwrap_or_default();
                let rule = finding.order.rule.as_ref().map(|rule| format!(" · rule {rule}")).unwrap_or_default();
                let follows = finding.follows_from.as_ref().map(|place| format!("follows from entry {}", place.entry));
                let excerpt = line.zip(self.span()).map(|(line, span)| (finding.line, line, span));
                human.parts(&FindingParts {
                    severity: finding.severity,
                    code: code.as_str(),
                    rule: format!("{0}: {1} (`omen explain {0}`)", code.as_str(), code.title()),
                    message: &finding.order.message,
                    location: format!("{file}:{}{column}", finding.line),
                    facts: format!("entry {}{rule}", finding.order.entry),
                    excerpt,
                    is_object: true,
                    label: None,
                    help: Some(&finding.order.help),
                    notes: self.notes().into_iter().chain(follows).collect(),
                })
            }
        }
    }

    /// Writes the finding as a line of JSON.
    pub(super) fn json(self, out: &mut Output, file: &str) -> std::io::Result<()> {
        match self {
            Self::Packet(finding) => json::finding(out, file, finding),
            Self::Entry(finding) => out.json(&EntryRow::new(file, self, finding)),
        }
    }
}

/// JSON line for a finding about an entry: the fields of a packet finding, and those specific to order.
#[derive(Serialize)]
struct EntryRow<'f> {
    file: &'f str,
    line: u64,
    column: Option<u64>,
    packet_index: Option<u64>,
    packet_id: Option<&'f str>,
    correlation_id: Option<&'f str>,
    packet_type: Option<&'f str>,
    state: Option<Vec<&'static str>>,
    stage: &'static str,
    code: &'static str,
    also: Vec<&'static str>,
    severity: &'static str,
    pointer: Option<&'f str>,
    message: &'f str,
    help: Option<&'f str>,
    follows_from: Option<CauseRow>,
    labels: Vec<&'f str>,
    notes: Vec<String>,
    directive_line: Option<u64>,
    entry: u64,
    rule: Option<&'f str>,
    undecidable: bool,
    related: Vec<RelatedRow>,
}

#[derive(Serialize)]
struct CauseRow {
    line: u64,
    packet_id: Option<String>,
    entry: u64,
    file: String,
}

#[derive(Serialize)]
struct RelatedRow {
    entry: u64,
    file: String,
    line: u64,
    message: &'static str,
}

impl<'f> EntryRow<'f> {
    fn new(file: &'f str, shown: AnyFinding<'f>, finding: &'f EntryFinding) -> Self {
        let cause = |place: &EntryPlace| CauseRow {
            line: place.line,
            packet_id: None,
            entry: place.entry,
            file: input::name(&place.path).to_string(),
        };
        let related = |(place, message): &(EntryPlace, &'static str)| RelatedRow {
            entry: place.entry,
            file: input::name(&place.path).to_string(),
            line: place.line,
            message,
        };
        Self {
            file,
            line: finding.line,
            column: shown.column(),
            packet_index: None,
            packet_id: None,
            correlation_id: None,
            packet_type: None,
            state: None,
            stage: ORDER,
            code: shown.code().as_str(),
            also: Vec::new(),
            severity: finding.severity.as_str(),
            pointer: finding.span.as_ref().map(|_| TOOL),
            message: &finding.order.message,
            help: Some(&finding.order.help),
            follows_from: finding.follows_from.as_ref().map(cause),
            labels: Vec::new(),
            notes: shown.notes(),
            directive_line: None,
            entry: finding.order.entry,
            rule: finding.order.rule.as_deref(),
            undecidable: finding.order.is_undecided,
            related: finding.related.iter().map(related).collect(),
        }
    }
}

/// Stage name of findings about order.
pub(crate) const ORDER: &str = "order";
/// Pointer to the member of an entry that a finding refers to.
pub(crate) const TOOL: &str = "/data/tool";
