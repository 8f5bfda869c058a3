//! One line of the log.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use omen_types::{CorrelationId, PacketId};

use super::Mac;
use omen_base::{TurnId, canonical};

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
    /// Another configuration is about to be in force, or was refused.
    Policy,
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
    /// The file ends here: the log goes on in another one.
    Rotated,
    /// The file begins here, and continues another one.
    Continued,
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
    /// The number of the first entry of its group, if that is another one. The entries of a group were written together,
    /// and acknowledged together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) group: Option<u64>,
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
            group: None,
            mac: None,
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
            other => Err(serde::de::Error::custom(format_args!("unsupported version {other}"))),
        }
    }
}

/// A kind of entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Label {
    Record(Kind),
    Own(Own),
}

impl Label {
    /// All of them.
    pub(super) const ALL: [Self; 12] = [
        Self::Record(Kind::Turn),
        Self::Record(Kind::Decision),
        Self::Record(Kind::Policy),
        Self::Record(Kind::Grant),
        Self::Record(Kind::Revocation),
        Self::Record(Kind::Confirmation),
        Self::Record(Kind::Intent),
        Self::Record(Kind::Outcome),
        Self::Own(Own::Opened),
        Self::Own(Own::Repaired),
        Self::Own(Own::Rotated),
        Self::Own(Own::Continued),
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
