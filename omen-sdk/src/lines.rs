//! Chunks of bytes to lines, in bounded memory.

/// One line, its line end not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'l> {
    /// Its bytes.
    Whole(&'l [u8]),
    /// It is longer than the limit; its bytes were not kept.
    TooLong,
}

/// Splits a stream into lines, which end with a line feed, or with a carriage return before it. Keeps at most one line
/// that is not yet complete.
#[derive(Debug)]
pub struct Lines {
    /// The most bytes of a line, its line end not included.
    limit: usize,
    pending: Vec<u8>,
    /// The pending line is too long, and its rest is skipped.
    skipping: bool,
}

impl Lines {
    /// Takes lines of up to `limit` bytes, their line ends not included.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit, pending: Vec::new(), skipping: false }
    }

    /// Takes the next bytes of the stream, and gives each line that ends in them.
    pub fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(Line<'_>)) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end);
            bytes = rest.get(1..).unwrap_or_default();
            if self.pending.is_empty() && !self.skipping {
                each(whole(line, self.limit));
            } else {
                self.hold(line);
                self.flush(&mut each);
            }
        }
        self.hold(bytes);
    }

    /// Ends the stream: its last line need not have a line end.
    pub fn finish(&mut self, mut each: impl FnMut(Line<'_>)) {
        if self.skipping || !self.pending.is_empty() {
            self.flush(&mut each);
        }
    }

    fn hold(&mut self, bytes: &[u8]) {
        if self.skipping {
            return;
        }
        // One byte more may be a carriage return, which belongs to the line end.
        if self.pending.len() + bytes.len() > self.limit.saturating_add(1) {
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
            each(whole(&self.pending, self.limit));
        }
        self.skipping = false;
        self.pending.clear();
    }
}

fn whole(line: &[u8], limit: usize) -> Line<'_> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() > limit { Line::TooLong } else { Line::Whole(line) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 1 << 20;

    /// Lengths of the lines; `None` for one that is too long.
    fn split(bytes: &[u8], chunk: usize) -> Vec<Option<usize>> {
        let mut lines = Lines::new(LIMIT);
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
        let mut text = vec![b'x'; LIMIT];
        text.extend_from_slice(b"\r\nshort\n");
        assert_eq!(split(&text, 1 << 20), [Some(LIMIT), Some(5)]);
        text.insert(0, b'x');
        assert_eq!(split(&text, 1 << 20), [None, Some(5)]);
        assert_eq!(split(&text, text.len()), [None, Some(5)]);
    }

    #[test]
    fn a_line_that_is_too_long_is_not_kept() {
        let mut lines = Lines::new(LIMIT);
        for _ in 0..64 {
            lines.feed(&[b'x'; 1 << 16], |_| {});
            assert!(lines.pending.capacity() <= 2 * LIMIT + 2);
        }
        assert!(lines.skipping && lines.pending.capacity() == 0);
    }
}
