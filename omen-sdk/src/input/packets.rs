//! Conversion of packets in an array, or one after another, to lines for a validator.
//!
//! Packets pass through one at a time, regardless of the length of the array. A line end within a packet becomes a carriage
//! return, which JSON allows at the same positions. So offsets do not change, and the original lines can be found again.

use omen_schema::json::StringTracker;

use super::layout::MARK;

/// Position of a packet in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePosition {
    /// Line, starting at 1.
    pub line: u64,
    /// Column in characters, starting at 1.
    pub column: u64,
}

/// Lines for a validator, and the position of each.
#[derive(Debug, Default)]
pub struct PacketLines {
    /// Lines, each with its line end.
    pub bytes: Vec<u8>,
    /// Position of each line's packet in the file.
    pub places: Vec<FilePosition>,
}

/// Splits a stream into packets. Between packets, the punctuation of an array is dropped; anything else is passed to
/// the validator as a packet, so that it is reported.
#[derive(Debug)]
pub struct PacketSplitter {
    at: SplitterState,
    /// Position of the next byte.
    place: FilePosition,
    /// Whether only spaces precede that byte in its line.
    is_indent: bool,
    /// Opening bracket of the array, if one is open.
    array: Option<FilePosition>,
    /// Whether a comma is allowed next.
    after_packet: bool,
    /// Indentation of the first packet that began a line; if a bracket is missing, other packets are recognized by it.
    indent: Option<u64>,
    /// Number of bytes of a byte order mark read so far.
    mark: Option<usize>,
}

#[derive(Debug)]
enum SplitterState {
    Between,
    /// In text that is neither an object nor an array.
    Word,
    Packet(Brackets),
}

/// Open brackets in a packet.
#[derive(Debug)]
struct Brackets {
    open: Vec<u8>,
    /// Number of open brackets beyond the maximum depth, which already makes the packet invalid.
    beyond: u64,
    strings: StringTracker,
    /// Latest character that is not a space; `"` represents a whole string.
    last: u8,
}

/// Role of a byte in a packet.
enum Step {
    Goes,
    /// The byte is the last one of the packet.
    Ends,
    /// The packet ended before the byte.
    Ended,
}

impl Default for PacketSplitter {
    fn default() -> Self {
        Self {
            at: SplitterState::Between,
            place: FilePosition { line: 1, column: 1 },
            is_indent: true,
            array: None,
            after_packet: false,
            indent: None,
            mark: Some(0),
        }
    }
}

impl PacketSplitter {
    /// Processes the next bytes of the stream and appends the resulting lines to `lines`.
    pub fn feed(&mut self, bytes: &[u8], lines: &mut PacketLines) {
        for byte in bytes {
            if let Some(mark) = self.mark {
                if MARK.get(mark) == Some(byte) {
                    self.mark = Some(mark + 1);
                    continue;
                }
                self.mark = None;
            }
            self.byte(*byte, lines);
            if *byte == b'\n' {
                self.place = FilePosition { line: self.place.line + 1, column: 1 };
                self.is_indent = true;
            } else {
                // Continuation bytes of a character are not counted.
                self.place.column += u64::from(*byte & 0xc0 != 0x80);
                self.is_indent &= is_space(*byte);
            }
        }
    }

    /// Ends the stream. An array that is still open is reported at its opening bracket.
    pub fn finish(&mut self, lines: &mut PacketLines) {
        if let (SplitterState::Between, Some(bracket)) = (&self.at, self.array.take()) {
            lines.places.push(bracket);
            lines.bytes.extend_from_slice(b"[\n");
        }
    }

    fn byte(&mut self, byte: u8, lines: &mut PacketLines) {
        match &mut self.at {
            SplitterState::Between => self.between(byte, lines),
            SplitterState::Word if matches!(byte, b'\n' | b'{' | b'[' | b']' | b',') => {
                self.end(lines);
                self.between(byte, lines);
            }
            SplitterState::Word => lines.bytes.push(if byte == b'\r' { b' ' } else { byte }),
            SplitterState::Packet(brackets) => {
                let begins_line =
                    byte == b'{' && self.is_indent && self.indent.is_some_and(|indent| self.place.column - 1 <= indent);
                match brackets.step(byte, begins_line, self.array.is_some()) {
                    Step::Goes => lines.bytes.push(brackets.plain(byte)),
                    Step::Ends => {
                        lines.bytes.push(byte);
                        self.end(lines);
                    }
                    Step::Ended => {
                        self.end(lines);
                        self.between(byte, lines);
                    }
                }
            }
        }
    }

    fn between(&mut self, byte: u8, lines: &mut PacketLines) {
        match byte {
            _ if is_space(byte) || byte == b'\n' => {}
            b'[' if self.array.is_none() => {
                self.array = Some(self.place);
                self.after_packet = false;
            }
            b']' if self.array.is_some() => self.array = None,
            b',' if self.array.is_some() && self.after_packet => self.after_packet = false,
            b'{' | b'[' => {
                if byte == b'{' && self.is_indent {
                    self.indent.get_or_insert(self.place.column - 1);
                }
                lines.places.push(self.place);
                lines.bytes.push(byte);
                self.at = SplitterState::Packet(Brackets {
                    open: vec![byte],
                    beyond: 0,
                    strings: StringTracker::default(),
                    last: byte,
                });
            }
            _ => {
                lines.places.push(self.place);
                lines.bytes.push(byte);
                self.at = SplitterState::Word;
                if matches!(byte, b',' | b']') {
                    self.end(lines);
                    self.after_packet = false;
                }
            }
        }
    }

    fn end(&mut self, lines: &mut PacketLines) {
        lines.bytes.push(b'\n');
        self.at = SplitterState::Between;
        self.after_packet = true;
    }
}

impl Brackets {
    fn step(&mut self, byte: u8, begins_line: bool, in_array: bool) -> Step {
        // A string cannot contain a line end, so this string is not terminated.
        if byte == b'\n' && self.strings.in_string() {
            (self.strings, self.last) = (StringTracker::default(), b'"');
            return Step::Goes;
        }
        if !self.strings.step(byte) {
            if !self.strings.in_string() {
                self.last = b'"';
            }
            return Step::Goes;
        }
        match byte {
            b'{' if begins_line && !self.takes_value() => return Step::Ended,
            b'{' | b'[' => {
                if self.open.len() < DEEPEST {
                    self.open.push(byte);
                } else {
                    self.beyond += 1;
                }
                self.last = byte;
            }
            b'}' | b']' => {
                self.last = byte;
                return self.close(if byte == b'}' { b'{' } else { b'[' }, in_array);
            }
            b'\n' => {}
            _ if is_space(byte) => {}
            _ => self.last = byte,
        }
        Step::Goes
    }

    /// Closes a bracket and any unclosed brackets inside it.
    fn close(&mut self, bracket: u8, in_array: bool) -> Step {
        if self.beyond > 0 {
            self.beyond -= 1;
            return Step::Goes;
        }
        match self.open.iter().rposition(|open| *open == bracket) {
            Some(at) => self.open.truncate(at),
            // The bracket closes the array around the packet.
            None if bracket == b'[' && in_array => return Step::Ended,
            None => {}
        }
        if self.open.is_empty() { Step::Ends } else { Step::Goes }
    }

    /// Returns whether a value may come next.
    fn takes_value(&self) -> bool {
        match self.open.last() {
            Some(b'[') => matches!(self.last, b'[' | b','),
            _ => self.last == b':',
        }
    }

    /// Converts a byte of the packet for a line. A byte that makes the packet invalid also makes the line invalid.
    fn plain(&self, byte: u8) -> u8 {
        match byte {
            b'\n' => b'\r',
            b'\r' if self.strings.in_string() => b'\t',
            b'\r' => b' ',
            _ => byte,
        }
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

/// Maximum depth that is tracked, greater than a packet may have.
const DEEPEST: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines of a text with their positions.
    fn split(text: &str) -> Vec<(String, u64, u64)> {
        let run = |chunk: usize| {
            let (mut splitter, mut lines) = (PacketSplitter::default(), PacketLines::default());
            for bytes in text.as_bytes().chunks(chunk) {
                splitter.feed(bytes, &mut lines);
            }
            splitter.finish(&mut lines);
            let text = String::from_utf8(lines.bytes).unwrap_or_default();
            let found: Vec<_> = text.split_terminator('\n').map(str::to_owned).collect();
            assert_eq!(found.len(), lines.places.len(), "{text}");
            found.into_iter().zip(lines.places).map(|(line, at)| (line, at.line, at.column)).collect::<Vec<_>>()
        };
        let all = run(text.len().max(1));
        assert_eq!(run(1), all);
        all
    }

    #[track_caller]
    fn check(text: &str, expect: &[(&str, u64, u64)]) {
        let expect: Vec<_> = expect.iter().map(|(text, line, column)| ((*text).to_owned(), *line, *column)).collect();
        assert_eq!(split(text), expect, "{text}");
    }

    #[test]
    fn packets_are_found_with_their_places() {
        check("", &[]);
        check("[]", &[]);
        check("[{\"a\":1},{}]", &[("{\"a\":1}", 1, 2), ("{}", 1, 10)]);
        check("[\n  {\n    \"a\": 1\r\n  },\n  {}\n]\n", &[("{\r    \"a\": 1 \r  }", 2, 3), ("{}", 5, 3)]);
        check("{\n\"é}\\\"{\": [1]}{}\n{}", &[("{\r\"é}\\\"{\": [1]}", 1, 1), ("{}", 2, 14), ("{}", 3, 1)]);
        check("\u{feff}[{}]\n[{}]", &[("{}", 1, 2), ("{}", 2, 2)]);
    }

    #[test]
    fn what_is_not_a_packet_is_passed_on() {
        check("[1, \"a\" , [2], {}]", &[("1", 1, 2), ("\"a\" ", 1, 5), ("[2]", 1, 11), ("{}", 1, 16)]);
        check("{} INFO started\n{}", &[("{}", 1, 1), ("INFO started", 1, 4), ("{}", 2, 1)]);
        check("[{},,{}]", &[("{}", 1, 2), (",", 1, 5), ("{}", 1, 6)]);
        check("{}]{}", &[("{}", 1, 1), ("]", 1, 3), ("{}", 1, 4)]);
        check("}{}", &[("}", 1, 1), ("{}", 1, 2)]);
    }

    #[test]
    fn an_end_that_is_missing_is_passed_on() {
        check("[{}", &[("{}", 1, 2), ("[", 1, 1)]);
        check("[{},\n{\"a\":", &[("{}", 1, 2), ("{\"a\":", 2, 1)]);
        check("[{\"a\":1, {\"b\":1]{}", &[("{\"a\":1, {\"b\":1", 1, 2), ("{}", 1, 17)]);
    }

    #[test]
    fn a_packet_that_is_not_closed_does_not_swallow_the_next() {
        let expect = [("{\r\"a\": {\r \"b\": 1\r },\r", 1, 1), ("{\r\"c\": 1\r}", 5, 1), ("{}", 8, 1)];
        check("{\n\"a\": {\n \"b\": 1\n },\n{\n\"c\": 1\n}\n{}", &expect);
        check("[\n {\"a\": [1},\n {\"b\":1}]", &[("{\"a\": [1}", 2, 2), ("{\"b\":1}", 3, 2)]);
        check("[\n {\"a\": \"1},\n {}\n]", &[("{\"a\": \"1},\r ", 2, 2), ("{}", 3, 2)]);
        // Nested objects without indentation are not packets.
        check("{\n\"a\": [\n{\n},\n{\n}\n]}", &[("{\r\"a\": [\r{\r},\r{\r}\r]}", 1, 1)]);
    }

    /// A line end that JSON does not allow in a string is replaced by a character that it does not allow there either.
    #[test]
    fn a_line_end_in_a_text_stays_invalid() {
        check("{\"a\": \"1\r2\"}", &[("{\"a\": \"1\t2\"}", 1, 1)]);
        check("{\"a\": \"1\n2\"}", &[("{\"a\": \"1\r2\"}", 1, 1)]);
    }

    #[test]
    fn memory_does_not_grow_with_depth() {
        let mut splitter = PacketSplitter::default();
        for _ in 0..64 {
            let mut lines = PacketLines::default();
            splitter.feed(&[b'['; 1 << 16], &mut lines);
            assert!(matches!(&splitter.at, SplitterState::Packet(brackets) if brackets.open.capacity() <= 2 * DEEPEST));
        }
    }
}
