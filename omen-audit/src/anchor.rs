//! Anchors: records of a log's state, to be kept elsewhere.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::chain::ChainPosition;
use crate::chain::head::{Head, SealedPosition};
use crate::key::{Key, Mac};
use omen_base::{NotExact, regular_file};

/// State of a log: its number of entries, and the seal of the last one. If an anchor is kept where a process that can
/// write to the log cannot write, it reveals that the log and head record were both set back or rewritten (A3).
///
/// An anchor is not secret. Its text is one line of JSON with its own seal, so it cannot be forged without the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    at: ChainPosition,
    text: String,
}

impl Anchor {
    pub(crate) fn new(at: ChainPosition, key: &Key) -> Result<Self, NotExact> {
        let text = SealedPosition::new(key, LABEL, Head::new(at))?.text()?;
        let text = String::from_utf8(text).map_err(|error| NotExact::Unwritable { why: error.to_string() })?;
        Ok(Self { at, text })
    }

    /// Parses an anchor made with this key. Surrounding white space is ignored.
    ///
    /// # Errors
    /// If the text is not an anchor, has been changed, or was made with another key.
    pub fn parse(text: &str, key: &Key) -> Result<Self, BadAnchor> {
        let sealed: SealedPosition =
            serde_json::from_str(text).map_err(|error| BadAnchor::NotAnchor(error.to_string()))?;
        let at = sealed.open(key, LABEL).ok_or(BadAnchor::Seal)?;
        Self::new(at, key).map_err(|error| BadAnchor::NotAnchor(error.to_string()))
    }

    /// Reads an anchor from a file.
    ///
    /// # Errors
    /// If the file cannot be read, is not a regular file, or does not contain an anchor made with this key.
    pub fn from_file(path: impl AsRef<Path>, key: &Key) -> Result<Self, BadAnchor> {
        let path = path.as_ref();
        let unreadable = |why: String| BadAnchor::Unreadable { path: path.to_owned(), why };
        let bytes = regular_file::read(path, MAX_FILE).map_err(|error| unreadable(error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|error| unreadable(error.to_string()))?;
        Self::parse(&text, key)
    }

    /// Returns the number of entries in the log.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.at.count
    }

    /// Returns the seal of the last entry.
    #[must_use]
    pub fn last(&self) -> Mac {
        self.at.last
    }

    pub(crate) fn at(&self) -> ChainPosition {
        self.at
    }
}

/// Writes the anchor as one line, without a line break.
impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Error for an anchor that is invalid or was made with another key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadAnchor {
    /// The text is not an anchor.
    #[error("invalid anchor: {0}")]
    NotAnchor(String),
    /// The anchor was changed, or made with another key.
    #[error("invalid seal: the anchor was changed or made with another key")]
    Seal,
    /// The anchor was changed, or signed with another key.
    #[error("invalid signature: the anchor was changed or signed with another key")]
    Signature,
    /// The file cannot be read.
    #[error("the anchor `{path}` cannot be read: {why}", path = .path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// Reason for the failure.
        why: String,
    },
}

/// Maximum size of an anchor file in bytes, far more than an anchor needs.
const MAX_FILE: u64 = 64 * 1024;

const LABEL: &[u8] = b"omen-gate audit log v1: anchor";
