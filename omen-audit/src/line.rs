//! Encoding of an entry as a line in canonical form (RFC 8785), assembled from parts.
//!
//! The expensive parts, above all the text of the data, are encoded and checked by the appending thread. The thread
//! that writes a group adds the number, time, group and seal, which are not known earlier.

use serde_json::{Map, Value};

use super::Mac;
use super::entry::{Entry, Label};
use super::flaw::Flaw;
use super::{AuditError, Key};
use omen_base::{NotExact, canonical};

/// Encoded entry without its position in the log.
#[derive(Debug, PartialEq)]
pub(super) struct Draft {
    /// Text before the group: episode and data.
    head: Vec<u8>,
    kind: Vec<u8>,
    packet_id: Vec<u8>,
    turn: Vec<u8>,
}

/// Position of an entry in the log.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinePosition<'p> {
    pub(super) sequence: u64,
    /// Time, including its quotation marks.
    pub(super) time: &'p [u8],
    pub(super) group: Option<u64>,
}

impl Draft {
    /// INVARIANT: the log accepts no entry that a verifier would reject. An agent can influence what is recorded about
    /// it, and must not be able to make the log look tampered with, so the parts are read back.
    pub(super) fn new(entry: &Entry) -> Result<Self, AuditError> {
        canonical::check_inner(&entry.data)?;
        let draft = Self::encode(entry)?;
        let (before, after) = draft.unsealed(LinePosition { sequence: 1, time: b"\"\"", group: None });
        let back: Entry = serde_json::from_slice(&[before, after].concat())
            .map_err(|error| AuditError::NotReadBack(Flaw::not_entry(error)))?;
        if Self::encode(&back)? == draft { Ok(draft) } else { Err(AuditError::NotReadBack(Flaw::Form)) }
    }

    /// Encodes the parts of an entry whose values are exact.
    pub(super) fn encode(entry: &Entry) -> Result<Self, NotExact> {
        let Entry { kind, turn, packet_id, correlation_id, data, .. } = entry;
        Ok(Self {
            head: head(correlation_id.as_deref(), data)?,
            kind: kind_member(*kind)?,
            packet_id: member("packet_id", packet_id.as_deref())?,
            turn: member("turn", turn.as_deref())?,
        })
    }

    /// Returns the line at a position, including its line break, sealed after the previous entry.
    pub(super) fn seal(&self, place: LinePosition<'_>, key: &Key, previous: &Mac) -> (Vec<u8>, Mac) {
        let (before, after) = self.unsealed(place);
        let mac = key.seal(&[previous.as_bytes(), &before, &after]);
        let mut line = sealed(&before, &mac, &after);
        line.push(b'\n');
        (line, mac)
    }

    /// Returns the text before and after the seal.
    pub(super) fn unsealed(&self, place: LinePosition<'_>) -> (Vec<u8>, Vec<u8>) {
        let Self { head, kind, packet_id, turn } = self;
        let group = place.group.map(|group| format!(",\"group\":{group}")).unwrap_or_default();
        let before = [head, group.as_bytes(), kind].concat();
        let sequence = format!(",\"sequence\":{},\"time\":", place.sequence);
        let after = [packet_id, sequence.as_bytes(), place.time, turn, b",\"v\":1}"].concat();
        (before, after)
    }
}

pub(super) fn sealed(before: &[u8], mac: &Mac, after: &[u8]) -> Vec<u8> {
    let mac = format!(",\"mac\":\"{mac}\"");
    [before, mac.as_bytes(), after].concat()
}

fn head(correlation_id: Option<&str>, data: &Map<String, Value>) -> Result<Vec<u8>, NotExact> {
    let mut head = b"{".to_vec();
    if let Some(id) = correlation_id {
        head.extend_from_slice(b"\"correlation_id\":");
        head.extend_from_slice(&canonical::write_text(id)?);
        head.push(b',');
    }
    head.extend_from_slice(b"\"data\":");
    head.extend_from_slice(&canonical::write_members(data)?);
    Ok(head)
}

fn kind_member(kind: Label) -> Result<Vec<u8>, NotExact> {
    Ok([b",\"kind\":", canonical::write(&kind)?.as_slice()].concat())
}

fn member(name: &str, text: Option<&str>) -> Result<Vec<u8>, NotExact> {
    match text {
        Some(text) => Ok([b",\"", name.as_bytes(), b"\":", canonical::write_text(text)?.as_slice()].concat()),
        None => Ok(Vec::new()),
    }
}
