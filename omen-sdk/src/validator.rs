//! The validator: takes bytes of a log, and reports findings.

use std::convert::Infallible;
use std::io::Read;

use omen_fsm::Verdict;
pub use omen_fsm::{Event, Node, NodeSet};
use omen_types::limits::MAX_LINE_BYTES;
use omen_types::{Claims, Code, Diagnostic, Instant, PacketFacts, PacketType, Rejected, Severity, parse};

use crate::finding::{Finding, Stage};
use crate::lines::{LineSplitter, RawLine, ReadError};

mod episodes;
mod levels;

pub use levels::{Level, Levels, NotAdjustable};

use episodes::Episodes;

/// Options of a validator.
#[derive(Clone, Debug, Default)]
pub struct ValidatorOptions {
    /// A fixed time, instead of the clock of each episode (D2).
    pub now: Option<Instant>,
    /// Levels of codes whose severity differs from that of the protocol.
    pub levels: Levels,
}

/// Receives what a validator finds.
pub trait Sink {
    /// What may go wrong with it; [`Infallible`] if nothing can. The validator stops at the first error and returns it.
    type Error;

    /// Takes a finding. `line` is the text of its line, with bytes that are not UTF-8 replaced; it is `None` at the end of
    /// the stream, and for a line that is too long to be kept.
    ///
    /// # Errors
    /// If the sink cannot take it.
    fn finding(&mut self, finding: Finding, line: Option<&str>) -> Result<(), Self::Error>;

    /// Takes a packet that was judged, after its findings.
    ///
    /// # Errors
    /// If the sink cannot take it.
    fn packet(&mut self, packet: &JudgedPacket<'_>) -> Result<(), Self::Error> {
        let _ = packet;
        Ok(())
    }

    /// Called by [`Validator::read`] when everything that was read so far is checked: the reader may block next, so this is
    /// where to flush its output.
    ///
    /// # Errors
    /// If the sink cannot flush.
    fn caught_up(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Keeps the findings.
impl Sink for Vec<Finding> {
    type Error = Infallible;

    fn finding(&mut self, finding: Finding, _: Option<&str>) -> Result<(), Infallible> {
        self.push(finding);
        Ok(())
    }
}

/// A packet that was judged.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct JudgedPacket<'s> {
    /// Line of the stream, from 1.
    pub line: u64,
    /// Number of the packet in the stream, from 0.
    pub packet_index: u64,
    /// `header.packet_id`, if it is readable.
    pub packet_id: Option<&'s str>,
    /// `header.correlation_id`, if it is readable.
    pub correlation_id: Option<&'s str>,
    /// `header.packet_type`, if it is readable.
    pub packet_type: Option<PacketType>,
    /// The possible states of the episode before it.
    pub before: Option<NodeSet>,
    /// The possible states after it: the same ones if it was rejected.
    pub after: Option<NodeSet>,
    /// The event that the packet is to the state machine.
    pub event: Option<Event>,
    /// Whether it was accepted.
    pub accepted: bool,
}

/// Counts of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Summary {
    /// Bytes read.
    pub bytes: u64,
    /// Lines that are not blank.
    pub packets: u64,
    /// Packets without an error.
    pub accepted: u64,
    /// Packets with an error.
    pub rejected: u64,
    /// Different correlation ids among the packets that match their schema.
    pub episodes: u64,
    /// Findings that are errors.
    pub errors: u64,
    /// Findings that are warnings.
    pub warnings: u64,
}

impl std::ops::AddAssign for Summary {
    fn add_assign(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.packets += other.packets;
        self.accepted += other.accepted;
        self.rejected += other.rejected;
        self.episodes += other.episodes;
        self.errors += other.errors;
        self.warnings += other.warnings;
    }
}

/// Checks a log: a stream of JSON Lines, in which episodes may be interleaved.
///
/// Each line goes through four stages: JSON, schema, state machine, invariants. The first stage with an error rejects the
/// packet, which then changes nothing (D1). Memory grows with the number of episodes and of their open directives and tokens,
/// and by 16 bytes for each id that must not be repeated (D21); otherwise not with the length of the log.
///
/// ```
/// use omen::{Finding, Validator, validator::ValidatorOptions};
///
/// let log = omen_schema::example("invalid/e1-decision-before-belief.jsonl").unwrap_or_default();
/// let mut findings: Vec<Finding> = Vec::new();
/// let mut validator = Validator::new(ValidatorOptions::default());
/// let Ok(()) = validator.feed(log.as_bytes(), &mut findings);
/// let Ok(summary) = validator.finish(&mut findings);
/// assert_eq!(summary.errors, 1);
/// assert_eq!(findings[0].diagnostic.code, omen::Code::E1);
/// ```
#[derive(Debug)]
pub struct Validator {
    lines: LineSplitter,
    judge: Judge,
}

impl Validator {
    /// Creates a validator at the beginning of a stream.
    #[must_use]
    pub fn new(options: ValidatorOptions) -> Self {
        let judge = Judge { options, episodes: Episodes::default(), line: 0, summary: Summary::default() };
        Self { lines: LineSplitter::new(MAX_LINE_BYTES), judge }
    }

    /// Checks the next bytes of the stream, in chunks of any size.
    ///
    /// # Errors
    /// The first error of the sink. The rest of `bytes` is not checked then, so the stream cannot be continued.
    pub fn feed<S: Sink + ?Sized>(&mut self, bytes: &[u8], sink: &mut S) -> Result<(), S::Error> {
        self.lines.feed(bytes, |line| self.judge.line(line, sink))
    }

    /// Checks everything that a reader returns.
    ///
    /// # Errors
    /// If the reader fails, after everything that it returned before was checked; or the first error of the sink.
    pub fn read<S: Sink + ?Sized>(&mut self, reader: impl Read, sink: &mut S) -> Result<(), ReadError<S::Error>> {
        self.lines.read(reader, |line| match line {
            Some(line) => self.judge.line(line, sink),
            None => sink.caught_up(),
        })
    }

    /// Reports the directives that are late at the time `now`, without waiting for a packet (INV-011): for a program that
    /// follows a log as it is written, with a clock of its own. Each late directive is reported once, here or with the next
    /// packet. The clocks of the episodes do not change (D2), so later packets get the same verdict as in a replay; only a
    /// decision that follows a report on a directive with CRITICAL stakes is expected to escalate (D69).
    ///
    /// ```
    /// use omen::{Code, Finding, Validator, validator::ValidatorOptions};
    ///
    /// let log = omen_schema::example("valid/warning-inv-011-late-result.jsonl").unwrap_or_default();
    /// let mut validator = Validator::new(ValidatorOptions::default());
    /// let mut findings: Vec<Finding> = Vec::new();
    /// // Up to the first directive; then there is no packet for years.
    /// for line in log.split_inclusive('\n').take(4) {
    ///     let Ok(()) = validator.feed(line.as_bytes(), &mut findings);
    /// }
    /// assert!(findings.is_empty());
    /// let Ok(()) = validator.tick("2030-01-01T00:00:00Z".parse()?, &mut findings);
    /// assert_eq!(findings[0].diagnostic.code, Code::Inv011);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The first error of the sink.
    pub fn tick<S: Sink + ?Sized>(&mut self, now: Instant, sink: &mut S) -> Result<(), S::Error> {
        self.judge.tick(now, sink)
    }

    /// The counts so far.
    #[must_use]
    pub fn summary(&self) -> Summary {
        Summary { bytes: self.lines.bytes(), ..self.judge.summary() }
    }

    /// Checks the end of the stream: a last line without a line end, and what is still open (D4).
    ///
    /// # Errors
    /// The first error of the sink.
    pub fn finish<S: Sink + ?Sized>(mut self, sink: &mut S) -> Result<Summary, S::Error> {
        self.lines.finish(|line| self.judge.line(line, sink))?;
        self.judge.end(sink)?;
        Ok(self.summary())
    }
}

/// The validator without the splitting into lines.
#[derive(Debug)]
struct Judge {
    options: ValidatorOptions,
    episodes: Episodes,
    line: u64,
    summary: Summary,
}

impl Judge {
    fn summary(&self) -> Summary {
        Summary { episodes: self.episodes.len() as u64, ..self.summary }
    }

    fn line<S: Sink + ?Sized>(&mut self, line: RawLine<'_>, sink: &mut S) -> Result<(), S::Error> {
        self.line += 1;
        let bytes = match line {
            RawLine::Whole(bytes) => bytes,
            RawLine::TooLong => return self.broken(parse::too_long(), None, sink),
        };
        if bytes.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            return Ok(());
        }
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let mut rejected = parse::not_utf8(&error);
                let text = String::from_utf8_lossy(bytes);
                // A replacement character takes three bytes, however many bytes it replaces.
                if let Some(span) = rejected.errors.first_mut().and_then(|error| error.span.as_mut()) {
                    span.end = span.start + char::REPLACEMENT_CHARACTER.len_utf8();
                }
                return self.broken(rejected, Some(&text), sink);
            }
        };
        match PacketFacts::parse(text) {
            Ok(facts) => self.packet(text, &facts, sink),
            Err(rejected) => self.broken(*rejected, Some(text), sink),
        }
    }

    /// A packet that matches its schema.
    fn packet<S: Sink + ?Sized>(&mut self, text: &str, facts: &PacketFacts<'_>, sink: &mut S) -> Result<(), S::Error> {
        let packet_index = self.summary.packets;
        self.summary.packets += 1;
        let machine = self.episodes.get_or_start(&facts.header.correlation_id);
        let before = machine.nodes();
        let mut verdict = machine.judge(facts, self.options.now);
        self.options.levels.apply(&mut verdict.invariants);
        let accepted = verdict.errors().next().is_none();
        if accepted {
            machine.accept(facts, &verdict);
        }
        let after = machine.nodes();
        if accepted {
            self.summary.accepted += 1;
        } else {
            self.summary.rejected += 1;
        }
        let event = verdict.event;
        let place = Place { line: self.line, packet_index, text: Some(text) };
        for (stage, diagnostic) in reported(verdict, accepted) {
            self.summary.count(&diagnostic);
            let known = Known {
                packet_id: Some(facts.header.packet_id.clone().into_owned()),
                correlation_id: Some(facts.header.correlation_id.clone().into_owned()),
                packet_type: Some(facts.payload.packet_type()),
                state: Some(before),
            };
            sink.finding(place.finding(known, stage, diagnostic), Some(text))?;
        }
        sink.packet(&JudgedPacket {
            line: self.line,
            packet_index,
            packet_id: Some(&facts.header.packet_id),
            correlation_id: Some(&facts.header.correlation_id),
            packet_type: Some(facts.payload.packet_type()),
            before: Some(before),
            after: Some(after),
            event: Some(event),
            accepted,
        })
    }

    /// A line that is not a valid packet.
    fn broken<S: Sink + ?Sized>(
        &mut self,
        rejected: Rejected,
        text: Option<&str>,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        let packet_index = self.summary.packets;
        self.summary.packets += 1;
        self.summary.rejected += 1;
        let Rejected { errors, claims } = rejected;
        let Claims { packet_id, correlation_id, packet_type } = claims;
        let nodes = correlation_id.as_deref().map(|id| self.episodes.nodes(id));
        let place = Place { line: self.line, packet_index, text };
        for diagnostic in errors {
            self.summary.count(&diagnostic);
            let stage = if diagnostic.code == Code::Json { Stage::Json } else { Stage::Schema };
            let known = Known {
                packet_id: packet_id.clone(),
                correlation_id: correlation_id.clone(),
                packet_type,
                state: nodes,
            };
            sink.finding(place.finding(known, stage, diagnostic), text)?;
        }
        sink.packet(&JudgedPacket {
            line: self.line,
            packet_index,
            packet_id: packet_id.as_deref(),
            correlation_id: correlation_id.as_deref(),
            packet_type,
            before: nodes,
            after: nodes,
            event: None,
            accepted: false,
        })
    }

    fn end<S: Sink + ?Sized>(&mut self, sink: &mut S) -> Result<(), S::Error> {
        for (id, machine) in self.episodes.in_order() {
            let mut found = machine.finish_at(self.options.now);
            self.options.levels.apply_to(&mut found, |(_, diagnostic)| diagnostic);
            for (packet_id, diagnostic) in found {
                self.summary.count(&diagnostic);
                let packet_id = packet_id.map(str::to_owned);
                sink.finding(unplaced(id, machine.nodes(), packet_id, Stage::End, diagnostic), None)?;
            }
        }
        Ok(())
    }

    fn tick<S: Sink + ?Sized>(&mut self, now: Instant, sink: &mut S) -> Result<(), S::Error> {
        let Self { options, episodes, summary, .. } = self;
        episodes.tick(now, |id, nodes, mut late| {
            options.levels.apply_to(&mut late, |(_, diagnostic)| diagnostic);
            late.into_iter().try_for_each(|(packet_id, diagnostic)| {
                summary.count(&diagnostic);
                sink.finding(unplaced(id, nodes, Some(packet_id), Stage::Invariant, diagnostic), None)
            })
        })
    }
}

impl Summary {
    fn count(&mut self, diagnostic: &Diagnostic) {
        match diagnostic.severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
        }
    }
}

/// The findings to report: only the errors if the packet is rejected (D1).
fn reported(verdict: Verdict, accepted: bool) -> impl Iterator<Item = (Stage, Diagnostic)> {
    let ids = verdict.ids.into_iter().map(|found| (Stage::Schema, found));
    let fsm = verdict.fsm.into_iter().map(|found| (Stage::Fsm, found));
    let invariants = verdict
        .invariants
        .into_iter()
        .filter(move |found| accepted || found.severity == Severity::Error)
        .map(|found| (Stage::Invariant, found));
    ids.chain(fsm).chain(invariants)
}

/// A finding without a line: about an episode, or about one of its directives.
fn unplaced(id: &str, nodes: NodeSet, packet_id: Option<String>, stage: Stage, diagnostic: Diagnostic) -> Finding {
    Finding {
        line: None,
        column: None,
        packet_index: None,
        // Of packets, only directives are reported without a line.
        packet_type: packet_id.as_ref().map(|_| PacketType::TaskDirectivePacket),
        packet_id,
        correlation_id: Some(id.to_owned()),
        state: Some(names(nodes)),
        stage,
        diagnostic,
    }
}

fn names(nodes: NodeSet) -> Vec<&'static str> {
    nodes.states().into_iter().map(omen_fsm::State::as_str).collect()
}

/// The place of a packet in the stream.
struct Place<'p> {
    line: u64,
    packet_index: u64,
    text: Option<&'p str>,
}

/// The known facts of a packet.
struct Known {
    packet_id: Option<String>,
    correlation_id: Option<String>,
    packet_type: Option<PacketType>,
    state: Option<NodeSet>,
}

impl Place<'_> {
    fn finding(&self, known: Known, stage: Stage, mut diagnostic: Diagnostic) -> Finding {
        if diagnostic.span.is_none()
            && let (Some(text), Some(pointer)) = (self.text, &diagnostic.pointer)
        {
            diagnostic.span = parse::locate(text, pointer);
        }
        let column = self.text.and_then(|text| diagnostic.position(text)).map(|(_, column)| column);
        Finding {
            line: Some(self.line),
            column,
            packet_index: Some(self.packet_index),
            packet_id: known.packet_id,
            correlation_id: known.correlation_id,
            packet_type: known.packet_type,
            state: known.state.map(names),
            stage,
            diagnostic,
        }
    }
}
