//! Packets surrounded by other text on their lines, as written by containers and log collectors, and the conversion of positions
//! in findings to positions in the file.

use std::borrow::Cow;
use std::io::Read;

use omen::finding::Finding;
use omen::input::AnyValidator;
use omen::lines::{LineSplitter, RawLine, ReadError};
use omen::packet::parse::locate;
use omen::validator::{JudgedPacket, Sink, Summary, report_foreign};
use omen_base::json::strict;
use omen_types::limits::MAX_LINE_BYTES;

/// Text that surrounds a packet on its line.
#[derive(Clone, Debug)]
pub(crate) enum Wrapping {
    /// Text before the packet, up to its opening bracket.
    Prefix,
    /// JSON object that holds the packet, or its text, in the field at a JSON pointer.
    Field(String),
}

/// Checks the packets of a stream to its end, including what is still open there.
pub(super) fn read<E>(
    mut validator: AnyValidator,
    wrapping: &Wrapping,
    reader: impl Read,
    sink: &mut dyn Sink<Error = E>,
) -> Result<Summary, (ReadError<E>, Summary)> {
    let mut lines = LineSplitter::new(LONGEST);
    let mut unwrapped = UnwrappingSink { wrapping, first: 1, batch: Batch::default(), sink };
    let mut foreign = None;
    let read = lines.read(reader, |line| match line {
        _ if foreign.is_some() => Ok(()),
        Some(line) => {
            unwrapped.batch.add(line, wrapping);
            Ok(())
        }
        None => {
            foreign = unwrapped.check(&mut validator)?;
            unwrapped.sink.caught_up()
        }
    });
    let counted = |lines: &LineSplitter, summary| Summary { bytes: lines.bytes(), ..summary };
    read.map_err(|error| (error, counted(&lines, validator.summary())))?;
    let ended = lines.finish(|line| {
        unwrapped.batch.add(line, wrapping);
        Ok(())
    });
    let ended = ended.and_then(|()| if foreign.is_none() { unwrapped.check(&mut validator) } else { Ok(None) });
    foreign = ended.map_err(|error| (ReadError::Sink(error), counted(&lines, validator.summary())))?.or(foreign);
    if let Some(summary) = foreign {
        return Ok(counted(&lines, summary));
    }
    let so_far = counted(&lines, validator.summary());
    let summary = validator.finish(&mut unwrapped).map_err(|error| (ReadError::Sink(error), so_far))?;
    Ok(counted(&lines, summary))
}

/// Sink that converts positions in findings to positions in the lines of the file.
struct UnwrappingSink<'s, E> {
    wrapping: &'s Wrapping,
    /// Number of the batch's first line.
    first: u64,
    batch: Batch,
    sink: &'s mut dyn Sink<Error = E>,
}

/// Lines that are collected, or being checked.
#[derive(Default)]
struct Batch {
    /// Packets, each with a line end.
    packets: Vec<u8>,
    /// Lines as in the file; empty for a line that is too long.
    lines: Vec<Vec<u8>>,
    /// Whether any line had text around its packet.
    is_wrapped: bool,
}

impl Batch {
    fn add(&mut self, line: RawLine<'_>, wrapping: &Wrapping) {
        let RawLine::Whole(line) = line else {
            // Stands in for the line with one that is too long for the validator as well.
            self.packets.resize(self.packets.len() + MAX_LINE_BYTES + 1, b'x');
            self.packets.push(b'\n');
            self.lines.push(Vec::new());
            return;
        };
        match str::from_utf8(line).ok().and_then(|line| wrapping.packet(line)) {
            Some(packet) => {
                self.is_wrapped |= packet.start > 0;
                // A line feed would end the line; JSON allows a carriage return at the same positions.
                let bytes = packet.text.bytes().map(|byte| if byte == b'\n' { b'\r' } else { byte });
                self.packets.extend(bytes);
            }
            None => self.packets.extend_from_slice(line),
        }
        self.packets.push(b'\n');
        self.lines.push(line.to_vec());
    }
}

impl<E> UnwrappingSink<'_, E> {
    /// Checks the batch, and starts the next one. Returns counts if the stream is not a log of packets at all.
    fn check(&mut self, validator: &mut AnyValidator) -> Result<Option<Summary>, E> {
        if self.first == 1 && !self.batch.is_wrapped {
            let begin =
                self.batch.lines.iter().flat_map(|line| line.iter().copied().chain([b'\n'])).collect::<Vec<_>>();
            if let Some(summary) = report_foreign(&begin, self.sink)? {
                return Ok(Some(summary));
            }
        }
        let packets = std::mem::take(&mut self.batch.packets);
        validator.feed(&packets, self)?;
        self.first += self.batch.lines.len() as u64;
        self.batch = Batch::default();
        Ok(None)
    }

    fn line(&self, number: u64) -> Option<&str> {
        let at = usize::try_from(number.checked_sub(self.first)?).ok()?;
        str::from_utf8(self.batch.lines.get(at)?).ok()
    }
}

impl<E> Sink for UnwrappingSink<'_, E> {
    type Error = E;

    fn finding(&mut self, mut finding: Finding, line: Option<&str>) -> Result<(), E> {
        let whole = finding.line.and_then(|number| self.line(number));
        let place = || {
            let whole = whole?;
            let (packet, span) = (self.wrapping.packet(whole)?, finding.diagnostic.span.as_ref()?);
            let span = packet.place(whole, span.start)..packet.place(whole, span.end);
            Some((span, whole.to_owned()))
        };
        let Some((span, whole)) = place() else { return self.sink.finding(finding, line) };
        finding.column = whole.get(..span.start).map(|before| before.chars().count() as u64 + 1);
        finding.diagnostic.span = Some(span);
        // The edit would have to be escaped for a JSON string.
        finding.diagnostic.edit = None;
        self.sink.finding(finding, Some(&whole))
    }

    fn packet(&mut self, packet: &JudgedPacket<'_>) -> Result<(), E> {
        self.sink.packet(packet)
    }

    fn wants_packets(&self) -> bool {
        self.sink.wants_packets()
    }

    fn caught_up(&mut self) -> Result<(), E> {
        self.sink.caught_up()
    }
}

/// A packet and its position in a line.
struct WrappedPacket<'l> {
    text: Cow<'l, str>,
    /// Byte offset in the line at which the packet begins.
    start: usize,
    /// Whether the packet is inside a JSON string.
    is_escaped: bool,
}

impl Wrapping {
    /// Returns the text of the packet in a line; `None` if the line has another form.
    pub(crate) fn unwrap<'l>(&self, line: &'l str) -> Option<Cow<'l, str>> {
        self.packet(line).map(|packet| packet.text)
    }

    /// Returns the packet in a line; `None` if the line has another form, or a form that readers interpret differently.
    fn packet<'l>(&self, line: &'l str) -> Option<WrappedPacket<'l>> {
        match self {
            Self::Prefix => {
                let start = line.find('{')?;
                Some(WrappedPacket { text: Cow::Borrowed(line.get(start..)?), start, is_escaped: false })
            }
            Self::Field(pointer) => {
                serde_json::from_str::<serde::de::IgnoredAny>(line).ok()?;
                let span = locate(line, pointer)?;
                let raw = line.get(span.clone())?;
                // Readers disagree on repeated fields. Those inside the packet are checked together with it.
                let around = [line.get(..span.start)?, "null", line.get(span.end..)?].concat();
                strict::read(around.as_bytes()).ok()?;
                // `locate` returns a single byte for an object that lacks the field.
                if raw.len() > 1 && raw.starts_with('{') {
                    return Some(WrappedPacket { text: Cow::Borrowed(raw), start: span.start, is_escaped: false });
                }
                let text: String = serde_json::from_str(raw).ok()?;
                Some(WrappedPacket { text: Cow::Owned(text), start: span.start + 1, is_escaped: true })
            }
        }
    }
}

impl WrappedPacket<'_> {
    /// Converts a byte offset in the packet to an offset in the line.
    fn place(&self, line: &str, at: usize) -> usize {
        if !self.is_escaped {
            return self.start + at;
        }
        let mut place = self.start;
        let mut left = at;
        while left > 0
            && let Some(rest) = line.get(place..)
            && let Some((raw, decoded)) = character(rest)
        {
            left = left.saturating_sub(decoded);
            place += raw;
        }
        place
    }
}

/// Returns the length in bytes of the next character in a JSON string, as escaped and as decoded.
fn character(rest: &str) -> Option<(usize, usize)> {
    let mut chars = rest.chars();
    let first = chars.next()?;
    if first != '\\' {
        return Some((first.len_utf8(), first.len_utf8()));
    }
    if chars.next()? != 'u' {
        return Some((2, 1));
    }
    let unit = |at: usize| rest.get(at..at + 4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let unit = unit(2)?;
    Some(match char::from_u32(unit) {
        Some(c) => (6, c.len_utf8()),
        // First half of a surrogate pair; the decoded character takes four bytes.
        None => (12, 4),
    })
}

/// Maximum line length in bytes: every character of a packet may be escaped.
const LONGEST: usize = 2 * MAX_LINE_BYTES + 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_of_a_packet_has_its_place_in_the_line() {
        let packet = "{\"a\":\"\\\"\u{e9}\u{1f600}\\n\"}";
        let text = serde_json::to_string(packet).unwrap_or_default();
        let escaped = text.replace('\u{e9}', "\\u00e9").replace('\u{1f600}', "\\ud83d\\ude00");
        for text in [&text, &escaped] {
            let line = format!("{{\"time\": 1, \"log\": {text}}}");
            let found = Wrapping::Field("/log".to_owned()).packet(&line);
            assert!(found.as_ref().is_some_and(|found| found.text == packet), "{line}");
            let Some(found) = found else { return };
            for (at, c) in packet.char_indices() {
                let decoded: String = serde_json::from_str(&format!(
                    "\"{}\"",
                    line.get(found.place(&line, at)..found.place(&line, at + c.len_utf8())).unwrap_or_default()
                ))
                .unwrap_or_default();
                assert_eq!(decoded, c.to_string(), "{at} in {line}");
            }
        }
    }

    #[test]
    fn a_line_without_a_packet_is_left_as_it_is() {
        let field = Wrapping::Field("/a/b".to_owned());
        for line in ["{\"a\":{}}", "{\"a\":{\"b\":1}}", "{\"a\":", "", "{\"b\":\"{}\"}"] {
            assert!(field.packet(line).is_none(), "{line}");
        }
        assert!(field.packet("{\"a\":{\"b\":{}}}").is_some_and(|packet| packet.text == "{}" && packet.start == 10));
        assert!(Wrapping::Prefix.packet("no packet").is_none());
    }
}
