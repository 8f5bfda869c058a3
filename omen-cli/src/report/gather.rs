//! Reads logs, and keeps what the report shows.
//!
//! # Memory
//!
//! Each log is read once, in pieces, and judged while being read. Kept are a row for each packet (some 150 bytes), each finding
//! up to a limit, the ids of the episodes, and the texts of the packets, with common parts stored once. All of these have limits;
//! the rest is only counted, and the report states how much. Counts, verdicts and the table of rules cover all packets. For
//! a log whose packets are in an array or indented, the line of each packet is kept until the log ends (8 bytes per packet).

use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::Path;

use omen::finding::{Finding, Severity, Stage};
use omen::validator::{JudgedPacket, Sink, Summary, Validator, ValidatorOptions, report_foreign};
use omen_fsm::Event;
use omen_types::Packet;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::coverage::Coverage;
use super::digest;
use super::facts::{Links, PacketDigest, Role};
use super::lines::UnjudgedLines;
use super::tables;
use super::texts::Texts;
use crate::exit::complain;
use crate::input::{self, Input, Layout, PacketLines, PacketSplitter};

/// Everything that the report shows about the logs.
#[derive(Debug, Default)]
pub(super) struct Gather {
    pub(super) logs: Vec<Log>,
    /// Log index and correlation id of each episode, in the order of their first packets. The id is `None` for lines that name
    /// no episode.
    pub(super) episodes: Vec<(usize, Option<String>)>,
    pub(super) packets: Vec<PacketRow>,
    pub(super) findings: Vec<FindingRow>,
    pub(super) texts: Texts,
    pub(super) coverage: Coverage,
    /// Indices of episodes with an error.
    pub(super) faulty: BTreeSet<usize>,
    pub(super) left: OmittedCounts,
}

#[derive(Debug)]
pub(super) struct Log {
    pub(super) name: String,
    pub(super) summary: Summary,
    pub(super) sha256: String,
    /// Reason why the log was not read to its end.
    pub(super) failure: Option<String>,
}

/// Numbers of items that the report omits for lack of space.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OmittedCounts {
    pub(super) packets: u64,
    pub(super) texts: u64,
    pub(super) findings: u64,
}

/// A packet in the form that the page reads: an array, since there are many.
#[derive(Debug, Serialize)]
pub(super) struct PacketRow(
    /// Index of the episode.
    usize,
    /// Line number.
    u64,
    /// Packet id.
    Option<String>,
    /// Index of the packet type.
    Option<usize>,
    /// Layer.
    Option<String>,
    /// Milliseconds since 1970.
    Option<i64>,
    /// Nodes before the packet.
    Vec<usize>,
    /// Nodes after the packet.
    Vec<usize>,
    /// Index of the event.
    Option<usize>,
    /// Whether the packet was accepted, as 0 or 1.
    u8,
    /// Short description.
    String,
    /// Indices of the text's pieces; `None` if the text was omitted.
    Option<Vec<usize>>,
    Option<Links>,
);

/// A finding in the form that the page reads.
#[derive(Debug, Serialize)]
pub(super) struct FindingRow {
    /// Index of the episode; `packet` is the packet's index among all packets, `None` at the end of the log.
    #[serde(rename = "e")]
    pub(super) episode: usize,
    #[serde(rename = "p")]
    packet: Option<usize>,
    #[serde(rename = "code")]
    code: &'static str,
    #[serde(rename = "also", skip_serializing_if = "Vec::is_empty")]
    also: Vec<&'static str>,
    #[serde(rename = "sev")]
    severity: &'static str,
    stage: &'static str,
    #[serde(rename = "ptr", skip_serializing_if = "Option::is_none")]
    pointer: Option<String>,
    /// Span in the text, in UTF-16 code units as used by scripts.
    #[serde(skip_serializing_if = "Option::is_none")]
    span: Option<[usize; 2]>,
    #[serde(rename = "col", skip_serializing_if = "Option::is_none")]
    column: Option<u64>,
    #[serde(rename = "msg")]
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// Line of the rejected packet that caused the finding.
    #[serde(rename = "from", skip_serializing_if = "Option::is_none")]
    follows_from: Option<u64>,
    /// Line of the packet; `packet_id` is the id of a packet that the finding names without a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(rename = "id", skip_serializing_if = "Option::is_none")]
    packet_id: Option<String>,
}

/// Values shown where scripts do not run.
impl FindingRow {
    pub(super) fn is_error(&self) -> bool {
        self.severity == Severity::Error.as_str()
    }

    pub(super) fn severity(&self) -> &'static str {
        self.severity
    }

    pub(super) fn code(&self) -> &'static str {
        self.code
    }

    pub(super) fn line(&self) -> Option<u64> {
        self.line
    }

    /// Returns the message, with the line of its cause if it has one.
    pub(super) fn message(&self) -> String {
        match self.follows_from {
            Some(line) => format!("{} (follows from line {line})", self.message),
            None => self.message.clone(),
        }
    }
}

impl Gather {
    /// Reads a log to its end. A log that cannot be read is reported, also in the report itself.
    pub(super) fn read(&mut self, path: &Path, options: &ValidatorOptions) {
        let at = self.logs.len();
        let mut reading = Reading {
            gather: self,
            log: at,
            lines: UnjudgedLines::default(),
            found: Vec::new(),
            episodes: HashMap::new(),
            places: None,
        };
        let mut hash = Sha256::new();
        let (summary, failure) = reading.run(path, options, &mut hash);
        if let Some(error) = &failure {
            complain(format_args!("cannot read {}: {error}", input::name(path)));
        } else if summary.packets == 0 {
            complain(format_args!("note: {} contains no packets", input::name(path)));
        }
        self.logs.push(Log {
            name: input::name(path),
            summary,
            sha256: digest::hex(&hash.finalize()),
            failure: failure.map(|error| error.to_string()),
        });
    }

    /// Records a path that could not be searched for logs, and the reason.
    pub(super) fn unread(&mut self, name: String, why: String) {
        complain(format_args!("cannot read {name}: {why}"));
        self.logs.push(Log { name, summary: Summary::default(), sha256: digest::sha256(&[]), failure: Some(why) });
    }

    /// Returns the counts over all logs.
    pub(super) fn total(&self) -> Summary {
        self.logs.iter().fold(Summary::default(), |mut total, log| {
            total += log.summary;
            total
        })
    }

    /// Returns whether every log was read to its end.
    pub(super) fn is_complete(&self) -> bool {
        self.logs.iter().all(|log| log.failure.is_none())
    }
}

/// Judge for the format of a log.
enum Judge {
    /// One packet per line.
    Lines(Box<Validator>),
    /// Packets in an array, or one after another.
    Packets(Box<Validator>, PacketSplitter),
    /// Not a log at all, which has been reported.
    Nothing(Summary),
}

impl Judge {
    fn summary(&self) -> Summary {
        match self {
            Self::Lines(validator) | Self::Packets(validator, _) => validator.summary(),
            Self::Nothing(summary) => *summary,
        }
    }
}

/// State while reading a log.
struct Reading<'g> {
    gather: &'g mut Gather,
    log: usize,
    lines: UnjudgedLines,
    /// Findings of the next packet.
    found: Vec<Finding>,
    /// Episodes of this log; an episode does not continue in another log.
    episodes: HashMap<Option<String>, InEpisode>,
    /// Line of the file at which each packet begins, unless there is one packet per line.
    places: Option<Vec<u64>>,
}

/// State of an episode while its log is being read.
#[derive(Debug)]
struct InEpisode {
    number: usize,
    /// Id of the latest accepted decision.
    decision: Option<String>,
}

impl Reading<'_> {
    /// Reads and judges a log. Returns the counts, and the error if the log was not read to its end.
    fn run(&mut self, path: &Path, options: &ValidatorOptions, hash: &mut Sha256) -> (Summary, Option<io::Error>) {
        let input = match Input::open_decoded(path, false) {
            Ok(input) => input,
            Err(error) => return (Summary::default(), Some(error)),
        };
        let bar = input.bar.clone();
        let log = Layout::Auto.of(Box::new(input));
        let mut judge = if log.layout == Layout::Array {
            self.places = Some(Vec::new());
            Judge::Packets(Box::new(Validator::new(options.clone())), PacketSplitter::default())
        } else {
            // For something other than a log, a single finding says so.
            self.lines.push(&log.begin);
            let Ok(foreign) = report_foreign(&log.begin, self);
            self.lines = UnjudgedLines::default();
            match foreign {
                Some(summary) => Judge::Nothing(summary),
                None => Judge::Lines(Box::new(Validator::new(options.clone()))),
            }
        };
        let (mut reader, mut bytes, mut buffer) = (log.whole(), 0, vec![0; PIECE]);
        let failure = loop {
            match reader.read(&mut buffer) {
                Ok(0) => break None,
                Ok(length) => {
                    let piece = buffer.get(..length).unwrap_or_default();
                    hash.update(piece);
                    bytes += length as u64;
                    self.judge(piece, &mut judge);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Some(error),
            }
        };
        bar.finish_and_clear();
        // Without the end of the log, it is unknown what the log lacks.
        let summary = if failure.is_some() { judge.summary() } else { self.finish(judge) };
        (Summary { bytes, ..summary }, failure)
    }

    /// Judges the next piece of the log.
    fn judge(&mut self, piece: &[u8], judge: &mut Judge) {
        match judge {
            Judge::Lines(validator) => {
                self.lines.push(piece);
                let Ok(()) = validator.feed(piece, self);
            }
            Judge::Packets(validator, splitter) => {
                let mut split = PacketLines::default();
                splitter.feed(piece, &mut split);
                self.judge_packets(&split, validator);
            }
            Judge::Nothing(_) => {}
        }
    }

    fn judge_packets(&mut self, split: &PacketLines, validator: &mut Validator) {
        if let Some(places) = &mut self.places {
            places.extend(split.places.iter().map(|place| place.line));
        }
        self.lines.push(&split.bytes);
        let Ok(()) = validator.feed(&split.bytes, self);
    }

    fn finish(&mut self, judge: Judge) -> Summary {
        match judge {
            Judge::Lines(validator) => {
                let Ok(summary) = validator.finish(self);
                summary
            }
            Judge::Packets(mut validator, mut splitter) => {
                let mut split = PacketLines::default();
                splitter.finish(&mut split);
                self.judge_packets(&split, &mut validator);
                let Ok(summary) = validator.finish(self);
                summary
            }
            Judge::Nothing(summary) => summary,
        }
    }

    /// Converts the validator's line number to the line in the file.
    fn line_in_file(&self, line: u64) -> u64 {
        let at = |places: &Vec<u64>| places.get(usize::try_from(line.checked_sub(1)?).ok()?).copied();
        self.places.as_ref().and_then(at).unwrap_or(line)
    }

    fn episode(&mut self, id: Option<&str>) -> &mut InEpisode {
        let (gather, log) = (&mut *self.gather, self.log);
        self.episodes.entry(id.map(str::to_owned)).or_insert_with(|| {
            gather.episodes.push((log, id.map(str::to_owned)));
            InEpisode { number: gather.episodes.len() - 1, decision: None }
        })
    }

    fn keep(&mut self, finding: Finding, episode: usize, packet: Option<usize>, text: Option<&str>) {
        if finding.diagnostic.severity == Severity::Error {
            self.gather.faulty.insert(episode);
        }
        if self.gather.findings.len() == MOST_FINDINGS {
            self.gather.left.findings += 1;
            return;
        }
        let follows_from = finding.follows_from.map(|cause| self.line_in_file(cause.line));
        let line = finding.line.map(|line| self.line_in_file(line));
        let diagnostic = finding.diagnostic;
        self.gather.findings.push(FindingRow {
            episode,
            packet,
            code: diagnostic.code.as_str(),
            also: diagnostic.also.iter().map(|code| code.as_str()).collect(),
            severity: diagnostic.severity.as_str(),
            stage: finding.stage.as_str(),
            pointer: diagnostic.pointer,
            span: diagnostic.span.zip(text).and_then(|(span, text)| utf16(text, &span)),
            // For a packet that spans lines, a column would mislead; the excerpt shows the position.
            column: finding.column.filter(|_| self.places.is_none()),
            message: diagnostic.message,
            label: diagnostic.label,
            help: diagnostic.help,
            notes: diagnostic.notes,
            follows_from,
            line,
            packet_id: finding.packet_id,
        });
    }
}

impl Sink for Reading<'_> {
    type Error = Infallible;

    fn finding(&mut self, finding: Finding, _: Option<&str>) -> Result<(), Infallible> {
        self.gather.coverage.finding(&finding);
        // Without an index, the finding is about an earlier packet (TIME), not the next one.
        if finding.packet_index.is_some() {
            self.found.push(finding);
        } else {
            let episode = self.episode(finding.correlation_id.as_deref()).number;
            self.keep(finding, episode, None, None);
        }
        Ok(())
    }

    fn packet(&mut self, packet: &JudgedPacket<'_>) -> Result<(), Infallible> {
        let found = std::mem::take(&mut self.found);
        // An accepted packet may also have an error (D87).
        let rejected = found.iter().find(|finding| finding.diagnostic.severity == Severity::Error);
        let stage = (!packet.accepted).then(|| rejected.map_or(Stage::Json, |finding| finding.stage));
        self.gather.coverage.packet(packet.packet_type, stage);

        let text = self.lines.take(packet.line);
        let parsed = text.as_deref().filter(|_| packet.event.is_some()).and_then(|text| text.parse::<Packet>().ok());
        let mut facts = parsed.as_ref().map(PacketDigest::from_packet).unwrap_or_default();
        let episode = self.episode(packet.correlation_id);
        let number = episode.number;
        match (&facts.role, &episode.decision) {
            (Role::UnderDecision, Some(decision)) => facts.links.under(decision),
            (Role::Decision(budgets), before) if packet.accepted => {
                if before.is_none() {
                    facts.links.sets(*budgets);
                }
                episode.decision = packet.packet_id.map(str::to_owned);
            }
            _ => {}
        }
        if packet.event == Some(Event::DirectWrite) {
            facts.links.writes();
        }

        let line = self.line_in_file(packet.line);
        let gather = &mut *self.gather;
        // Packets with findings matter most, so they get additional space.
        let is_shown = !found.is_empty();
        let (most_packets, most_text) =
            if is_shown { (2 * MOST_PACKETS, 2 * MOST_TEXT) } else { (MOST_PACKETS, MOST_TEXT) };
        let is_kept = gather.packets.len() < most_packets;
        if is_kept {
            let text = text.as_deref().filter(|text| gather.texts.bytes() + text.len() <= most_text);
            gather.left.texts += u64::from(text.is_none());
            let pieces = text.map(|text| gather.texts.keep(text));
            gather.packets.push(PacketRow(
                number,
                line,
                packet.packet_id.map(str::to_owned),
                packet.packet_type.map(tables::packet_type),
                facts.layer,
                facts.time,
                packet.before.map(tables::nodes).unwrap_or_default(),
                packet.after.map(tables::nodes).unwrap_or_default(),
                packet.event.map(tables::event),
                u8::from(packet.accepted),
                facts.brief,
                pieces,
                Some(facts.links).filter(|links| !links.is_empty()),
            ));
        } else {
            gather.left.packets += 1;
        }
        let place = is_kept.then(|| gather.packets.len() - 1);
        for finding in found {
            self.keep(finding, number, place, text.as_deref());
        }
        Ok(())
    }
}

/// Converts a byte span to UTF-16 code units; `None` if the span is not inside the text.
fn utf16(text: &str, span: &Range<usize>) -> Option<[usize; 2]> {
    let units = |text: &str| text.encode_utf16().count();
    let start = units(text.get(..span.start)?);
    Some([start, start + units(text.get(span.clone())?)])
}

/// Number of bytes read at a time.
const PIECE: usize = 256 * 1024;

/// Maximum number of packets shown; packets with findings are shown up to twice this number.
const MOST_PACKETS: usize = 500_000;

/// Maximum size of shown texts in bytes; texts of packets with findings are shown up to twice this size.
const MOST_TEXT: usize = 96 * 1024 * 1024;

/// Maximum number of findings shown.
const MOST_FINDINGS: usize = 20_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_counted_as_scripts_count() {
        assert_eq!(utf16("aé😀b", &(1..3)), Some([1, 2]));
        assert_eq!(utf16("aé😀b", &(3..7)), Some([2, 4]));
        assert_eq!(utf16("aé😀b", &(7..8)), Some([4, 5]));
        assert_eq!(utf16("aé", &(2..3)), None);
        assert_eq!(utf16("a", &(0..9)), None);
    }
}
