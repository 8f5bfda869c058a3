//! Flaws in a line of the log.

use omen_types::limits::MAX_LINE_BYTES;

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
    pub(super) fn not_entry(why: impl ToString) -> Self {
        let why = why.to_string().replace(" at line 1 column ", " at column ");
        Self::NotEntry(why.chars().take(200).collect())
    }
}
