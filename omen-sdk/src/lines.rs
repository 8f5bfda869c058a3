//! Splitting of a byte stream into lines, in bounded memory.
//!
//! Hand-written because `BufRead` does not limit the line length and copies each line.

use std::fmt;
use std::io::{self, Read};

/// Line of a stream, without its line end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawLine<'l> {
    /// A complete line.
    Whole(&'l [u8]),
    /// A line that is longer than the limit; its bytes were discarded.
    TooLong,
}

/// Splits a stream into lines, which end with a line feed or with a carriage return and a line feed. Keeps at most one
/// incomplete line in memory.
///
/// If the receiver of the lines fails, the rest of the bytes is not split, so the stream cannot be continued.
#[derive(Debug)]
pub struct LineSplitter {
    /// Maximum length of a line in bytes, without its line end.
    limit: usize,
    pending: Vec<u8>,
    /// Whether the pending line is too long, so that the rest of it is skipped.
    skipping: bool,
    bytes: u64,
}

impl LineSplitter {
    /// Creates a splitter for lines of up to `limit` bytes, without their line ends.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit, pending: Vec::new(), skipping: false, bytes: 0 }
    }

    /// Splits the next bytes of the stream and passes on each line that ends in them.
    ///
    /// # Errors
    /// The first error of `each`.
    pub fn feed<E>(&mut self, mut bytes: &[u8], mut each: impl FnMut(RawLine<'_>) -> Result<(), E>) -> Result<(), E> {
        self.bytes += bytes.len() as u64;
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end);
            bytes = rest.get(1..).unwrap_or_default();
            if self.pending.is_empty() && !self.skipping {
                each(whole(line, self.limit))?;
            } else {
                self.hold(line);
                self.flush(&mut each)?;
            }
        }
        self.hold(bytes);
        Ok(())
    }

    /// Reads the stream to its end. `each` receives every line, and receives `None` whenever all lines read so far have
    /// been passed on and the reader may block next.
    ///
    /// # Errors
    /// If the reader fails, or the first error of `each`. An interrupted read is retried.
    pub fn read<E>(
        &mut self,
        mut reader: impl Read,
        mut each: impl FnMut(Option<RawLine<'_>>) -> Result<(), E>,
    ) -> Result<(), ReadError<E>> {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => {
                    let bytes = buffer.get(..count).unwrap_or_default();
                    self.feed(bytes, |line| each(Some(line))).and_then(|()| each(None)).map_err(ReadError::Sink)?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(ReadError::Input(error)),
            }
        }
    }

    /// Processes the next bytes of the stream without splitting them. Returns the line that was incomplete, if it ends
    /// in them, and the whole lines after it, with their line ends.
    pub(crate) fn cut<'b>(&mut self, bytes: &'b [u8]) -> (Option<HeldLine>, &'b [u8]) {
        self.bytes += bytes.len() as u64;
        let (mut first, mut rest) = (None, bytes);
        if self.skipping || !self.pending.is_empty() {
            let Some(end) = memchr::memchr(b'\n', bytes) else {
                self.hold(bytes);
                return (None, &[]);
            };
            let (line, after) = bytes.split_at(end);
            self.hold(line);
            first = self.release();
            rest = after.get(1..).unwrap_or_default();
        }
        let (whole, tail) = rest.split_at(memchr::memrchr(b'\n', rest).map_or(0, |end| end + 1));
        self.hold(tail);
        (first, whole)
    }

    /// Removes and returns the incomplete line, if any.
    pub(crate) fn release(&mut self) -> Option<HeldLine> {
        let is_too_long = std::mem::take(&mut self.skipping);
        let bytes = std::mem::take(&mut self.pending);
        (is_too_long || !bytes.is_empty()).then_some(HeldLine { bytes, is_too_long, limit: self.limit })
    }

    /// Ends the stream, and passes on a last line without a line end.
    ///
    /// # Errors
    /// The error of `each`.
    pub fn finish<E>(&mut self, mut each: impl FnMut(RawLine<'_>) -> Result<(), E>) -> Result<(), E> {
        if self.skipping || !self.pending.is_empty() { self.flush(&mut each) } else { Ok(()) }
    }

    /// Counts bytes that are not split.
    pub(crate) fn skip(&mut self, count: usize) {
        self.bytes += count as u64;
    }

    /// Returns the state for a snapshot: the incomplete line, whether it is too long, and the number of bytes.
    pub(crate) fn state(&self) -> (&[u8], bool, u64) {
        (&self.pending, self.skipping, self.bytes)
    }

    /// Creates a splitter that continues from a state returned by `state`.
    pub(crate) fn resume(limit: usize, (pending, skipping, bytes): (&[u8], bool, u64)) -> Self {
        Self { limit, pending: pending.to_vec(), skipping, bytes }
    }

    /// Returns the maximum length of a line in bytes.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Returns the number of bytes processed so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn hold(&mut self, bytes: &[u8]) {
        if self.skipping {
            return;
        }
        // The line may have one more byte: a carriage return that belongs to the line end.
        if self.pending.len() + bytes.len() > self.limit.saturating_add(1) {
            self.skipping = true;
            self.pending = Vec::new();
            return;
        }
        self.pending.extend_from_slice(bytes);
    }

    fn flush<E>(&mut self, each: &mut impl FnMut(RawLine<'_>) -> Result<(), E>) -> Result<(), E> {
        let line = if self.skipping { RawLine::TooLong } else { whole(&self.pending, self.limit) };
        let taken = each(line);
        self.skipping = false;
        self.pending.clear();
        taken
    }
}

/// Line that was buffered because it did not end in the chunk in which it began.
#[derive(Debug)]
pub(crate) struct HeldLine {
    bytes: Vec<u8>,
    is_too_long: bool,
    limit: usize,
}

impl HeldLine {
    pub(crate) fn raw(&self) -> RawLine<'_> {
        if self.is_too_long { RawLine::TooLong } else { whole(&self.bytes, self.limit) }
    }
}

pub(crate) fn whole(line: &[u8], limit: usize) -> RawLine<'_> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() > limit { RawLine::TooLong } else { RawLine::Whole(line) }
}

/// Reason why reading stopped before the end of the stream.
#[derive(Debug)]
pub enum ReadError<E> {
    /// The reader failed. All lines read before that were passed on.
    Input(io::Error),
    /// The receiver failed. Bytes read after that are lost.
    Sink(E),
}

impl<E: fmt::Display> fmt::Display for ReadError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(error) => error.fmt(f),
            Self::Sink(error) => error.fmt(f),
        }
    }
}

impl<E: std::error::Error> std::error::Error for ReadError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Input(error) => error.source(),
            Self::Sink(error) => error.source(),
        }
    }
}

/// Size of a read in bytes: large enough to make system calls rare, and small enough to stay in the cache.
pub(crate) const READ_BYTES: usize = 256 * 1024;

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    const LIMIT: usize = 1 << 20;

    /// Returns the length of each line; `None` for a line that is too long.
    fn split(bytes: &[u8], chunk: usize) -> Vec<Option<usize>> {
        let mut lines = LineSplitter::new(LIMIT);
        let mut all = Vec::new();
        let mut each = |line: RawLine<'_>| {
            all.push(match line {
                RawLine::Whole(bytes) => Some(bytes.len()),
                RawLine::TooLong => None,
            });
            Ok::<(), Infallible>(())
        };
        for chunk in bytes.chunks(chunk) {
            let Ok(()) = lines.feed(chunk, &mut each);
        }
        let Ok(()) = lines.finish(&mut each);
        assert_eq!(lines.bytes(), bytes.len() as u64);
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
        let mut lines = LineSplitter::new(LIMIT);
        for _ in 0..64 {
            let Ok(()) = lines.feed(&[b'x'; 1 << 16], |_| Ok::<(), Infallible>(()));
            assert!(lines.pending.capacity() <= 2 * LIMIT + 2);
        }
        assert!(lines.skipping && lines.pending.capacity() == 0);
    }

    #[test]
    fn a_receiver_that_fails_gets_no_more_lines() {
        for chunk in [1, 4, 100] {
            let (mut lines, mut got) = (LineSplitter::new(LIMIT), 0);
            let mut each = |_: RawLine<'_>| {
                got += 1;
                if got == 2 { Err("full") } else { Ok(()) }
            };
            let fed = b"a\nb\nc\nd\n".chunks(chunk).try_for_each(|bytes| lines.feed(bytes, &mut each));
            assert_eq!((fed, got), (Err("full"), 2), "chunks of {chunk}");
        }
    }

    #[test]
    fn a_reader_gives_its_lines_and_says_when_it_may_block() {
        let (mut lines, mut all) = (LineSplitter::new(LIMIT), Vec::new());
        let reader = (&b"a\nb"[..]).chain(&b"c\n"[..]);
        let read = lines.read(reader, |line| {
            all.push(line.map(|line| matches!(line, RawLine::Whole(_))));
            Ok::<(), Infallible>(())
        });
        assert!(read.is_ok());
        assert_eq!(all, [Some(true), None, Some(true), None]);
        let read = LineSplitter::new(LIMIT).read(&b"a\n"[..], |line| line.map_or(Err("full"), |_| Ok(())));
        assert!(matches!(read, Err(ReadError::Sink("full"))), "{read:?}");
    }
}
