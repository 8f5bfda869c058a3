//! One line of the log.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use omen_types::{CorrelationId, PacketId};

use super::{Key, Mac};
use crate::base::{NotExact, TurnId, canonical};

/// What is recorded (A1, G4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// A turn began or ended, and how.
    Turn,
    /// A step of the gate let a call through, or refused it: for want of a grant, a breaker that is open, a tool that has
    /// changed, and whatever else.
    Decision,
    /// Grants are about to be given.
    Grant,
    /// Grants were taken back.
    Revocation,
    /// A confirmation was given, denied, or timed out.
    Confirmation,
    /// A tool is about to run. If this cannot be recorded, it does not.
    Intent,
    /// What came of it: an answer or a fault.
    Outcome,
}

/// What the log records of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Own {
    /// The log was opened.
    Opened,
    /// The log was opened, and what a crash had left was repaired.
    Repaired,
}

/// Something to record.
#[derive(Clone, Debug, PartialEq)]
pub struct Record<'r> {
    /// What it is.
    pub kind: Kind,
    /// The turn that it belongs to (A2).
    pub turn: &'r TurnId,
    /// The packet that asked for it, if an episode did.
    pub packet_id: Option<&'r PacketId>,
    /// The episode, if there is one.
    pub correlation_id: Option<&'r CorrelationId>,
    /// What there is to say. It is written as it is: secrets do not belong here.
    pub data: Map<String, Value>,
}

impl<'r> Record<'r> {
    /// A record that belongs to no episode.
    #[must_use]
    pub fn new(kind: Kind, turn: &'r TurnId, data: Map<String, Value>) -> Self {
        Self { kind, turn, packet_id: None, correlation_id: None, data }
    }

    /// The same for a packet of an episode.
    #[must_use]
    pub fn of(self, packet_id: &'r PacketId, correlation_id: &'r CorrelationId) -> Self {
        Self { packet_id: Some(packet_id), correlation_id: Some(correlation_id), ..self }
    }
}

impl From<Record<'_>> for Entry {
    fn from(record: Record<'_>) -> Self {
        Self {
            turn: Some(record.turn.as_str().to_owned()),
            packet_id: record.packet_id.map(|id| id.as_str().to_owned()),
            correlation_id: record.correlation_id.map(|id| id.as_str().to_owned()),
            ..Self::new(Label::Record(record.kind), record.data)
        }
    }
}

/// A line as JSON.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) v: Version,
    pub(crate) sequence: u64,
    pub(crate) time: String,
    pub(crate) kind: Label,
    /// Entries of the log itself belong to no turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) turn: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) packet_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) correlation_id: Option<String>,
    pub(crate) data: Map<String, Value>,
    /// Not there while the entry is sealed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mac: Option<Mac>,
}

impl Entry {
    /// An entry of the log itself, still without number, time and seal.
    pub(crate) fn new(kind: Label, data: Map<String, Value>) -> Self {
        Self {
            v: Version,
            sequence: 0,
            time: String::new(),
            kind,
            turn: None,
            packet_id: None,
            correlation_id: None,
            data,
            mac: None,
        }
    }

    /// Seals the entry behind another one, and gives its line with the line break.
    pub(crate) fn seal(mut self, key: &Key, previous: &Mac) -> Result<(Vec<u8>, Mac), NotExact> {
        canonical::check_inner(&self.data)?;
        self.mac = None;
        let mac = key.seal(&[previous.as_bytes(), &canonical::write(&self)?]);
        self.mac = Some(mac);
        let mut line = canonical::write(&self)?;
        line.push(b'\n');
        Ok((line, mac))
    }

    /// Judges a line, without its line break, by its place in the chain, and gives its seal.
    pub(crate) fn judge(line: &[u8], key: &Key, previous: &Mac, sequence: u64) -> Result<Mac, Flaw> {
        let mut entry: Self = serde_json::from_slice(line).map_err(Flaw::not_entry)?;
        if entry.sequence != sequence {
            return Err(Flaw::Sequence { expected: sequence, found: entry.sequence });
        }
        let mac = entry.mac.take().ok_or_else(|| Flaw::not_entry("it has no `mac`"))?;
        let unsealed = canonical::write(&entry).map_err(Flaw::not_entry)?;
        if !key.fits(&[previous.as_bytes(), &unsealed], &mac) {
            return Err(Flaw::Mac);
        }
        entry.mac = Some(mac);
        match canonical::write(&entry) {
            Ok(canonical) if canonical == line => Ok(mac),
            _ => Err(Flaw::Form),
        }
    }
}

/// The version of the format: 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version;

impl Serialize for Version {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(1)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u8::deserialize(deserializer)? {
            1 => Ok(Self),
            other => Err(serde::de::Error::custom(format_args!("version {other} is not known"))),
        }
    }
}

/// A kind of entry, whoever makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Label {
    Record(Kind),
    Own(Own),
}

impl Label {
    /// All of them.
    pub(super) const ALL: [Self; 9] = [
        Self::Record(Kind::Turn),
        Self::Record(Kind::Decision),
        Self::Record(Kind::Grant),
        Self::Record(Kind::Revocation),
        Self::Record(Kind::Confirmation),
        Self::Record(Kind::Intent),
        Self::Record(Kind::Outcome),
        Self::Own(Own::Opened),
        Self::Own(Own::Repaired),
    ];

    /// Whether entries of the kind belong to a turn. Those of the log itself belong to none.
    pub(super) fn is_of_a_turn(self) -> bool {
        matches!(self, Self::Record(_))
    }

    /// The kind as it stands in an entry, with its quotation marks.
    pub(super) fn text(self) -> Option<String> {
        String::from_utf8(canonical::write(&self).ok()?).ok()
    }
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Flaw {
    /// It is longer than any entry may be.
    #[error("it is longer than {MAX_LINE} bytes")]
    Long,
    /// It is no entry: why, cut to 200 characters.
    #[error("it is no entry: {0}")]
    NotEntry(String),
    /// It is an entry that belongs elsewhere.
    #[error("it says that it is entry {found}, where entry {expected} belongs")]
    Sequence {
        /// The number that belongs here.
        expected: u64,
        /// The number that it has.
        found: u64,
    },
    /// Its seal does not fit its content, what stands before it, or the key.
    #[error("its seal does not fit")]
    Mac,
    /// It is the end of the log, has no line break, and is not the start of an entry either, which is all that a crash
    /// leaves there.
    #[error("it has no line break, and is not the start of an entry: expected {expected} after {at} bytes")]
    NotStart {
        /// How many of its bytes could be the start of an entry.
        at: u64,
        /// What could stand there instead.
        expected: String,
    },
    /// It says what was sealed in other bytes than were written.
    #[error("it is not spelled as it was written (RFC 8785)")]
    Form,
}

impl Flaw {
    /// The reason may repeat what stands in the line, so it is cut. To the parser, each line is the first.
    fn not_entry(why: impl ToString) -> Self {
        let why = why.to_string().replace(" at line 1 column ", " at column ");
        Self::NotEntry(why.chars().take(200).collect())
    }
}

/// What stands before the first entry.
pub(crate) fn genesis(key: &Key) -> Mac {
    key.seal(&[b"omen-gate audit log v1: genesis"])
}

/// Bytes of a line, with its line break, at most: what a reader has to be ready for.
pub const MAX_LINE: usize = 16 * 1024 * 1024;
