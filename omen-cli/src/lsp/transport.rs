//! Message framing: a header with the content length, an empty line, and the content in JSON.

use std::io::{self, BufRead, Read as _, Write};

use serde_json::Value;

/// Result of reading a message.
#[derive(Debug)]
pub(super) enum InputFrame {
    Message(Value),
    /// The content is not JSON, for this reason.
    Malformed(String),
    /// The content has this many bytes, too many to read, and was skipped.
    Oversize(u64),
}

/// Reads the next message; returns `None` if the stream ends between two messages.
///
/// # Errors
/// If the stream fails or ends within a message, or a header does not state the length of its message.
pub(super) fn read(input: &mut impl BufRead) -> io::Result<Option<InputFrame>> {
    let Some(length) = content_length(input)? else { return Ok(None) };
    let mut content = input.by_ref().take(length);
    if length > MOST_BYTES {
        let skipped = io::copy(&mut content, &mut io::sink())?;
        return if skipped == length { Ok(Some(InputFrame::Oversize(length))) } else { Err(truncated()) };
    }
    // Memory grows with the bytes received, not with the announced length.
    let mut bytes = Vec::new();
    content.read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < length {
        return Err(truncated());
    }
    Ok(Some(match serde_json::from_slice(&bytes) {
        Ok(message) => InputFrame::Message(message),
        Err(error) => InputFrame::Malformed(error.to_string()),
    }))
}

/// Returns the content length in a header; `None` if the stream ends before it.
fn content_length(input: &mut impl BufRead) -> io::Result<Option<u64>> {
    let mut length = None;
    let mut is_begin = true;
    let mut left = MOST_HEADER_BYTES;
    loop {
        let mut line = Vec::new();
        let count = input.by_ref().take(left).read_until(b'\n', &mut line)?;
        if count == 0 && is_begin {
            return Ok(None);
        }
        if !line.ends_with(b"\n") {
            return Err(if count as u64 == left { invalid("a header is too long") } else { truncated() });
        }
        is_begin = false;
        left -= count as u64;
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            return length.map(Some).ok_or_else(|| invalid("the header has no `Content-Length`"));
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(invalid("expected `Content-Length: N` before a message"));
        };
        if name.trim().eq_ignore_ascii_case("content-length") {
            let value = value.trim().parse();
            length = Some(value.map_err(|_| invalid("expected a number of bytes for `Content-Length`"))?);
        }
    }
}

pub(super) fn write(out: &mut impl Write, message: &Value) -> io::Result<()> {
    let content = serde_json::to_vec(message)?;
    write!(out, "Content-Length: {}\r\n\r\n", content.len())?;
    out.write_all(&content)?;
    out.flush()
}

fn truncated() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "standard input ended within a message")
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{what}; expected messages of the Language Server Protocol"))
}

/// Maximum message size: 128 MiB, several times the largest document with every character escaped.
const MOST_BYTES: u64 = 128 << 20;

/// Maximum header size in bytes.
const MOST_HEADER_BYTES: u64 = 8 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut input: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        loop {
            match read(&mut input) {
                Ok(None) => return found,
                Ok(Some(InputFrame::Message(message))) => found.push(message.to_string()),
                Ok(Some(InputFrame::Malformed(_))) => found.push("malformed".to_owned()),
                Ok(Some(InputFrame::Oversize(length))) => found.push(length.to_string()),
                Err(error) => {
                    found.push(error.to_string());
                    return found;
                }
            }
        }
    }

    #[test]
    fn messages_are_separated_by_their_lengths() {
        let input =
            "content-length:2\r\nContent-Type: x\r\n\r\n{}Content-Length: 3\n\n{x}Content-Length: 4\r\n\r\nnull";
        assert_eq!(all(input.as_bytes()), ["{}", "malformed", "null"]);
        assert_eq!(all(b""), [""; 0]);
    }

    #[test]
    fn what_cannot_be_separated_ends_the_stream() {
        for (input, expect) in [
            ("Content-Length: 3\r\n\r\n{}", "standard input ended within a message"),
            ("Content-Length: 3\r\n", "standard input ended within a message"),
            ("Content-Length: 3", "standard input ended within a message"),
            ("Content-Type: x\r\n\r\n{}", "the header has no `Content-Length`"),
            ("Content-Length: -1\r\n\r\n", "expected a number of bytes"),
            ("{\"jsonrpc\":\"2.0\"}\n", "standard input ended within a message"),
            ("hello\r\n", "expected `Content-Length: N`"),
            ("Content-Length: 18446744073709551615\r\n\r\n{}", "standard input ended within a message"),
        ] {
            let found = all(input.as_bytes());
            assert!(found.last().is_some_and(|last| last.starts_with(expect)), "{input}: {found:?}");
        }
        let endless = "x".repeat(10_000);
        assert!(all(endless.as_bytes()).last().is_some_and(|last| last.starts_with("a header is too long")));
    }

    #[test]
    fn a_message_that_is_too_long_is_skipped() {
        let length = MOST_BYTES + 1;
        let header = format!("Content-Length: {length}\r\n\r\n");
        let content = io::repeat(b' ').take(length);
        let mut input = io::BufReader::new(header.as_bytes().chain(content).chain(&b"Content-Length: 2\r\n\r\n{}"[..]));
        assert!(matches!(read(&mut input), Ok(Some(InputFrame::Oversize(found))) if found == length));
        assert!(matches!(read(&mut input), Ok(Some(InputFrame::Message(_)))));
    }
}
