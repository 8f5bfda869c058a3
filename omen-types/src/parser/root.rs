//! Fields of a packet: the three that every packet has, in any order, and metadata.

use super::{Cursor, Keys, ParseResult, Refusal, once};
use crate::metadata;

/// Fields that every packet has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketKey {
    Header,
    Mcp,
    Payload,
}

impl PacketKey {
    pub(crate) fn from_text(name: &str) -> Option<Self> {
        match name {
            "header" => Some(Self::Header),
            "mcp" => Some(Self::Mcp),
            "payload" => Some(Self::Payload),
            _ => None,
        }
    }

    fn bit(self) -> u64 {
        1 << self as u32
    }
}

/// Fields of a packet that have been parsed so far.
#[derive(Default)]
pub(crate) struct Root<'t> {
    seen: u64,
    metadata: Keys<'t>,
    /// Start and end of a payload that precedes the header, when the packet type is still unknown.
    payload: Option<(usize, usize)>,
}

impl<'t> Root<'t> {
    /// Skips to the value of the header if it comes first, as is usual.
    #[inline]
    pub(crate) fn begins(&mut self, cursor: &mut Cursor<'t>) -> bool {
        let found = cursor.eat(b"{\"header\":");
        if found {
            self.seen = PacketKey::Header.bit();
            cursor.note_form();
            cursor.space();
        }
        found
    }

    /// Skips to the value of the envelope if it immediately follows the header.
    #[inline]
    pub(crate) fn goes_on_with_mcp(&mut self, cursor: &mut Cursor<'t>) -> bool {
        let found = cursor.predict(b",\"mcp\":", b", \"mcp\": ");
        if found {
            self.seen |= PacketKey::Mcp.bit();
        }
        found
    }

    /// Skips to the value of the payload if it immediately follows header and envelope.
    #[inline]
    pub(crate) fn goes_on_with_payload(&mut self, cursor: &mut Cursor<'t>) -> bool {
        let found = cursor.predict(b",\"payload\":", b", \"payload\": ");
        if found {
            self.seen |= PacketKey::Payload.bit();
        }
        found
    }

    /// Skips to the value of the first field; `None` if the packet has none.
    pub(crate) fn begin(&mut self, cursor: &mut Cursor<'t>) -> ParseResult<Option<PacketKey>> {
        cursor.expect(b"{")?;
        cursor.space();
        if cursor.eat(b"}") { Ok(None) } else { self.named(cursor) }
    }

    /// Skips to the value of the next field; `None` at the end of the packet.
    pub(crate) fn next(&mut self, cursor: &mut Cursor<'t>) -> ParseResult<Option<PacketKey>> {
        cursor.space();
        if cursor.eat(b"}") {
            return Ok(None);
        }
        cursor.expect(b",")?;
        cursor.space();
        self.named(cursor)
    }

    fn note(&mut self, key: PacketKey) -> ParseResult<Option<PacketKey>> {
        once(&mut self.seen, key.bit()).map(|()| Some(key))
    }

    /// Returns the field whose name is at the cursor, or the next one that is not metadata.
    fn named(&mut self, cursor: &mut Cursor<'t>) -> ParseResult<Option<PacketKey>> {
        loop {
            let name = cursor.string()?.text()?;
            cursor.space();
            cursor.expect(b":")?;
            cursor.note_form();
            cursor.space();
            if let Some(key) = PacketKey::from_text(&name) {
                return self.note(key);
            }
            if !metadata::is_name(&name) {
                return Err(Refusal);
            }
            self.metadata.add(name)?;
            cursor.value(LEVEL)?;
            cursor.space();
            if cursor.eat(b"}") {
                return Ok(None);
            }
            cursor.expect(b",")?;
            cursor.space();
        }
    }

    /// Skips a payload whose packet type is not yet known.
    pub(crate) fn put_off(&mut self, cursor: &mut Cursor<'t>) -> ParseResult<()> {
        let from = cursor.at();
        cursor.value(LEVEL)?;
        self.payload = Some((from, cursor.at()));
        Ok(())
    }

    /// Parses the payload that was skipped.
    pub(crate) fn put_off_payload<T>(
        &self,
        cursor: &mut Cursor<'t>,
        parse: impl FnOnce(&mut Cursor<'t>) -> ParseResult<T>,
    ) -> ParseResult<T> {
        let (from, to) = self.payload.ok_or(Refusal)?;
        let after = cursor.at();
        cursor.go_to(from);
        let payload = parse(cursor)?;
        if cursor.at() != to {
            return Err(Refusal);
        }
        cursor.go_to(after);
        Ok(payload)
    }
}

/// Nesting level of the fields of a packet.
const LEVEL: u8 = 2;
