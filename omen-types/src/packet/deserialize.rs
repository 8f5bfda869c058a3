//! Deserialization of packets by plain serde, after their text was judged.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::{McpEnvelope, Packet, PacketHeader, PacketType, Payload};
use crate::metadata::Metadata;
use crate::parser::PacketKey;

/// Deserializes an optional field that is present.
pub(super) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Deserializes a packet whose text was already accepted.
pub(super) fn unchecked<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Packet, D::Error> {
    deserializer.deserialize_map(PacketVisitor)
}

struct PacketVisitor;

impl<'de> Visitor<'de> for PacketVisitor {
    type Value = Packet;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a packet: an object with `header`, `mcp` and `payload`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Packet, A::Error> {
        let mut header: Option<PacketHeader> = None;
        let mut mcp: Option<McpEnvelope> = None;
        let mut payload: Option<Payload> = None;
        // A payload that precedes the header is kept here until its type is known.
        let mut waiting: Option<Value> = None;
        let mut metadata = Map::new();
        while let Some(Name(name)) = map.next_key()? {
            match PacketKey::from_text(&name) {
                Some(PacketKey::Header) if header.is_none() => header = Some(map.next_value()?),
                Some(PacketKey::Mcp) if mcp.is_none() => mcp = Some(map.next_value()?),
                Some(PacketKey::Payload) if payload.is_none() && waiting.is_none() => match &header {
                    Some(header) => payload = Some(map.next_value_seed(PayloadOf(header.packet_type))?),
                    None => waiting = Some(map.next_value()?),
                },
                Some(_) => return Err(A::Error::custom(format_args!("the member `{name}` is repeated"))),
                None => drop(metadata.insert(name.into_owned(), map.next_value()?)),
            }
        }
        let header = header.ok_or_else(|| A::Error::missing_field("header"))?;
        let mcp = mcp.ok_or_else(|| A::Error::missing_field("mcp"))?;
        let payload = match (payload, waiting) {
            (Some(payload), _) => payload,
            (None, Some(value)) => PayloadOf(header.packet_type).deserialize(value).map_err(A::Error::custom)?,
            (None, None) => return Err(A::Error::missing_field("payload")),
        };
        let metadata = Metadata::try_from(metadata).map_err(A::Error::custom)?;
        Ok(payload.with(header, mcp, metadata))
    }
}

/// Name of a field, borrowed if possible.
#[derive(Deserialize)]
struct Name<'t>(#[serde(borrow)] Cow<'t, str>);

/// Seed for the payload of a packet type.
struct PayloadOf(PacketType);

impl<'de> DeserializeSeed<'de> for PayloadOf {
    type Value = Payload;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Payload, D::Error> {
        Payload::deserialize(self.0, deserializer)
    }
}
