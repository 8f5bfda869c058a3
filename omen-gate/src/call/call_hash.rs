//! Call hash.

use std::fmt;

use omen_base::canonical::write_text;
use serde::{Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::base::{NotExact, ToolId};

/// SHA-256 of the canonical form (RFC 8785) of `{"server": …, "tool": …, "args": …}`. It includes the server, so a
/// confirmation does not apply to a tool with the same name on another server (D48).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallHash([u8; 32]);

impl CallHash {
    /// Hashes a tool and its arguments, given as canonical JSON. Canonical parts under member names in RFC 8785 order
    /// form a canonical whole.
    pub(super) fn new(ToolId { server, tool }: &ToolId, args: &[u8]) -> Result<Self, NotExact> {
        let (server, tool) = (write_text(server.as_str())?, write_text(tool.as_str())?);
        let parts: [&[u8]; 7] = [b"{\"args\":", args, b",\"server\":", &server, b",\"tool\":", &tool, b"}"];
        let hash = parts.into_iter().fold(Sha256::new(), |hash, part| hash.chain_update(part));
        Ok(Self(hash.finalize().into()))
    }

    /// Returns the digest.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Writes the hash in lower-case hexadecimal.
impl fmt::Display for CallHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for CallHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallHash({self})")
    }
}

impl Serialize for CallHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
