//! Findings on packets that are not one per line, with their positions in the file.

use std::io::{self, Read};

use omen_types::Severity;

use super::any_validator::AnyValidator;
use super::packets::{FilePosition, PacketLines, PacketSplitter};
use crate::finding::Finding;
use crate::lines::ReadError;
use crate::validator::{JudgedPacket, Sink, Summary};

/// Checks the packets of a stream to its end, including what is still open there.
pub(super) fn read<E>(
    mut validator: AnyValidator,
    mut reader: impl Read,
    sink: &mut dyn Sink<Error = E>,
) -> Result<Summary, (ReadError<E>, Summary)> {
    let mut splitter = PacketSplitter::default();
    let mut placed = FilePositions { sink, first: 1, lines: PacketLines::default(), causes: Vec::new() };
    let mut buffer = vec![0; READ_BYTES];
    let mut bytes = 0;
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                bytes += count as u64;
                splitter.feed(buffer.get(..count).unwrap_or_default(), &mut placed.lines);
                let fed = placed.feed(&mut validator).and_then(|()| placed.sink.caught_up());
                fed.map_err(|error| (ReadError::Sink(error), Summary { bytes, ..validator.summary() }))?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err((ReadError::Input(error), Summary { bytes, ..validator.summary() })),
        }
    }
    splitter.finish(&mut placed.lines);
    let fed = placed.feed(&mut validator);
    fed.map_err(|error| (ReadError::Sink(error), Summary { bytes, ..validator.summary() }))?;
    let so_far = validator.summary();
    let summary =
        validator.finish(&mut placed).map_err(|error| (ReadError::Sink(error), Summary { bytes, ..so_far }))?;
    Ok(Summary { bytes, ..summary })
}

/// Sink that passes on findings with their positions in the file.
struct FilePositions<'s, E> {
    sink: &'s mut dyn Sink<Error = E>,
    /// Number of the line to which the first position belongs.
    first: u64,
    /// Next lines for the validator, and the positions of the lines that it is checking.
    lines: PacketLines,
    /// Packets with errors that may be causes of others, each with its line in the validator and in the file.
    causes: Vec<(u64, u64)>,
}

impl<E> FilePositions<'_, E> {
    /// Checks the lines so far.
    fn feed(&mut self, validator: &mut AnyValidator) -> Result<(), E> {
        let bytes = std::mem::take(&mut self.lines.bytes);
        validator.feed(&bytes, self)?;
        // The last line may not be complete.
        let done = self.lines.places.len().saturating_sub(1);
        self.lines.places.drain(..done);
        self.first += done as u64;
        self.lines.bytes = bytes;
        self.lines.bytes.clear();
        Ok(())
    }

    fn place(&self, line: u64) -> Option<FilePosition> {
        self.lines.places.get(usize::try_from(line.checked_sub(self.first)?).ok()?).copied()
    }

    fn cause(&self, line: u64) -> Option<u64> {
        let at = self.causes.binary_search_by_key(&line, |(line, _)| *line).ok()?;
        self.causes.get(at).map(|(_, in_file)| *in_file)
    }
}

impl<E> Sink for FilePositions<'_, E> {
    type Error = E;

    fn finding(&mut self, mut finding: Finding, line: Option<&str>) -> Result<(), E> {
        if let Some(cause) = &mut finding.follows_from {
            cause.line = self.cause(cause.line).unwrap_or(cause.line);
        }
        // The line of every packet would have to be stored otherwise.
        finding.directive_line = None;
        let Some((number, place)) = finding.line.and_then(|line| Some((line, self.place(line)?))) else {
            return self.sink.finding(finding, line);
        };
        let is_cause = finding.correlation_id.is_some() && finding.diagnostic.severity == Severity::Error;
        if is_cause && self.causes.last().is_none_or(|(last, _)| *last < number) {
            self.causes.push((number, place.line));
        }
        finding.line = Some(place.line);
        finding.column = None;
        let Some(text) = line else { return self.sink.finding(finding, None) };
        let Some(span) = finding.diagnostic.span.clone() else { return self.sink.finding(finding, Some(text)) };
        // Line of the file in which the span begins. A span that continues on the next line is truncated.
        let before = text.get(..span.start).unwrap_or(text);
        let start = before.rfind('\r').map_or(0, |at| at + 1);
        let end = text.get(span.start..).and_then(|rest| rest.find('\r')).map_or(text.len(), |at| span.start + at);
        let row = text.get(start..end).unwrap_or_default();
        let rows = before.matches('\r').count() as u64;
        let columns = before.get(start..).map_or(0, |before| before.chars().count()) as u64;
        finding.line = Some(place.line + rows);
        finding.column = Some(columns + if rows == 0 { place.column } else { 1 });
        finding.diagnostic.span = Some(before.len() - start..span.end.clamp(before.len(), end) - start);
        self.sink.finding(finding, Some(row))
    }

    fn packet(&mut self, packet: &JudgedPacket<'_>) -> Result<(), E> {
        let mut packet = packet.clone();
        packet.line = self.place(packet.line).map_or(packet.line, |place| place.line);
        self.sink.packet(&packet)
    }

    fn wants_packets(&self) -> bool {
        self.sink.wants_packets()
    }

    fn caught_up(&mut self) -> Result<(), E> {
        self.sink.caught_up()
    }
}

/// Size of a read: enough work for several threads.
const READ_BYTES: usize = 1024 * 1024;
