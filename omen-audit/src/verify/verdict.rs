//! Verification verdicts.

use std::fmt;

use crate::anchor::Anchor;
use crate::chain::{ChainPosition, Flaw};
use crate::key::{Key, Mac};

/// Result of verifying a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// Verdict on the log.
    pub verdict: LogVerdict,
    /// Number of entries in the previous files, according to the first entry; 0 for the first file of a log.
    pub before: u64,
    /// Number of sound entries in the log, from its first file to here, without a gap. Entries in previous files are
    /// counted but were not verified with this file.
    pub entries: u64,
    /// Seal of the last sound entry; if there is none, a value that depends only on the key.
    pub last: Mac,
    /// Total size of the sound entries in this file, in bytes.
    pub bytes: u64,
}

impl Verification {
    /// Returns the anchor of the log if it is sound.
    ///
    /// # Errors
    /// The verdict if the log is not sound: an anchor must not vouch for an unsound log.
    pub fn anchor(&self, key: &Key) -> Result<Anchor, LogVerdict> {
        match self.verdict {
            LogVerdict::Sound => Anchor::new(self.point(), key).map_err(|_| self.verdict.clone()),
            _ => Err(self.verdict.clone()),
        }
    }

    pub(crate) fn point(&self) -> ChainPosition {
        ChainPosition { count: self.entries, last: self.last }
    }
}

/// Verdict on a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogVerdict {
    /// Every entry is unchanged and none is missing, as far as the head record and the anchor reach.
    Sound,
    /// The log has unacknowledged remains of a crash, or no entry yet. All acknowledged entries exist and are sound.
    /// Opening the log repairs it.
    Incomplete {
        /// Number of whole entries at the end that were not acknowledged: part of a group that was written together. They are kept.
        entries: u64,
        /// Number of bytes after them that are the start of a line, as far as can be determined. They are kept next to the log.
        bytes: u64,
    },
    /// Something was changed.
    Tampered(Tampering),
    /// Entries are missing at the end; the existing ones are sound.
    Truncated {
        /// Number of existing entries.
        have: u64,
        /// Minimum number of entries that existed.
        want: u64,
    },
}

impl LogVerdict {
    /// Returns the verdict as one word.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Sound => "sound",
            Self::Incomplete { .. } => "incomplete",
            Self::Tampered(_) => "tampered",
            Self::Truncated { .. } => "truncated",
        }
    }

    /// Returns the help for the verdict; `None` if the log is sound.
    #[must_use]
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::Sound => None,
            Self::Incomplete { .. } => {
                Some("a crash can cause this; all acknowledged entries are intact, and opening the log repairs it")
            }
            Self::Tampered(Tampering::Empty) => Some(
                "if the file was created by hand, remove it: the gate creates its own; otherwise its entries and its \
                 head record were removed: start a new log under another name",
            ),
            Self::Tampered(Tampering::Line { line: 1, flaw: Flaw::Mac, .. } | Tampering::HeadChanged) => {
                Some("check that the key is the right one; if it is, keep the files as evidence and start a new log")
            }
            Self::Tampered(_) | Self::Truncated { .. } => {
                Some("keep the files as evidence, and start a new log under another name")
            }
        }
    }
}

/// Writes the verdict as text, without the help.
impl fmt::Display for LogVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Sound => Ok(()),
            Self::Incomplete { entries: 0, bytes: 0 } => {
                f.write_str(": it has no entries yet, and its head record shows that none were acknowledged")
            }
            Self::Incomplete { entries, bytes: 0 } => write!(f, ": {} not acknowledged", Entries(*entries)),
            Self::Incomplete { entries: 0, bytes } => {
                write!(f, ": the last {bytes} bytes are the start of an entry, which was not acknowledged")
            }
            Self::Incomplete { entries, bytes } => {
                write!(f, ": {} not acknowledged, and {bytes} bytes are the start of another", Entries(*entries))
            }
            // Bytes after the last entry are not necessarily tampering: a disk may also leave them.
            Self::Tampered(tampering @ (Tampering::Empty | Tampering::Line { flaw: Flaw::NotStart { .. }, .. })) => {
                write!(f, " or damaged: {tampering}")
            }
            Self::Tampered(tampering) => write!(f, ": {tampering}"),
            Self::Truncated { have, want } => write!(f, ": {have} of at least {want} entries are present"),
        }
    }
}

/// Number of entries as text.
struct Entries(u64);

impl fmt::Display for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 1 {
            f.write_str("1 entry at the end was")
        } else {
            write!(f, "{} entries at the end were", self.0)
        }
    }
}

/// Evidence of tampering or of another key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Tampering {
    /// A line is not the expected entry.
    #[error("line {line}, at byte {offset}: {flaw}")]
    Line {
        /// Line, starting from 1. Entry `n` belongs on line `n`.
        line: u64,
        /// Offset of the line, in bytes from the start of the log.
        offset: u64,
        /// Flaw in the line.
        flaw: Flaw,
    },
    /// The log is empty. A head record is created before the log, so the head record was removed or the log was not
    /// created by a gate: the number of lost entries is unknown.
    #[error("the log is empty, and its head record, which is created first, is missing")]
    Empty,
    /// The head record is missing. It is created before the first entry is written, so it was removed: the number of
    /// lost entries is unknown.
    #[error("the log is not empty, but there is no head record")]
    HeadMissing,
    /// The head record was not sealed with this key.
    #[error("the head record was changed, or made with another key")]
    HeadChanged,
    /// The head record belongs to another log, or the log was rewritten.
    #[error("entry {0} does not match the head record")]
    HeadOther(u64),
    /// The head record is sound, but was replaced by an older one.
    #[error("the head record covers {named} entries, which is older than a crash could leave it")]
    HeadOld {
        /// Number of entries in the head record.
        named: u64,
    },
    /// The log continues in a missing file.
    #[error("file {0} of the log is missing: the previous file says that the log continues there")]
    FileMissing(u32),
    /// The next file does not continue this one.
    #[error("file {0} of the log exists, but the previous file does not end where file {0} continues it")]
    NotClosed(u32),
    /// The anchor was taken of a different log, or the log was rewritten with the key.
    #[error("entry {0} does not match the anchor")]
    AnchorOther(u64),
}
