//! The members of a packet: the three that every packet has, in any order, and metadata.

use super::{Cursor, Keys, Parsed, Refused, once};
use crate::metadata;

/// The members that every packet has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketKey {
    Header,
    Mcp,
    Payload,
}

impl PacketKey {
    pub(crate) fn of(name: &str) -> Option<Self> {
        match name {
            "header" => Some(Self::Header),
            "mcp" => Some(Self::Mcp),
            "payload" => Some(Self::Payload),
            _ => None,
        }
    }
}

/// What was seen of a packet.
#[derive(Default)]
pub(crate) struct Root<'t> {
    seen: u64,
    metadata: Keys<'t>,
    /// Where a payload begins and ends that stands before the header, and so before the type of packet is known.
    payload: Option<(usize, usize)>,
}

impl<'t> Root<'t> {
    /// Steps up to the value of the first member; `None` if the packet has no more.
    #[inline]
    pub(crate) fn first(&mut self, cursor: &mut Cursor<'t>) -> Parsed<Option<PacketKey>> {
        if cursor.eat(b"{\"header\":") {
            cursor.note_form();
            cursor.space();
            return self.note(PacketKey::Header);
        }
        cursor.expect(b"{")?;
        cursor.space();
        if cursor.eat(b"}") { Ok(None) } else { self.named(cursor) }
    }

    /// Steps up to the value of the next member; `None` if the packet has no more.
    #[inline]
    pub(crate) fn next(&mut self, after: PacketKey, cursor: &mut Cursor<'t>) -> Parsed<Option<PacketKey>> {
        match after {
            PacketKey::Header if cursor.predict(b",\"mcp\":", b", \"mcp\": ") => self.note(PacketKey::Mcp),
            PacketKey::Mcp if cursor.predict(b",\"payload\":", b", \"payload\": ") => self.note(PacketKey::Payload),
            PacketKey::Payload if cursor.eat(b"}") => Ok(None),
            _ => self.other(cursor),
        }
    }

    fn note(&mut self, key: PacketKey) -> Parsed<Option<PacketKey>> {
        once(&mut self.seen, 1 << key as u32).map(|()| Some(key))
    }

    fn other(&mut self, cursor: &mut Cursor<'t>) -> Parsed<Option<PacketKey>> {
        cursor.space();
        if cursor.eat(b"}") {
            return Ok(None);
        }
        cursor.expect(b",")?;
        cursor.space();
        self.named(cursor)
    }

    /// The member whose name is at the cursor, or the one after metadata.
    fn named(&mut self, cursor: &mut Cursor<'t>) -> Parsed<Option<PacketKey>> {
        loop {
            let name = cursor.string()?.text()?;
            cursor.space();
            cursor.expect(b":")?;
            cursor.note_form();
            cursor.space();
            if let Some(key) = PacketKey::of(&name) {
                return self.note(key);
            }
            if !metadata::is_name(&name) {
                return Err(Refused);
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

    /// Steps over a payload whose packet type is not yet known.
    pub(crate) fn put_off(&mut self, cursor: &mut Cursor<'t>) -> Parsed<()> {
        let from = cursor.at();
        cursor.value(LEVEL)?;
        self.payload = Some((from, cursor.at()));
        Ok(())
    }

    /// Parses the payload that was stepped over.
    pub(crate) fn put_off_payload<T>(
        &self,
        cursor: &mut Cursor<'t>,
        parse: impl FnOnce(&mut Cursor<'t>) -> Parsed<T>,
    ) -> Parsed<T> {
        let (from, to) = self.payload.ok_or(Refused)?;
        let after = cursor.at();
        cursor.go_to(from);
        let payload = parse(cursor)?;
        if cursor.at() != to {
            return Err(Refused);
        }
        cursor.go_to(after);
        Ok(payload)
    }
}

/// The nesting level of the members of a packet.
const LEVEL: u8 = 2;
