//! Message authentication codes, which seal an entry together with all entries before it.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// HMAC-SHA-256. It is not secret, and is written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mac([u8; 32]);

impl Mac {
    pub(crate) fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", base16ct::HexDisplay(&self.0))
    }
}

impl fmt::Debug for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mac({self})")
    }
}

impl Serialize for Mac {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut digits = [0; 64];
        let text = base16ct::lower::encode_str(&self.0, &mut digits).map_err(serde::ser::Error::custom)?;
        serializer.serialize_str(text)
    }
}

impl<'de> Deserialize<'de> for Mac {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        let mut bytes = [0; 32];
        match base16ct::lower::decode(text.as_bytes(), &mut bytes) {
            Ok(decoded) if decoded.len() == 32 => Ok(Self(bytes)),
            _ => Err(serde::de::Error::custom("expected a code of 64 lower-case hexadecimal digits")),
        }
    }
}
