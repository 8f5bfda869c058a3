//! Free-form JSON: anything goes but a repeated key (D42) and nesting deeper than
//! [`MAX_DEPTH`].
//!
//! `DEPTH` is the nesting level of the value if it is an array or object; codegen knows it from the
//! place in the schema.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use smallvec::SmallVec;

use super::{Borrowed, Read, Seed};
use crate::limits::MAX_DEPTH;

/// Any value, owned.
pub(crate) struct OwnedValue<const DEPTH: u8>;
/// An object, owned.
pub(crate) struct OwnedObject<const MIN: usize, const DEPTH: u8>;
/// Any value, not kept.
pub(crate) struct CheckValue<const DEPTH: u8>;
/// An object, not kept.
pub(crate) struct CheckObject<const MIN: usize, const DEPTH: u8>;
/// An object, kept as its text.
pub(crate) struct RawObject<const MIN: usize, const DEPTH: u8>;

impl<'de, const DEPTH: u8> Read<'de> for OwnedValue<DEPTH> {
    type Out = Value;

    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        Any::<Value>::at(DEPTH).deserialize(deserializer)
    }
}

impl<'de, const DEPTH: u8> Read<'de> for CheckValue<DEPTH> {
    type Out = ();

    #[inline]
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
        Any::<Nothing>::at(DEPTH).deserialize(deserializer).map(drop)
    }
}

impl<'de, const MIN: usize, const DEPTH: u8> Read<'de> for OwnedObject<MIN, DEPTH> {
    type Out = Map<String, Value>;

    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
        match deserializer.deserialize_map(Any::<Value>::at(DEPTH))? {
            Value::Object(map) if map.len() >= MIN => Ok(map),
            _ => Err(D::Error::custom("an object with too few members")),
        }
    }
}

impl<'de, const MIN: usize, const DEPTH: u8> Read<'de> for CheckObject<MIN, DEPTH> {
    type Out = ();

    #[inline]
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
        match deserializer.deserialize_map(Any::<Nothing>::at(DEPTH))? {
            Nothing::Object(members) if members >= MIN => Ok(()),
            _ => Err(D::Error::custom("an object with too few members")),
        }
    }
}

impl<'de, const MIN: usize, const DEPTH: u8> Read<'de> for RawObject<MIN, DEPTH> {
    type Out = &'de str;

    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<&'de str, D::Error> {
        let raw = <&RawValue as serde::Deserialize>::deserialize(deserializer)?.get();
        let mut inner = serde_json::Deserializer::from_str(raw);
        CheckObject::<MIN, DEPTH>::read(&mut inner).map_err(D::Error::custom)?;
        Ok(raw)
    }
}

/// Any value, not kept; a key may be repeated. Only for texts that are not nested too deep.
pub(crate) struct Syntax;

impl<'de> Read<'de> for Syntax {
    type Out = ();

    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
        Any::<Syntax>::at(1).deserialize(deserializer).map(drop)
    }
}

/// What is made of free-form values.
trait Make: Sized {
    /// Whether a repeated key is an error.
    const UNIQUE_KEYS: bool = true;

    type Members: Default;
    type Elements: Default;

    fn null() -> Self;
    fn boolean(value: bool) -> Self;
    fn number(value: serde_json::Number) -> Self;
    fn string(text: &str) -> Self;
    fn element(all: &mut Self::Elements, element: Self);
    fn array(all: Self::Elements) -> Self;
    fn member(all: &mut Self::Members, key: &str, value: Self);
    fn object(all: Self::Members, count: usize) -> Self;
}

impl Make for Value {
    type Members = Map<String, Value>;
    type Elements = Vec<Value>;

    fn null() -> Self {
        Value::Null
    }
    fn boolean(value: bool) -> Self {
        Value::Bool(value)
    }
    fn number(value: serde_json::Number) -> Self {
        Value::Number(value)
    }
    fn string(text: &str) -> Self {
        Value::String(text.to_owned())
    }
    fn element(all: &mut Vec<Value>, element: Self) {
        all.push(element);
    }
    fn array(all: Vec<Value>) -> Self {
        Value::Array(all)
    }
    fn member(all: &mut Map<String, Value>, key: &str, value: Self) {
        all.insert(key.to_owned(), value);
    }
    fn object(all: Map<String, Value>, _: usize) -> Self {
        Value::Object(all)
    }
}

/// Only what the checks need.
enum Nothing {
    Other,
    Object(usize),
}

impl Make for Nothing {
    type Members = ();
    type Elements = ();

    #[inline]
    fn null() -> Self {
        Nothing::Other
    }
    #[inline]
    fn boolean(_: bool) -> Self {
        Nothing::Other
    }
    #[inline]
    fn number(_: serde_json::Number) -> Self {
        Nothing::Other
    }
    #[inline]
    fn string(_: &str) -> Self {
        Nothing::Other
    }
    #[inline]
    fn element((): &mut (), _: Self) {}
    #[inline]
    fn array((): ()) -> Self {
        Nothing::Other
    }
    #[inline]
    fn member((): &mut (), _: &str, _: Self) {}
    #[inline]
    fn object((): (), count: usize) -> Self {
        Nothing::Object(count)
    }
}

impl Make for Syntax {
    const UNIQUE_KEYS: bool = false;

    type Members = ();
    type Elements = ();

    fn null() -> Self {
        Syntax
    }
    fn boolean(_: bool) -> Self {
        Syntax
    }
    fn number(_: serde_json::Number) -> Self {
        Syntax
    }
    fn string(_: &str) -> Self {
        Syntax
    }
    fn element((): &mut (), _: Self) {}
    fn array((): ()) -> Self {
        Syntax
    }
    fn member((): &mut (), _: &str, _: Self) {}
    fn object((): (), _: usize) -> Self {
        Syntax
    }
}

struct Any<M> {
    depth: u8,
    make: PhantomData<fn() -> M>,
}

impl<M> Any<M> {
    fn at(depth: u8) -> Self {
        Self { depth, make: PhantomData }
    }

    fn inner<E: Error>(&self) -> Result<u8, E> {
        if self.depth > MAX_DEPTH { Err(E::custom("nested too deep")) } else { Ok(self.depth + 1) }
    }
}

impl<'de, M: Make> DeserializeSeed<'de> for Any<M> {
    type Value = M;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<M, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, M: Make> Visitor<'de> for Any<M> {
    type Value = M;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without repeated keys")
    }
    fn visit_unit<E>(self) -> Result<M, E> {
        Ok(M::null())
    }
    fn visit_bool<E>(self, value: bool) -> Result<M, E> {
        Ok(M::boolean(value))
    }
    fn visit_u64<E>(self, value: u64) -> Result<M, E> {
        Ok(M::number(value.into()))
    }
    fn visit_i64<E>(self, value: i64) -> Result<M, E> {
        Ok(M::number(value.into()))
    }
    fn visit_f64<E: Error>(self, value: f64) -> Result<M, E> {
        serde_json::Number::from_f64(value).map(M::number).ok_or_else(|| E::custom("not a finite number"))
    }
    fn visit_str<E>(self, text: &str) -> Result<M, E> {
        Ok(M::string(text))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<M, A::Error> {
        let depth = self.inner()?;
        let mut all = M::Elements::default();
        while let Some(element) = seq.next_element_seed(Self::at(depth))? {
            M::element(&mut all, element);
        }
        Ok(M::array(all))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<M, A::Error> {
        let depth = self.inner()?;
        let mut all = M::Members::default();
        let mut keys = Keys::default();
        while let Some(key) = map.next_key_seed(Seed::<Borrowed<String>>::new())? {
            let value = map.next_value_seed(Self::at(depth))?;
            M::member(&mut all, &key, value);
            if M::UNIQUE_KEYS {
                keys.add(key)?;
            }
        }
        Ok(M::object(all, keys.count()))
    }
}

/// The keys of one object, to find a repeated one: a short list, and a set once it is long.
#[derive(Default)]
pub(crate) struct Keys<'de> {
    few: SmallVec<[Cow<'de, str>; 8]>,
    many: HashSet<Cow<'de, str>>,
}

impl<'de> Keys<'de> {
    pub(crate) fn add<E: Error>(&mut self, key: Cow<'de, str>) -> Result<(), E> {
        if self.insert(key) { Ok(()) } else { Err(E::custom("a key is repeated")) }
    }

    /// Whether the key is new.
    pub(crate) fn insert(&mut self, key: Cow<'de, str>) -> bool {
        if self.few.contains(&key) {
            return false;
        }
        if self.few.len() < 32 {
            self.few.push(key);
            return true;
        }
        self.many.insert(key)
    }

    fn count(&self) -> usize {
        self.few.len() + self.many.len()
    }
}
