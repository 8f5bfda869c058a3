//! Texts of the lines that the validator is processing, which it reports by line number only.

use std::collections::VecDeque;
use std::mem;

use omen_types::limits::MAX_LINE_BYTES;

/// Lines that have been read but not judged yet.
#[derive(Debug, Default)]
pub(super) struct UnjudgedLines {
    /// Number and text of each complete line, in order; `None` for a line too long to keep.
    waiting: VecDeque<(u64, Option<Vec<u8>>)>,
    bytes: usize,
    /// Number of complete lines.
    ended: u64,
    begun: Vec<u8>,
    is_long: bool,
}

impl UnjudgedLines {
    /// Adds the next bytes of the log, to be called before the validator gets them.
    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end);
            self.extend(line);
            self.end();
            bytes = rest.get(1..).unwrap_or_default();
        }
        self.extend(bytes);
    }

    /// Returns the text of a line, and drops it and all lines before it. Bytes that are not UTF-8 are replaced.
    pub(super) fn take(&mut self, number: u64) -> Option<String> {
        while let Some((at, line)) = self.waiting.pop_front_if(|(at, _)| *at <= number) {
            self.bytes -= line.as_ref().map_or(0, Vec::len);
            if at == number {
                return line.map(text);
            }
        }
        // The last line may have no line end.
        (number == self.ended + 1 && !self.is_long).then(|| text(mem::take(&mut self.begun)))
    }

    fn extend(&mut self, bytes: &[u8]) {
        if self.is_long || self.begun.len() + bytes.len() > MAX_LINE_BYTES {
            self.is_long = true;
            self.begun.clear();
        } else {
            self.begun.extend_from_slice(bytes);
        }
    }

    fn end(&mut self) {
        self.ended += 1;
        let line = (!mem::take(&mut self.is_long)).then(|| mem::take(&mut self.begun));
        self.bytes += line.as_ref().map_or(0, Vec::len);
        self.waiting.push_back((self.ended, line));
        // The validator asks for lines soon after they were read, and never for blank ones, so old lines can be dropped.
        while self.bytes > MOST_WAITING {
            let Some((_, line)) = self.waiting.pop_front() else { break };
            self.bytes -= line.map_or(0, |line| line.len());
        }
    }
}

fn text(mut line: Vec<u8>) -> String {
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    String::from_utf8(line).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Maximum size in bytes of the lines kept, more than one line and one read together.
const MOST_WAITING: usize = 4 * MAX_LINE_BYTES;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_their_number_however_the_bytes_are_cut() {
        let log = b"one\r\n\nthree\nfo\xffur";
        for size in 1..log.len() {
            let mut lines = UnjudgedLines::default();
            log.chunks(size).for_each(|piece| lines.push(piece));
            assert_eq!(lines.take(1).as_deref(), Some("one"));
            assert_eq!(lines.take(3).as_deref(), Some("three"));
            assert_eq!(lines.take(3), None, "it was taken");
            assert_eq!(lines.take(4).as_deref(), Some("fo\u{fffd}ur"));
        }
    }

    #[test]
    fn a_line_that_is_too_long_has_no_text_and_does_not_shift_the_others() {
        let mut lines = UnjudgedLines::default();
        lines.push(&vec![b'x'; MAX_LINE_BYTES]);
        lines.push(b"x\nnext\n");
        assert_eq!(lines.take(1), None);
        assert_eq!(lines.take(2).as_deref(), Some("next"));
        assert_eq!(lines.bytes, 0);
    }

    #[test]
    fn what_nobody_asks_for_does_not_fill_the_memory() {
        let mut lines = UnjudgedLines::default();
        for _ in 0..6 {
            lines.push(&vec![b' '; MAX_LINE_BYTES]);
            lines.push(b"\n");
        }
        assert!(lines.bytes <= MOST_WAITING && lines.waiting.len() == 4, "{}", lines.waiting.len());
    }
}
