//! Layout of packets in a stream: one per line, or freely formatted in an array or one after another.

use std::io::{self, Cursor, Read};

use omen_schema::json::StringTracker;

use super::archive::Source;

/// Layout of packets in a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// [`Array`](Self::Array) if the first value continues after the first line, otherwise [`Lines`](Self::Lines).
    #[default]
    Auto,
    /// JSON Lines: one packet per line.
    Lines,
    /// JSON array of packets, or packets one after another, with any spaces and line ends.
    Array,
}

/// Stream whose layout is known.
pub struct LaidOut {
    /// Layout; never [`Layout::Auto`].
    pub layout: Layout,
    /// Bytes that were read in order to detect the layout.
    pub begin: Vec<u8>,
    rest: Source,
}

impl LaidOut {
    /// Returns the stream from its beginning.
    #[must_use]
    pub fn whole(self) -> Source {
        Box::new(Cursor::new(self.begin).chain(self.rest))
    }
}

impl Layout {
    /// Detects the layout of a stream unless it is given. If the stream consists of lines, at least the first line is read.
    #[must_use]
    pub fn of(self, mut source: Source) -> LaidOut {
        let mut begin = Vec::new();
        if self != Self::Auto {
            return LaidOut { layout: self, begin, rest: source };
        }
        let mut detector = Detector::default();
        let mut found = None;
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let end = match source.read(&mut buffer) {
                Ok(0) => Ok(()),
                Ok(count) => {
                    let bytes = buffer.get(..count).unwrap_or_default();
                    begin.extend_from_slice(bytes);
                    found = found.or_else(|| detector.take(bytes));
                    let is_known = found == Some(Self::Array) || found.is_some() && begin.contains(&b'\n');
                    if !is_known && begin.len() < MOST_BYTES {
                        continue;
                    }
                    return LaidOut { layout: found.unwrap_or(Self::Lines), begin, rest: source };
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            // Bytes that were read before the failure are still checked.
            return LaidOut { layout: found.unwrap_or(Self::Lines), begin, rest: Box::new(StreamEnd(end.err())) };
        }
    }
}

/// End of a stream, possibly a failure.
struct StreamEnd(Option<io::Error>);

impl Read for StreamEnd {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Detects the layout from the first packet, as early as possible.
///
/// If the first line is complete, the stream consists of lines, whatever that line contains (D85): otherwise, a single array
/// there would change the layout of the whole log. A truncated line must not be mistaken for the first line of an indented
/// packet. So a packet counts as indented only if its second line continues the JSON and does not begin with a packet.
#[derive(Debug, Default)]
struct Detector {
    at: DetectorState,
    /// Open brackets.
    open: Vec<u8>,
    strings: StringTracker,
    /// Latest character that is not a space; `"` represents a whole string.
    last: u8,
    /// Number of bytes of a byte order mark read so far.
    mark: usize,
    /// Number of columns of the second line read so far.
    column: usize,
    /// Whether the line with an array's bracket has ended.
    has_ended: bool,
}

#[derive(Clone, Copy, Debug, Default)]
enum DetectorState {
    #[default]
    Start,
    /// After `[`, which begins an array if a packet follows.
    Bracket,
    /// In the first line of a packet, or of an array of packets.
    Packet,
    /// After the first line of a packet that continues.
    NextLine,
}

impl Detector {
    fn take(&mut self, bytes: &[u8]) -> Option<Layout> {
        bytes.iter().find_map(|byte| self.byte(*byte))
    }

    fn byte(&mut self, byte: u8) -> Option<Layout> {
        let is_space = matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        match self.at {
            DetectorState::Start if MARK.get(self.mark) == Some(&byte) => self.mark += 1,
            DetectorState::Start | DetectorState::Bracket if is_space => self.has_ended |= byte == b'\n',
            DetectorState::Start => match byte {
                b'[' => {
                    (self.at, self.has_ended) = (DetectorState::Bracket, false);
                    self.structure(byte);
                }
                b'{' => {
                    self.at = DetectorState::Packet;
                    self.structure(byte);
                }
                _ => return Some(Layout::Lines),
            },
            DetectorState::Bracket if byte == b'{' && self.has_ended => return Some(Layout::Array),
            DetectorState::Bracket if byte == b'{' => {
                self.at = DetectorState::Packet;
                self.structure(byte);
            }
            DetectorState::Bracket => return Some(Layout::Lines),
            DetectorState::Packet if self.strings.in_string() && byte == b'\n' => return Some(Layout::Lines),
            DetectorState::Packet if !self.strings.step(byte) => {
                if !self.strings.in_string() {
                    self.last = b'"';
                }
            }
            // A truncated packet does not begin with an array bracket.
            DetectorState::Packet if byte == b'\n' && self.open.first() == Some(&b'[') => return Some(Layout::Array),
            DetectorState::Packet if byte == b'\n' => self.at = DetectorState::NextLine,
            DetectorState::Packet if is_space => {}
            DetectorState::Packet => {
                self.structure(byte);
                if self.open.is_empty() {
                    return Some(Layout::Lines);
                }
            }
            DetectorState::NextLine if byte == b'\n' => self.column = 0,
            DetectorState::NextLine if is_space => self.column += 1,
            DetectorState::NextLine => {
                let begins_packet = byte == b'{' && self.column == 0;
                return Some(if self.may_follow(byte) && !begins_packet { Layout::Array } else { Layout::Lines });
            }
        }
        None
    }

    fn structure(&mut self, byte: u8) {
        match byte {
            b'{' | b'[' => self.open.push(byte),
            b'}' | b']' => drop(self.open.pop()),
            _ => {}
        }
        self.last = byte;
    }

    /// Returns whether this character may come next in the JSON.
    fn may_follow(&self, byte: u8) -> bool {
        let is_object = self.open.last() == Some(&b'{');
        match self.last {
            // An empty object is not a packet.
            b'{' => byte == b'"',
            b',' if is_object => byte == b'"',
            b'[' => !matches!(byte, b',' | b':' | b'}'),
            b',' | b':' => !matches!(byte, b',' | b':' | b'}' | b']'),
            // After a value, or after a name.
            _ if is_object => matches!(byte, b',' | b'}' | b':'),
            _ => matches!(byte, b',' | b']'),
        }
    }
}

/// Byte order mark in UTF-8.
pub const MARK: &[u8] = "\u{feff}".as_bytes();

const READ_BYTES: usize = 64 * 1024;

/// Maximum number of bytes of a first line that are inspected.
const MOST_BYTES: usize = 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Layout) {
        let mut detector = Detector::default();
        // Byte by byte or all at once, the result is the same.
        let slowly = text.bytes().find_map(|byte| detector.take(&[byte]));
        assert_eq!(slowly, Detector::default().take(text.as_bytes()));
        assert_eq!(slowly.unwrap_or(Layout::Lines), expect, "{text}");
    }

    #[test]
    fn arrays_and_indented_packets_are_recognised() {
        for text in [
            "[{\"a\":1},\n{\"a\":1}]",
            "[{\n",
            " \n[\r\n  {",
            "\u{feff}[ {\r\n",
            "{\n  \"a\": 1",
            "{\n\"a\": 1",
            "{\r\n\t\"a\"",
            "{\"a\": {\n  \"b\"",
            "{ \"a\": 1,\n \"b\"",
        ] {
            check(text, Layout::Array);
        }
    }

    #[test]
    fn everything_else_is_lines() {
        for text in [
            "",
            "{",
            "{\"a\":1}\n{\"a\":1}\n",
            "{\"a\":1}",
            "{\"a\":1} \r\n",
            "{\"a\":1} x",
            "[INFO] text\n{\"a\":1}\n",
            "[1, 2]\n",
            // An empty array in place of a packet must not hide the fact that the rest are lines.
            "[]\n{\"a\":1}\n",
            // The first value ends on its line, whatever it is (D85).
            "[{\"a\":1}]",
            "[{\"a\":\"]\"},{}]\n{\"a\":1}\n",
            "{\"a\":\"}\\\"\"}{",
            "{} {}\n",
            "[{\"a\":\"\n",
            "?\n",
            "\"text\"",
            // The first line is truncated.
            "{\"a\":\n{\"a\":1}\n",
            "{\"a\":1,\n{\"a\":1}\n",
            "{\"a\":[\n{\"a\":1}\n",
            "{\"a\":\"\n{\"a\":1}\n",
            "{\"a\n\": 1}",
            "{\n{\"a\":1}\n",
            "{\"a\"\n{",
            "{\"a\":1\n\"b\"",
            "{\n\n}",
        ] {
            check(text, Layout::Lines);
        }
    }
}
