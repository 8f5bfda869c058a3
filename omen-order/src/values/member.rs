//! Members of calls that `same` compares, as keys.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sha2::Sha256;

use super::Fit;

/// Secret of the log, or one derived from it, from which the keys of members are computed. Nobody else can guess them.
#[derive(Clone)]
pub struct Secret(Hmac<Sha256>);

impl Secret {
    /// Creates a key from bytes.
    #[must_use]
    pub fn new(bytes: &[u8; 32]) -> Self {
        // A key of 32 bytes is shorter than a block, so it is padded rather than hashed.
        let mut block = [0; 64];
        block.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        Self(Hmac::new(&block.into()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Keyed hash of a member's value: equal for equal values in one log. It is written as `k:` and hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key([u8; 16]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "k:{}", base16ct::lower::encode_string(&self.0))
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{self:?}"))
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut key = [0; 16];
        match text.strip_prefix("k:").map(|digits| base16ct::lower::decode(digits, &mut key)) {
            Some(Ok(decoded)) if decoded.len() == 16 => Ok(Self(key)),
            _ => Err(serde::de::Error::custom("expected `k:` and 32 hexadecimal digits")),
        }
    }
}

/// Known state of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemberValue {
    Missing,
    /// Not a string, an integer or a boolean, or a number that programs read differently.
    Incomparable,
    /// Not recorded.
    Unknown,
    /// Member of an answer that has not arrived.
    Pending,
    Key(Key),
}

/// Largest integer up to which doubles represent all integers, 2^53−1.
const LARGEST: i64 = 9_007_199_254_740_991;

/// Returns the integer if every program reads it alike.
pub(crate) fn plain(value: &Value) -> Option<i64> {
    value.as_i64().filter(|number| (-LARGEST..=LARGEST).contains(number))
}

pub(crate) fn key_of(secret: &Secret, value: &Value, pointer: &str) -> MemberValue {
    let (kind, text) = match value.pointer(pointer) {
        None => return MemberValue::Missing,
        Some(Value::String(text)) => (b's', text.clone()),
        Some(Value::Bool(yes)) => (b'b', yes.to_string()),
        Some(number) => match plain(number) {
            Some(number) => (b'i', number.to_string()),
            None => return MemberValue::Incomparable,
        },
    };
    let mut mac = secret.0.clone();
    mac.update(&[kind]);
    mac.update(text.as_bytes());
    let mut key = [0; 16];
    key.iter_mut().zip(mac.finalize().into_bytes()).for_each(|(to, from)| *to = from);
    MemberValue::Key(Key(key))
}

/// Returns whether two members are equal. A missing member equals nothing.
pub(crate) fn equal(a: MemberValue, b: MemberValue) -> Fit {
    match (a, b) {
        (MemberValue::Missing, _) | (_, MemberValue::Missing) => Fit::No,
        (MemberValue::Key(a), MemberValue::Key(b)) if a == b => Fit::Yes,
        (MemberValue::Key(_), MemberValue::Key(_)) => Fit::No,
        _ => Fit::Unknown,
    }
}
