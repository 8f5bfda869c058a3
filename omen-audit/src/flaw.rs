//! What can be wrong with a line of the log.

use omen_types::limits::MAX_LINE_BYTES;

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Flaw {
    /// It is longer than any entry may be.
    #[error("it is longer than {MAX_LINE_BYTES} bytes")]
    Long,
    /// It is not an entry: why, cut to 200 characters.
    #[error("invalid entry: {0}")]
    NotEntry(String),
    /// It is an entry that belongs elsewhere.
    #[error("expected entry {expected}, found entry {found}")]
    Sequence {
        /// The number that belongs here.
        expected: u64,
        /// The number that it has.
        found: u64,
    },
    /// Its seal does not fit its content, what stands before it, or the key.
    #[error("invalid seal")]
    Mac,
    /// It is the end of the log, has no line break, and is not the start of an entry either, which is all that a crash
    /// leaves there.
    #[error("it has no line break, and is not the start of an entry: expected {expected} after {at} bytes")]
    NotStart {
        /// How many of its bytes could be the start of an entry.
        at: u64,
        /// What could stand there instead.
        expected: String,
    },
    /// It says what was sealed in other bytes than were written.
    #[error("its spelling is not canonical (RFC 8785)")]
    Form,
}

impl Flaw {
    /// The reason may repeat what stands in the line, so it is cut. To the parser, each line is the first.
    pub(super) fn not_entry(why: impl ToString) -> Self {
        let why = why.to_string().replace(" at line 1 column ", " at column ");
        Self::NotEntry(why.chars().take(200).collect())
    }
}
