//! What a verification may find.

use std::fmt;

use super::flaw::Flaw;
use super::head::Point;
use super::{Anchor, Key, Mac};

/// What a log turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// The verdict.
    pub verdict: LogVerdict,
    /// Entries in the files before this one, as its first entry says; 0 for the first file of a log.
    pub before: u64,
    /// Entries of the log that are sound, from its first file to here, without a gap. Those before this file are counted,
    /// and were not verified with it.
    pub entries: u64,
    /// The seal of the last of them; of none, a value that depends on the key alone.
    pub last: Mac,
    /// Bytes that they take in this file.
    pub bytes: u64,
}

impl Verification {
    /// An anchor for the log, if it is sound.
    ///
    /// # Errors
    /// If it is not: what is not known to be right must not be vouched for.
    pub fn anchor(&self, key: &Key) -> Result<Anchor, LogVerdict> {
        match self.verdict {
            LogVerdict::Sound => Anchor::new(self.point(), key).map_err(|_| self.verdict.clone()),
            _ => Err(self.verdict.clone()),
        }
    }

    pub(crate) fn point(&self) -> Point {
        Point { count: self.entries, last: self.last }
    }
}

/// The four verdicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogVerdict {
    /// Every entry is as it was written, and none is missing, as far as the head record and the anchor reach.
    Sound,
    /// There is something that was never acknowledged, or no entry yet: what a crash leaves. All that was acknowledged is
    /// there and sound. Opening the log repairs it.
    Incomplete {
        /// Whole entries at the end that were not acknowledged: some of a group that was written together. They stay.
        entries: u64,
        /// Bytes after them that are the start of a line, as far as can be known. They are kept beside the log.
        bytes: u64,
    },
    /// Something is not as it was written.
    Tampered(Tampering),
    /// Entries are missing at the end; what is there is sound.
    Truncated {
        /// Entries that are there.
        have: u64,
        /// Entries that there were, at least.
        want: u64,
    },
}

impl LogVerdict {
    /// The verdict in one word.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Sound => "sound",
            Self::Incomplete { .. } => "incomplete",
            Self::Tampered(_) => "tampered",
            Self::Truncated { .. } => "truncated",
        }
    }

    /// What to do about it; nothing, if the log is sound.
    #[must_use]
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::Sound => None,
            Self::Incomplete { .. } => {
                Some("this is what a crash leaves; all acknowledged entries are intact, and opening the log repairs it")
            }
            Self::Tampered(Tampering::Empty) => Some(
                "if the file was made by hand, remove it: the gate makes its own; otherwise its entries and its head \
                 record were removed: start a new log under another name",
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

/// The verdict in words, without the help.
impl fmt::Display for LogVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Sound => Ok(()),
            Self::Incomplete { entries: 0, bytes: 0 } => {
                f.write_str(": it has no entry yet, and its head record names none")
            }
            Self::Incomplete { entries, bytes: 0 } => write!(f, ": {} not acknowledged", Entries(*entries)),
            Self::Incomplete { entries: 0, bytes } => {
                write!(f, ": the last {bytes} bytes are the start of an entry, which was not acknowledged")
            }
            Self::Incomplete { entries, bytes } => {
                write!(f, ": {} not acknowledged, and {bytes} bytes are the start of another", Entries(*entries))
            }
            // Bytes after the last entry need not be tampering: a disk may leave them, too.
            Self::Tampered(tampering @ (Tampering::Empty | Tampering::Line { flaw: Flaw::NotStart { .. }, .. })) => {
                write!(f, " or damaged: {tampering}")
            }
            Self::Tampered(tampering) => write!(f, ": {tampering}"),
            Self::Truncated { have, want } => write!(f, ": {have} of at least {want} entries are there"),
        }
    }
}

/// How many entries were something.
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

/// What shows that somebody has changed something, or that the key is another one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Tampering {
    /// A line is not the entry that belongs there.
    #[error("line {line}, at byte {offset}: {flaw}")]
    Line {
        /// The line, from 1. Entry `n` belongs in line `n`.
        line: u64,
        /// Where it begins, in bytes from the start of the log.
        offset: u64,
        /// What is wrong with it.
        flaw: Flaw,
    },
    /// There is a log with nothing in it. A head record is made before the log, so it was removed, or nothing of this is
    /// a gate's: how many entries there were is not known.
    #[error("the log is empty, and the head record that is made before a log is missing")]
    Empty,
    /// The record is made before the first entry is written, so somebody has removed it: how many entries there were
    /// is not known.
    #[error("the log is not empty, but there is no head record")]
    HeadMissing,
    /// The head record is not one that was sealed with this key.
    #[error("the head record was changed, or made with another key")]
    HeadChanged,
    /// The head record is of another log, or the log was written anew.
    #[error("entry {0} is not the one that the head record names")]
    HeadOther(u64),
    /// The head record is sound, but was replaced by an older one.
    #[error("the head record names {named} entries, which is older than a crash could leave it")]
    HeadOld {
        /// Entries that it names.
        named: u64,
    },
    /// The log goes on in a file that is not there.
    #[error("file {0} of the log is missing: the one before it says that the log continues there")]
    FileMissing(u32),
    /// A file is followed by another one, which is not the one that continues it.
    #[error("file {0} of the log is there, but the one before it does not end where file {0} continues it")]
    NotClosed(u32),
    /// The log is another one than when the anchor was taken, or was written anew with the key.
    #[error("entry {0} is not the one that the anchor names")]
    AnchorOther(u64),
}
