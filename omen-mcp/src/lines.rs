//! Lines of bounded length.

use std::{io, mem};

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// Line reader that stops in the middle of a line that is too long. A last line without a line break does not count,
/// because its writer died while writing it.
#[derive(Debug)]
pub struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    limit: usize,
}

/// Reason why there are no more lines.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// The line is longer than the limit.
    #[error("the message is too large")]
    Oversized,
    /// The input cannot be read.
    #[error(transparent)]
    Io(io::Error),
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Creates a reader for lines of at most `limit` bytes, without their line breaks.
    pub fn new(input: R, limit: usize) -> Self {
        Self { input: BufReader::new(input), line: Vec::new(), limit }
    }

    /// Returns the next line, without its line break, or `None` at the end.
    ///
    /// The future may be dropped and recreated without losing bytes: bytes taken from the input are stored in the same
    /// step.
    ///
    /// # Errors
    /// If the line is too long, or the input cannot be read.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, Broken> {
        loop {
            let bytes = self.input.fill_buf().await.map_err(Broken::Io)?;
            let Some(part) = bytes.split(|byte| *byte == b'\n').next().filter(|_| !bytes.is_empty()) else {
                return Ok(None);
            };
            if part.len() > self.limit.saturating_sub(self.line.len()) {
                return Err(Broken::Oversized);
            }
            self.line.extend_from_slice(part);
            let whole = part.len() < bytes.len();
            let taken = part.len() + usize::from(whole);
            self.input.consume(taken);
            if whole {
                return Ok(Some(mem::take(&mut self.line)));
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{Broken, Lines};

    #[tokio::test]
    async fn lines_are_whole_and_within_the_limit() {
        let mut lines = Lines::new(&b"abc\n\nabcd\nab"[..], 4);
        assert_eq!(lines.next().await.unwrap().unwrap(), b"abc");
        assert_eq!(lines.next().await.unwrap().unwrap(), b"");
        assert_eq!(lines.next().await.unwrap().unwrap(), b"abcd");
        assert_eq!(lines.next().await.unwrap(), None, "the last line was not ended");
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_not_read_to_its_end() {
        let endless = tokio::io::repeat(b'x');
        let mut lines = Lines::new(endless, 100_000);
        assert!(matches!(lines.next().await, Err(Broken::Oversized)));
        assert!(lines.line.len() <= 100_000);
    }

    #[tokio::test]
    async fn a_dropped_future_loses_nothing() {
        use tokio::io::AsyncWriteExt as _;

        let (mut writer, reader) = tokio::io::duplex(8);
        let mut lines = Lines::new(reader, 100);
        writer.write_all(b"one ").await.unwrap();
        tokio::select! {
            biased;
            line = lines.next() => assert!(line.is_err(), "there is no line yet"),
            () = std::future::ready(()) => {}
        }
        writer.write_all(b"line\n").await.unwrap();
        assert_eq!(lines.next().await.unwrap().unwrap(), b"one line");
    }
}
