//! Chunks of bytes to lines, in bounded memory.

use omen_types::limits::MAX_LINE_BYTES;

/// One line, its line end not included.
pub(super) enum Line<'l> {
    Whole(&'l [u8]),
    /// Longer than [`MAX_LINE_BYTES`]; its bytes were not kept.
    TooLong,
}

/// Splits a stream into lines. Keeps at most one line that is not yet complete.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pending: Vec<u8>,
    /// The pending line is too long, and its rest is skipped.
    skipping: bool,
}

impl Lines {
    pub(super) fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(Line<'_>)) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end);
            bytes = rest.get(1..).unwrap_or_default();
            if self.pending.is_empty() && !self.skipping {
                each(whole(line));
            } else {
                self.hold(line);
                self.flush(&mut each);
            }
        }
        self.hold(bytes);
    }

    pub(super) fn finish(&mut self, mut each: impl FnMut(Line<'_>)) {
        if self.skipping || !self.pending.is_empty() {
            self.flush(&mut each);
        }
    }

    fn hold(&mut self, bytes: &[u8]) {
        if self.skipping {
            return;
        }
        // One byte more may be a carriage return, which belongs to the line end.
        if self.pending.len() + bytes.len() > MAX_LINE_BYTES + 1 {
            self.skipping = true;
            self.pending = Vec::new();
            return;
        }
        self.pending.extend_from_slice(bytes);
    }

    fn flush(&mut self, each: &mut impl FnMut(Line<'_>)) {
        if self.skipping {
            each(Line::TooLong);
        } else {
            each(whole(&self.pending));
        }
        self.skipping = false;
        self.pending.clear();
    }
}

fn whole(line: &[u8]) -> Line<'_> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() > MAX_LINE_BYTES { Line::TooLong } else { Line::Whole(line) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths of the lines; `None` for one that is too long.
    fn split(bytes: &[u8], chunk: usize) -> Vec<Option<usize>> {
        let mut lines = Lines::default();
        let mut all = Vec::new();
        let mut each = |line: Line<'_>| {
            all.push(match line {
                Line::Whole(bytes) => Some(bytes.len()),
                Line::TooLong => None,
            });
        };
        for chunk in bytes.chunks(chunk) {
            lines.feed(chunk, &mut each);
        }
        lines.finish(&mut each);
        all
    }

    #[test]
    fn chunks_do_not_matter() {
        let text = b"a\n\nbcd\r\n\r\nlast";
        for chunk in 1..=text.len() {
            assert_eq!(split(text, chunk), [Some(1), Some(0), Some(3), Some(0), Some(4)], "chunks of {chunk}");
        }
        assert_eq!(split(b"", 1), []);
        assert_eq!(split(b"a\n", 1), [Some(1)]);
    }

    #[test]
    fn a_line_at_the_limit_passes_and_one_byte_more_does_not() {
        let mut text = vec![b'x'; MAX_LINE_BYTES];
        text.extend_from_slice(b"\r\nshort\n");
        assert_eq!(split(&text, 1 << 20), [Some(MAX_LINE_BYTES), Some(5)]);
        text.insert(0, b'x');
        assert_eq!(split(&text, 1 << 20), [None, Some(5)]);
        assert_eq!(split(&text, text.len()), [None, Some(5)]);
    }

    #[test]
    fn a_line_that_is_too_long_is_not_kept() {
        let mut lines = Lines::default();
        for _ in 0..64 {
            lines.feed(&[b'x'; 1 << 20], |_| {});
            assert!(lines.pending.capacity() <= 2 * MAX_LINE_BYTES + 2);
        }
        assert!(lines.skipping && lines.pending.capacity() == 0);
    }
}
