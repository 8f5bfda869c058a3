//! Lines of entries in canonical form (RFC 8785): encoding, assembled from parts, and checking.
//!
//! The expensive parts, above all the text of the data, are encoded and checked by the appending thread. The thread
//! that writes a group adds the number, time, group and seal, which are not known earlier.

use serde_json::{Map, Value};

use super::Flaw;
use super::entry::{Entry, Label};
use crate::key::{Key, Mac};
use omen_base::{NotExact, canonical};

/// Encoded entry without its position in the log.
#[derive(Debug, PartialEq)]
pub(crate) struct Draft {
    /// Text before the group: episode and data.
    head: Vec<u8>,
    kind: Vec<u8>,
    packet_id: Vec<u8>,
    turn: Vec<u8>,
}

/// Position of an entry in the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinePosition<'p> {
    pub(crate) sequence: u64,
    /// Time, including its quotation marks.
    pub(crate) time: &'p [u8],
    pub(crate) group: Option<u64>,
}

impl Draft {
    /// Encodes the parts of an entry whose values are exact.
    pub(crate) fn encode(entry: &Entry) -> Result<Self, NotExact> {
        let Entry { kind, turn, packet_id, correlation_id, data, .. } = entry;
        Ok(Self {
            head: head(correlation_id.as_deref(), data)?,
            kind: kind_member(*kind)?,
            packet_id: member("packet_id", packet_id.as_deref())?,
            turn: member("turn", turn.as_deref())?,
        })
    }

    /// Returns the line at a position, including its line break, sealed after the previous entry.
    pub(crate) fn seal(&self, place: LinePosition<'_>, key: &Key, previous: &Mac) -> (Vec<u8>, Mac) {
        let (before, after) = self.unsealed(place);
        let mac = key.seal(&[previous.as_bytes(), &before, &after]);
        let mut line = sealed(&before, &mac, &after);
        line.push(b'\n');
        (line, mac)
    }

    /// Returns the text before and after the seal.
    pub(crate) fn unsealed(&self, place: LinePosition<'_>) -> (Vec<u8>, Vec<u8>) {
        let Self { head, kind, packet_id, turn } = self;
        let group = place.group.map(|group| format!(",\"group\":{group}")).unwrap_or_default();
        let before = [head, group.as_bytes(), kind].concat();
        let sequence = format!(",\"sequence\":{},\"time\":", place.sequence);
        let after = [packet_id, sequence.as_bytes(), place.time, turn, b",\"v\":1}"].concat();
        (before, after)
    }
}

impl Entry {
    /// Checks a line, without its line break, against its position in the chain, and returns the entry with its seal.
    pub(crate) fn judge(line: &[u8], key: &Key, previous: &Mac, sequence: u64) -> Result<(Self, Mac), Flaw> {
        let entry: Self = serde_json::from_slice(line).map_err(Flaw::not_entry)?;
        if entry.sequence != sequence {
            return Err(Flaw::Sequence { expected: sequence, found: entry.sequence });
        }
        let mac = entry.mac.ok_or_else(|| Flaw::not_entry("it has no `mac`"))?;
        let time = canonical::write_text(&entry.time).map_err(Flaw::not_entry)?;
        let place = LinePosition { sequence, time: &time, group: entry.group };
        let (before, after) = Draft::encode(&entry).map_err(Flaw::not_entry)?.unsealed(place);
        if !key.fits(&[previous.as_bytes(), &before, &after], &mac) {
            return Err(Flaw::Mac);
        }
        if sealed(&before, &mac, &after) == line { Ok((entry, mac)) } else { Err(Flaw::Form) }
    }
}

fn sealed(before: &[u8], mac: &Mac, after: &[u8]) -> Vec<u8> {
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
