//! A1: the chain of entries. The MAC of each entry is computed over the previous MAC and the entry's canonical bytes.

pub(crate) mod entry;
pub(crate) mod head;
pub(crate) mod line;
pub(crate) mod rotation_link;

use omen_types::limits::MAX_LINE_BYTES;

use crate::key::{Key, Mac};

/// Position in the chain, after an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChainPosition {
    /// Number of entries up to this position.
    pub(crate) count: u64,
    /// Seal of the last entry.
    pub(crate) last: Mac,
}

impl ChainPosition {
    /// Returns the start of the chain, before the first entry.
    pub(crate) fn genesis(key: &Key) -> Self {
        Self { count: 0, last: key.seal(&[b"omen-gate audit log v1: genesis"]) }
    }
}

/// Flaw in a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Flaw {
    /// The line exceeds the entry size limit.
    #[error("it is longer than {MAX_LINE_BYTES} bytes")]
    Long,
    /// The line is not an entry. Holds the reason, truncated to 200 characters.
    #[error("invalid entry: {0}")]
    NotEntry(String),
    /// The entry belongs at a different position.
    #[error("expected entry {expected}, found entry {found}")]
    Sequence {
        /// Expected number.
        expected: u64,
        /// Actual number.
        found: u64,
    },
    /// The seal does not match the content, the preceding entries, or the key.
    #[error("invalid seal")]
    Mac,
    /// The last line has no line break and is not the start of an entry, which is all that a crash can leave.
    #[error("it has no line break, and is not the start of an entry: expected {expected} after {at} bytes")]
    NotStart {
        /// Length of the valid start in bytes.
        at: u64,
        /// Valid continuations.
        expected: String,
    },
    /// The line is not the canonical text of its content.
    #[error("its spelling is not canonical (RFC 8785)")]
    Form,
}

impl Flaw {
    /// Creates a flaw from a parser error. The error may quote the line, so it is truncated. The parser calls each line
    /// line 1, so the line number is dropped.
    pub(crate) fn not_entry(why: impl ToString) -> Self {
        let why = why.to_string().replace(" at line 1 column ", " at column ");
        Self::NotEntry(why.chars().take(200).collect())
    }
}
