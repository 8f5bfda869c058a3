//! Edits of findings, by line.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::Range;

use omen::finding::{Code, Finding};
use omen::validator::{JudgedPacket, Sink};
use omen_types::PacketType;
use serde_json::Value;

/// Collects the edits of findings, up to a limit.
pub(crate) struct Edits {
    is_unsafe: bool,
    /// Text and edits of each line.
    pub(crate) lines: BTreeMap<u64, (String, Vec<Replacement>)>,
    bytes: usize,
    /// The only episode so far, and whether there are others.
    episode: Option<String>,
    has_others: bool,
    /// Packets that name no episode, each with the bracket of its header.
    nameless: BTreeMap<u64, (String, Range<usize>, Code)>,
}

/// Replacement for a part of a line.
#[derive(Clone, Debug)]
pub(crate) struct Replacement {
    pub(crate) span: Range<usize>,
    pub(crate) text: String,
    /// Whether it needs no consent of a person.
    pub(crate) is_safe: bool,
    /// The rule of the finding.
    pub(crate) code: Code,
}

impl Edits {
    pub(super) fn new(is_unsafe: bool) -> Self {
        Self {
            is_unsafe,
            lines: BTreeMap::new(),
            bytes: 0,
            episode: None,
            has_others: false,
            nameless: BTreeMap::new(),
        }
    }

    /// Ends the log: packets that name no episode belong to the only one in the log.
    pub(super) fn end(&mut self) {
        let nameless = std::mem::take(&mut self.nameless);
        let Some(episode) = self.episode.take().filter(|_| !self.has_others) else { return };
        for (number, (text, span, code)) in nameless {
            // Another fix may name the episode.
            if self.lines.contains_key(&number) {
                continue;
            }
            let named = format!("{{\"{EPISODE}\":{},", Value::from(episode.as_str()));
            self.add(number, &text, Replacement { span, text: named, is_safe: false, code });
        }
    }

    fn add(&mut self, line: u64, text: &str, replacement: Replacement) {
        if self.bytes > MOST_BYTES {
            return;
        }
        let (_, edits) = self.lines.entry(line).or_insert_with(|| {
            self.bytes += text.len();
            (text.to_owned(), Vec::new())
        });
        edits.push(replacement);
    }
}

impl Sink for Edits {
    type Error = Infallible;

    fn finding(&mut self, finding: Finding, line: Option<&str>) -> Result<(), Infallible> {
        let diagnostic = finding.diagnostic;
        // The fix would give the packet effect, so only its author may make it.
        let is_approval = finding.packet_type == Some(APPROVAL)
            || diagnostic.edit.as_ref().is_some_and(|edit| edit.text == format!("\"{}\"", APPROVAL.as_str()));
        if is_approval {
            return Ok(());
        }
        if self.is_unsafe
            && diagnostic.pointer.as_deref() == Some(HEADER)
            && let (Some(number), Some(text), Some(span)) = (finding.line, line, &diagnostic.span)
            && self.bytes <= MOST_BYTES
            && !self.nameless.contains_key(&number)
            && is_nameless(text)
        {
            self.bytes += text.len();
            self.nameless.insert(number, (text.to_owned(), span.clone(), diagnostic.code));
        }
        let (Some(number), Some(text), Some(span), Some(edit)) = (finding.line, line, diagnostic.span, diagnostic.edit)
        else {
            return Ok(());
        };
        if edit.is_safe || self.is_unsafe {
            self.add(number, text, Replacement { span, text: edit.text, is_safe: edit.is_safe, code: diagnostic.code });
        }
        Ok(())
    }

    fn packet(&mut self, packet: &JudgedPacket<'_>) -> Result<(), Infallible> {
        match (packet.correlation_id, &self.episode) {
            (Some(id), None) => self.episode = Some(id.to_owned()),
            (Some(id), Some(episode)) => self.has_others |= id != episode,
            (None, _) => {}
        }
        Ok(())
    }

    fn wants_packets(&self) -> bool {
        self.is_unsafe
    }
}

/// Returns whether the header of a packet has fields, and none that names the episode.
fn is_nameless(text: &str) -> bool {
    let packet: Value = serde_json::from_str(text).unwrap_or_default();
    let header = packet.pointer(HEADER).and_then(Value::as_object);
    header.is_some_and(|header| !header.is_empty() && !header.contains_key(EPISODE))
}

/// Type of the packets that approve calls.
const APPROVAL: PacketType = PacketType::ToolAuthorizationToken;

const HEADER: &str = "/header";

const EPISODE: &str = "correlation_id";

/// Maximum size of the lines with edits in bytes: 256 MiB. Further findings are fixed by the next run.
const MOST_BYTES: usize = 256 * 1024 * 1024;
