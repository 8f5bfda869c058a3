//! Server-sent events, received in pieces.

use bytes::{Buf as _, Bytes};
use memchr::memchr2;

use super::body::no_room;
use super::error::RequestError;
use crate::http::memory_limit::Reservation;

/// Parser that assembles events. It keeps one line and one event, both bounded.
#[derive(Debug)]
pub(super) struct Parser {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// Whether the event has a custom type, which has no meaning here.
    is_other: bool,
    id: Option<String>,
    /// Id of the last complete event that had one.
    last_id: Option<String>,
    /// Time that the server asks to wait before the stream is reopened, in milliseconds.
    pub(super) retry: Option<u64>,
    after_return: bool,
    is_first: bool,
    limit: usize,
    held: Reservation,
}

/// Maximum length of an event id that is kept.
const LONGEST_ID: usize = 1024;

impl Parser {
    /// Creates a parser for events with at most `limit` bytes of data.
    pub(super) fn new(limit: usize, held: Reservation) -> Self {
        Self {
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            is_other: false,
            id: None,
            last_id: None,
            retry: None,
            after_return: false,
            is_first: true,
            limit,
            held,
        }
    }

    /// Accepts bytes up to the end of an event and returns its data. The remaining bytes are left for the next call.
    pub(super) fn take(&mut self, bytes: &mut Bytes) -> Result<Option<Vec<u8>>, RequestError> {
        loop {
            if self.after_return && !bytes.is_empty() {
                self.after_return = false;
                if bytes.first() == Some(&b'\n') {
                    bytes.advance(1);
                }
            }
            let Some(end) = memchr2(b'\n', b'\r', bytes) else {
                self.keep(bytes)?;
                bytes.clear();
                return Ok(None);
            };
            let part = bytes.split_to(end);
            self.keep(&part)?;
            self.after_return = bytes.first() == Some(&b'\r');
            bytes.advance(1);
            if let Some(data) = self.line()? {
                return Ok(Some(data));
            }
        }
    }

    /// Returns the id after which the stream can be resumed.
    pub(super) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// Starts the stream over, because the server does not know the id.
    pub(super) fn forget(&mut self) {
        self.last_id = None;
    }

    /// Prepares for the stream to resume in another answer, which repeats incomplete events.
    pub(super) fn begin(&mut self) {
        self.line.clear();
        self.reset();
        (self.after_return, self.is_first) = (false, true);
    }

    fn keep(&mut self, part: &[u8]) -> Result<(), RequestError> {
        // A comment is not kept: it may have any length and says nothing.
        if self.line.first() == Some(&b':') {
            return Ok(());
        }
        let part = if self.line.is_empty() && part.first() == Some(&b':') { &b":"[..] } else { part };
        let bytes = self.line.len() + part.len();
        if bytes > self.limit + FIELD {
            return Err(oversized());
        }
        if !self.held.grow(bytes + self.data.len()) {
            return Err(no_room());
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    /// Handles the end of a line.
    fn line(&mut self) -> Result<Option<Vec<u8>>, RequestError> {
        let mut line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.is_first) && line.starts_with(BOM) {
            line.drain(..BOM.len());
        }
        if line.is_empty() {
            return Ok(self.event());
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(0) => return Ok(None),
            Some(colon) => {
                let value = line.get(colon + 1..).unwrap_or_default();
                (line.get(..colon).unwrap_or_default(), value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (&line[..], &b""[..]),
        };
        match field {
            b"data" => {
                let bytes = self.data.len() + value.len() + usize::from(self.has_data);
                if bytes > self.limit {
                    return Err(oversized());
                }
                if !self.held.grow(bytes) {
                    return Err(no_room());
                }
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
                self.has_data = true;
            }
            b"event" => self.is_other = !value.is_empty() && value != b"message",
            b"id" if value.len() <= LONGEST_ID && !value.contains(&0) => {
                self.id = std::str::from_utf8(value).ok().map(str::to_owned);
            }
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                self.retry = std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
            }
            _ => {}
        }
        Ok(None)
    }

    /// Handles the end of an event.
    fn event(&mut self) -> Option<Vec<u8>> {
        if let Some(id) = self.id.take() {
            self.last_id = Some(id).filter(|id| !id.is_empty());
        }
        let is_message = !self.is_other && !self.data.is_empty();
        let data = std::mem::take(&mut self.data);
        self.reset();
        is_message.then_some(data)
    }

    fn reset(&mut self) {
        self.data.clear();
        self.held.clear();
        (self.has_data, self.is_other, self.id) = (false, false, None);
    }
}

fn oversized() -> RequestError {
    RequestError::Malformed("an event is larger than the limit".into())
}

const BOM: &[u8] = b"\xEF\xBB\xBF";
/// Maximum length of a line beyond its value.
const FIELD: usize = 64;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use bytes::Bytes;

    use super::{Parser, no_room, oversized};
    use crate::http::memory_limit::Room;

    fn parser(limit: usize) -> Parser {
        Parser::new(limit, Room::new(1 << 20).hold())
    }

    fn events(text: &str, piece: usize) -> (Vec<String>, Parser) {
        let (mut parser, mut events) = (parser(100), Vec::new());
        for piece in text.as_bytes().chunks(piece) {
            let mut bytes = Bytes::copy_from_slice(piece);
            while let Some(event) = parser.take(&mut bytes).unwrap() {
                events.push(String::from_utf8(event).unwrap());
            }
        }
        (events, parser)
    }

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let text = "\u{FEFF}: hello\r\nretry: 250\rid: 1\ndata: {\"a\":\ndata:1}\n\nevent: message\r\ndata: b\r\n\r\n\
                    event: other\ndata: c\n\nid: 2\ndata:\n\nid\u{0}: 9\ndata:  d\nid: x\u{0}\n\ndata: half\n";
        for piece in [1, 2, 3, 7, 1000] {
            let (events, parser) = events(text, piece);
            assert_eq!(events, ["{\"a\":\n1}", "b", " d"], "{piece}");
            assert_eq!((parser.last_id(), parser.retry), (Some("2"), Some(250)));
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let endless = Bytes::from(vec![b'x'; 10_000]);
        assert_eq!(parser(100).take(&mut endless.clone()), Err(oversized()), "a line");
        let mut lines = Bytes::from("data: 0123456789\n".repeat(20));
        assert_eq!(parser(100).take(&mut lines), Err(oversized()), "data");
        let mut other = Bytes::from("x: 0123456789\n".repeat(1000));
        assert_eq!(parser(100).take(&mut other), Ok(None), "what is not kept may go on");
        let mut comment = parser(100);
        for _ in 0..100 {
            assert_eq!(comment.take(&mut Bytes::from(format!(":{}", "x".repeat(1000)))), Ok(None));
        }
        let room = Room::new(4096);
        let mut one = Parser::new(1 << 20, room.hold());
        assert_eq!(one.take(&mut Bytes::from(vec![b'x'; 4000])), Ok(None));
        let mut two = Parser::new(1 << 20, room.hold());
        assert_eq!(two.take(&mut Bytes::from(vec![b'x'; 4000])), Err(no_room()));
    }

    #[test]
    fn a_stream_that_is_read_on_begins_anew() {
        let mut parser = parser(100);
        assert_eq!(parser.take(&mut Bytes::from("id: 1\ndata: a\n\ndata: ha")).unwrap().unwrap(), b"a");
        parser.begin();
        assert_eq!(parser.take(&mut Bytes::from("data: half\n\n")).unwrap().unwrap(), b"half");
        assert_eq!(parser.last_id(), Some("1"));
    }
}
