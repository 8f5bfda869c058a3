//! What identifies a configuration.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::base::{NotExact, canonical};

/// A hash over what a configuration says: SHA-256 of `omen-gate-policy/v1`, a line feed, and the canonical form (RFC 8785)
/// of the file's value as JSON, in which dates are texts as they are written.
///
/// Comments, formatting and the order of keys do not count. Everything else does, also a key that only repeats its
/// default, and the order of `[[allow]]` and `[[grants]]`. Paths count as they are written, so a file has the same hash
/// wherever it lies. The values of variables in `env` are part of what is hashed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PolicyHash([u8; 32]);

impl PolicyHash {
    pub(super) fn of(value: &Value) -> Result<Self, NotExact> {
        let mut hash = Sha256::new_with_prefix(DOMAIN);
        hash.update(canonical(value)?);
        Ok(Self(hash.finalize().into()))
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Keeps a policy from having the hash of something else.
const DOMAIN: &[u8] = b"omen-gate-policy/v1\n";

/// In lower-case hexadecimal.
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
