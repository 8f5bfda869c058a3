//! Anchors: what is kept elsewhere.

use std::fmt;
use std::path::{Path, PathBuf};

use super::head::{Head, Point, Sealed};
use super::{Key, Mac};
use omen_base::{NotExact, regular};

/// Where a log stood once: how many entries it had, and the seal of the last of them. Kept where a process that can write to
/// the log cannot, it shows that log and head record were both set back, or written anew (A3).
///
/// It is not secret. Its text is one line of JSON with a seal of its own, so it cannot be forged without the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    at: Point,
    text: String,
}

impl Anchor {
    pub(crate) fn new(at: Point, key: &Key) -> Result<Self, NotExact> {
        let text = Sealed::new(key, LABEL, Head::new(at))?.text()?;
        let text = String::from_utf8(text).map_err(|error| NotExact::Unwritable { why: error.to_string() })?;
        Ok(Self { at, text })
    }

    /// Reads an anchor that was made with this key. Blanks around it do not count.
    ///
    /// # Errors
    /// If the text is something else, was changed, or belongs to another key.
    pub fn parse(text: &str, key: &Key) -> Result<Self, BadAnchor> {
        let sealed: Sealed = serde_json::from_str(text).map_err(|error| BadAnchor::NotAnchor(error.to_string()))?;
        let at = sealed.open(key, LABEL).ok_or(BadAnchor::Seal)?;
        Self::new(at, key).map_err(|error| BadAnchor::NotAnchor(error.to_string()))
    }

    /// Reads an anchor from a file.
    ///
    /// # Errors
    /// If it cannot be read, is not a regular file, or holds no anchor of this key.
    pub fn from_file(path: impl AsRef<Path>, key: &Key) -> Result<Self, BadAnchor> {
        let path = path.as_ref();
        let unreadable = |why: String| BadAnchor::Unreadable { path: path.to_owned(), why };
        let bytes = regular::read(path, MAX_FILE).map_err(|error| unreadable(error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|error| unreadable(error.to_string()))?;
        Self::parse(&text, key)
    }

    /// Entries that the log had.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.at.count
    }

    /// The seal of the last of them.
    #[must_use]
    pub fn last(&self) -> Mac {
        self.at.last
    }

    pub(crate) fn at(&self) -> Point {
        self.at
    }
}

/// The one line, without a line break.
impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// An invalid anchor, or one of another key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadAnchor {
    /// It is something else.
    #[error("invalid anchor: {0}")]
    NotAnchor(String),
    /// It was changed, or made with another key.
    #[error("invalid seal: the anchor was changed or made with another key")]
    Seal,
    /// It was changed, or signed with another key.
    #[error("invalid signature: the anchor was changed or signed with another key")]
    Signature,
    /// Its file cannot be read.
    #[error("the anchor `{path}` cannot be read: {why}", path = .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

/// The largest file that is read, in bytes: far more than an anchor needs.
const MAX_FILE: u64 = 64 * 1024;

const LABEL: &[u8] = b"omen-gate audit log v1: anchor";
