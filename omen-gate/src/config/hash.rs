//! Hash of a configuration.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::base::{NotExact, canonical};

/// Hash of a configuration: SHA-256 of `omen-gate-policy/v1`, a line feed, and the canonical form (RFC 8785) of the
/// file as JSON, with dates as their text.
///
/// Comments, formatting and the order of keys do not count. Everything else does, including a key that only repeats its
/// default, and the order of `[[allow]]` and `[[grants]]`. Paths count as written, so a file has the same hash in every
/// folder. The values of variables in `env` are part of the hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PolicyHash([u8; 32]);

impl PolicyHash {
    pub(super) fn from_value(value: &Value) -> Result<Self, NotExact> {
        let mut hash = Sha256::new_with_prefix(DOMAIN);
        hash.update(canonical(value)?);
        Ok(Self(hash.finalize().into()))
    }

    /// Returns the digest.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Domain separator; keeps hashes of other data from being policy hashes.
const DOMAIN: &[u8] = b"omen-gate-policy/v1\n";

/// Writes the hash in lower-case hexadecimal.
impl fmt::Display for PolicyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for PolicyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PolicyHash({self})")
    }
}

impl Serialize for PolicyHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
