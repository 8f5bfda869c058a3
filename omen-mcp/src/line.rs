//! Lines of a stream: a message written as a single line for every line reader, and reading of lines of bounded length.

use std::{io, mem};

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};

/// JSON-RPC message as one line of a stream.
///
/// JSON allows a carriage return between two values and a line separator in a string. Many readers end a line there: Python in
/// text mode and `str.splitlines`, Node.js's `readline`, Java's `BufferedReader` and `Scanner`. Such a reader would split one
/// message into several, and take part of a judged message for another one that was not judged.
///
/// A line therefore contains none of those characters except the line feed at its end. Between values they become blanks.
/// In strings they are written as `\uXXXX`, which is the same value. A message without them keeps its bytes.
///
/// Nothing else is written to a server or a client on a stream, and there is no other way to create a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line(Vec<u8>);

impl Line {
    /// Creates a line from a message, which must be JSON: in other text, a blank could change the meaning.
    #[must_use]
    pub fn new(message: impl Into<Vec<u8>>) -> Self {
        let mut bytes = omen_base::json::one_line(message.into());
        bytes.push(b'\n');
        Self(bytes)
    }

    /// Returns the bytes, with the line feed at the end.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the message without the line feed, for transports that end messages differently.
    #[must_use]
    pub fn into_message(mut self) -> Vec<u8> {
        self.0.pop();
        self.0
    }

    /// Writes the line and flushes the output.
    ///
    /// # Errors
    /// If the line cannot be written.
    pub async fn write_to(&self, output: &mut (impl AsyncWrite + Unpin + ?Sized)) -> io::Result<()> {
        output.write_all(&self.0).await?;
        output.flush().await
    }
}

impl From<Vec<u8>> for Line {
    fn from(message: Vec<u8>) -> Self {
        Self::new(message)
    }
}

impl From<String> for Line {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl From<&str> for Line {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}

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
    /// The future may be dropped and recreated without losing bytes: bytes taken from the input are stored in the same step.
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
    use serde_json::Value;

    use super::{Broken, Line, Lines};

    fn written(message: &str) -> String {
        String::from_utf8(Line::new(message).into_message()).unwrap()
    }

    #[test]
    fn what_ends_no_line_keeps_its_bytes() {
        for same in
            [r#"{"a" :	[1.0e2,"\r\u2028\\"],"é":"…\"\u0085"}"#, "", "{}", "\u{feff}x\u{2027}\u{202a}\u{86}\u{c5}\u{7f}"]
        {
            assert_eq!(written(same), same);
        }
        assert_eq!(Line::new("{}").as_bytes(), b"{}\n");
    }

    #[test]
    fn a_break_is_a_blank_between_values_and_an_escape_in_a_string() {
        let message = "\r{\"a\r\"\r:\n[1,\r\n\"\\\\\"\r,\"x\u{85}\\\"\u{2028}\u{2029}\"]}\r";
        let expected = "\u{20}{\"a\\u000d\" : [1,  \"\\\\\" ,\"x\\u0085\\\"\\u2028\\u2029\"]} ";
        assert_eq!(written(message), expected);
        let message = message.replace("a\r", "a");
        let (before, after): (Value, Value) =
            (serde_json::from_str(&message).unwrap(), serde_json::from_str(&written(&message)).unwrap());
        assert_eq!(before, after);
    }

    /// This holds even for text that is not a message, which is never sent.
    #[test]
    fn a_line_is_one_line_whatever_it_was_made_of() {
        let breaks = [
            '\n', '\r', '\u{b}', '\u{c}', '\0', '\u{1a}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}',
            '\u{2029}',
        ];
        for around in ["{}", "{\"\"}", "\"", "\"\\", "\"\\u", "\"\\\"", "\\\""] {
            for at in 0..=around.len() {
                for end in breaks {
                    let mut message = around.to_owned();
                    message.insert(at, end);
                    let line = written(&message);
                    assert!(!line.contains(breaks), "{message:?}: {line:?}");
                }
            }
        }
        // This also holds for bytes that are not UTF-8.
        let bytes = Line::new(b"\"\xE2\x80\xA8\xC2\xC2\x85\xE2\xE2\x80\xA9\xE2\x80\"".to_vec()).into_message();
        assert_eq!(bytes, b"\"\\u2028\xC2\\u0085\xE2\\u2029\xE2\x80\"");
    }

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
