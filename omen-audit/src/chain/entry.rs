//! Log entries, one per line.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use omen_types::{CorrelationId, PacketId};

use crate::key::Mac;
use omen_base::{TurnId, canonical};

/// Kind of a recorded entry (A1, G4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// Beginning or end of a turn, with its outcome.
    Turn,
    /// Decision at a step of the gate: the call passed or was refused, e.g. for a missing grant, an open breaker or a
    /// changed tool.
    Decision,
    /// Policy about to take effect, or refused.
    Policy,
    /// Grants about to take effect.
    Grant,
    /// Revocation of grants.
    Revocation,
    /// Confirmation: given, denied or timed out.
    Confirmation,
    /// Intent to run a tool. If it cannot be recorded, the tool does not run.
    Intent,
    /// Outcome of an intent: an answer or a fault.
    Outcome,
    /// Call that ran despite the gate: after a refusal, without a decision, or with arguments other than those allowed.
    Bypass,
}

/// Kind of an entry that the log writes about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OwnKind {
    /// The log was opened.
    Opened,
    /// The log was opened, and the remains of a crash were repaired.
    Repaired,
    /// The file ends here, and the log continues in the next one.
    Rotated,
    /// The file begins here and continues the previous one.
    Continued,
}

/// Record to append to the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Record<'r> {
    /// Entry kind.
    pub kind: Kind,
    /// Turn of the record (A2).
    pub turn: &'r TurnId,
    /// Packet that caused the record, if an episode did.
    pub packet_id: Option<&'r PacketId>,
    /// Episode of the packet.
    pub correlation_id: Option<&'r CorrelationId>,
    /// Content. It is written verbatim, so it must not contain secrets.
    pub data: Map<String, Value>,
}

impl<'r> Record<'r> {
    /// Creates a record without an episode.
    #[must_use]
    pub fn new(kind: Kind, turn: &'r TurnId, data: Map<String, Value>) -> Self {
        Self { kind, turn, packet_id: None, correlation_id: None, data }
    }

    /// Sets the packet and its episode.
    #[must_use]
    pub fn with_packet(self, packet_id: &'r PacketId, correlation_id: &'r CorrelationId) -> Self {
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

/// Entry as the JSON on its line.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) v: Version,
    pub(crate) sequence: u64,
    pub(crate) time: String,
    pub(crate) kind: Label,
    /// Turn; `None` for entries of the log itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) turn: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) packet_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) correlation_id: Option<String>,
    pub(crate) data: Map<String, Value>,
    /// Number of the first entry of the group, if that is a different entry. The entries of a group were written
    /// together and acknowledged together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) group: Option<u64>,
    /// Seal; `None` while the entry is being sealed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mac: Option<Mac>,
}

impl Entry {
    /// Creates an entry without a number, time and seal.
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

/// Format version: 1.
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

/// Label of an entry's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Label {
    Record(Kind),
    Own(OwnKind),
}

impl Label {
    pub(crate) const ALL: [Self; 13] = [
        Self::Record(Kind::Turn),
        Self::Record(Kind::Decision),
        Self::Record(Kind::Policy),
        Self::Record(Kind::Grant),
        Self::Record(Kind::Revocation),
        Self::Record(Kind::Confirmation),
        Self::Record(Kind::Intent),
        Self::Record(Kind::Outcome),
        Self::Record(Kind::Bypass),
        Self::Own(OwnKind::Opened),
        Self::Own(OwnKind::Repaired),
        Self::Own(OwnKind::Rotated),
        Self::Own(OwnKind::Continued),
    ];

    /// Returns whether entries of this kind belong to a turn. Entries of the log itself do not.
    pub(crate) fn is_of_a_turn(self) -> bool {
        matches!(self, Self::Record(_))
    }

    /// Returns the label as written in an entry, with its quotation marks.
    pub(crate) fn text(self) -> Option<String> {
        String::from_utf8(canonical::write(&self).ok()?).ok()
    }
}
