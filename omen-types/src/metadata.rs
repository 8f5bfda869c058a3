//! Members of a packet that begin with `_`: allowed at its top level, checked by no rule (D38).

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::read::free::{CheckValue, Keys, OwnedValue};
use crate::read::{Seed, unknown};
use crate::scalar::Invalid;

/// A packet's metadata: members whose names begin with `_`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata(Map<String, Value>);

impl Metadata {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces a member; gives back what stood there.
    ///
    /// # Errors
    /// If the name does not begin with `_`.
    pub fn insert(&mut self, name: impl Into<String>, value: Value) -> Result<Option<Value>, Invalid> {
        let name = name.into();
        if name.starts_with('_') {
            Ok(self.0.insert(name, value))
        } else {
            Err(Invalid::new("metadata name", "a name that begins with `_`", name))
        }
    }

    /// The members.
    #[must_use]
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }

    pub(crate) fn read<'de, A: MapAccess<'de>>(&mut self, key: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        let value = map.next_value_seed(Seed::<OwnedValue<2>>::new())?;
        match self.0.insert(key.into_owned(), value) {
            None => Ok(()),
            Some(_) => Err(A::Error::custom("a member is repeated")),
        }
    }
}

impl Serialize for Metadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// Metadata that is checked and not kept.
#[derive(Default)]
pub(crate) struct MetadataCheck<'de>(Keys<'de>);

impl<'de> MetadataCheck<'de> {
    pub(crate) fn read<A: MapAccess<'de>>(&mut self, key: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        map.next_value_seed(Seed::<CheckValue<2>>::new())?;
        self.0.add(key)
    }
}

/// The members that every packet has.
#[derive(Clone, Copy)]
pub(crate) enum PacketKey {
    Header,
    Mcp,
    Payload,
}

/// A member of a packet.
pub(crate) enum RootKey<'de> {
    Known(PacketKey),
    Metadata(Cow<'de, str>),
}

pub(crate) struct RootKeySeed;

impl RootKeySeed {
    fn known(name: &str) -> Option<PacketKey> {
        match name {
            "header" => Some(PacketKey::Header),
            "mcp" => Some(PacketKey::Mcp),
            "payload" => Some(PacketKey::Payload),
            _ => None,
        }
    }
}

impl<'de> DeserializeSeed<'de> for RootKeySeed {
    type Value = RootKey<'de>;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<RootKey<'de>, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<'de> Visitor<'de> for RootKeySeed {
    type Value = RootKey<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`header`, `mcp`, `payload`, or a name that begins with `_`")
    }

    #[inline]
    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<RootKey<'de>, E> {
        match Self::known(name) {
            Some(key) => Ok(RootKey::Known(key)),
            None if name.starts_with('_') => Ok(RootKey::Metadata(Cow::Borrowed(name))),
            None => Err(unknown(name)),
        }
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<RootKey<'de>, E> {
        match Self::known(name) {
            Some(key) => Ok(RootKey::Known(key)),
            None if name.starts_with('_') => Ok(RootKey::Metadata(Cow::Owned(name.to_owned()))),
            None => Err(unknown(name)),
        }
    }
}
