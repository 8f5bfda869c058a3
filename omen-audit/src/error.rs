//! Log errors.

use std::io;
use std::path::PathBuf;

use crate::anchor::BadAnchor;
use crate::chain::Flaw;
use crate::verify::LogVerdict;
use omen_base::NotExact;

/// Error appending to or opening a log: nothing was recorded. Actions that require the record must not happen (A1).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The log is open in another process or another part of this one.
    #[error("the log `{0}` is in use")]
    InUse(PathBuf),
    /// The log is missing but its head record exists, so the log was removed.
    #[error("the log `{0}` is missing, but its head record exists")]
    Gone(PathBuf),
    /// The first file of the log is missing, but a later one exists.
    #[error("the log `{log}` is missing, but `{later}`, which continues it, exists")]
    Headless {
        /// First file of the log.
        log: PathBuf,
        /// File that continues the log.
        later: PathBuf,
    },
    /// A file of the log is unusable.
    #[error("the log `{path}` cannot be used: {source}")]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Cause of the failure.
        source: io::Error,
    },
    /// The log cannot be read or written.
    #[error("the log cannot be read or written: {0}")]
    Store(#[from] io::Error),
    /// A file of the log was removed, moved or replaced while the log was in use.
    #[error("`{0}` was removed, moved or replaced while the log was in use")]
    Misplaced(PathBuf),
    /// The log was tampered with or truncated. It is left unchanged.
    #[error("the log is {0}")]
    NotSound(LogVerdict),
    /// The anchor that the log must contain cannot be used.
    #[error("{0}")]
    Required(#[from] BadAnchor),
    /// An entry or the head record has no canonical text.
    #[error("the entry cannot be recorded: {0}")]
    NotCanonical(#[from] NotExact),
    /// An entry is too long.
    #[error("the entry exceeds {limit} bytes ({bytes} bytes)")]
    Long {
        /// Length of its line in bytes.
        bytes: usize,
        /// Limit in bytes.
        limit: usize,
    },
    /// An entry would not be read back unchanged.
    #[error("the entry cannot be recorded, because it could not be read back: {0}")]
    NotReadBack(Flaw),
    /// The clock shows a time that cannot be written in RFC 3339.
    #[error("the clock shows a time before 1970 or after 9999")]
    Clock,
    /// No call in doubt in the log has an intent with this number.
    #[error("entry {0} is not the intent of a call in doubt")]
    NotInDoubt(u64),
    /// The queue has reached its limit of this many entries.
    #[error("{0} entries are waiting to be recorded")]
    Full(usize),
    /// Recording was interrupted.
    #[error("recording was interrupted, so it is unknown whether the entry was recorded")]
    Interrupted,
    /// An earlier entry may or may not have been written.
    #[error("an earlier entry could not be written, so the log is closed")]
    Broken,
}

impl AuditError {
    /// Returns the same error for another entry in the group.
    pub(super) fn again(&self) -> Self {
        match self {
            Self::Store(error) => Self::Store(io::Error::new(error.kind(), error.to_string())),
            Self::NotSound(verdict) => Self::NotSound(verdict.clone()),
            Self::Misplaced(path) => Self::Misplaced(path.clone()),
            _ => Self::Broken,
        }
    }

    /// Returns the help for the error.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::InUse(_) => "wait for the other process to finish; until then, write to another log, or read a copy",
            Self::Headless { .. } => {
                "restore the first file, or keep the others as evidence and start a log under another name"
            }
            Self::Gone(_) => "restore the log, or keep the head record as evidence and start a log under another name",
            Self::Io { .. } | Self::Store(_) => {
                "check that the files are readable and writable and that the disk has space"
            }
            Self::Misplaced(_) => {
                "stop the gate; keep all files of that name as evidence, restore the log, and start the gate again"
            }
            Self::NotSound(verdict) => verdict.help().unwrap_or_default(),
            Self::Required(_) => {
                "specify the file with the latest anchor of this log, as printed by `omen audit export-anchor`"
            }
            Self::NotCanonical(NotExact::Number { .. }) => "write numbers beyond ±(2^53−1) as strings",
            Self::NotCanonical(_) | Self::NotReadBack(_) => "write nested or unusual values as strings",
            Self::Long { .. } => "record a hash of the long value, or raise the size limit for entries",
            Self::Clock => "correct the clock",
            Self::NotInDoubt(_) => "list the calls in doubt: `omen audit show --in-doubt`",
            Self::Full(_) => "check the disk of the audit log, and try again later",
            Self::Interrupted => "open the log again, and check its last entries",
            Self::Broken => "open the log again; this repairs the partial write",
        }
    }
}
