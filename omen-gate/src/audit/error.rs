//! Why something is not recorded.

use std::io;
use std::path::PathBuf;

use super::flaw::Flaw;
use super::verdict::LogVerdict;
use crate::base::{Blocked, GateCode, NotExact};

/// Nothing was recorded. Whatever needs the record does not happen (A1).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// Another process, or another part of this one, has the log open.
    #[error("the log `{0}` is in use")]
    InUse(PathBuf),
    /// The log is not there, but its head record is: somebody has removed it.
    #[error("the log `{0}` is gone, but its head record is there")]
    Gone(PathBuf),
    /// A file of the log cannot be used.
    #[error("the log `{path}` cannot be used: {source}")]
    Io {
        /// The log.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The log cannot be read or written.
    #[error("the log cannot be read or written: {0}")]
    Store(#[from] io::Error),
    /// The log was tampered with, or cut. It is left as it is.
    #[error("the log is {0}")]
    NotSound(LogVerdict),
    /// An entry, or the head record, has no canonical text.
    #[error("the entry cannot be recorded: {0}")]
    NotCanonical(#[from] NotExact),
    /// An entry is too long.
    #[error("the entry has {bytes} bytes, and may have {limit}")]
    Long {
        /// Bytes of its line.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// An entry would not be read back as what it is.
    #[error("the entry cannot be recorded, for it would not be read back: {0}")]
    NotReadBack(Flaw),
    /// The clock shows a time that has no RFC 3339 text.
    #[error("the clock shows a time before 1970 or after 9999")]
    GateClock,
    /// An earlier entry may or may not have been written.
    #[error("an earlier entry could not be written, so the log is closed")]
    Broken,
}

impl AuditError {
    /// How to fix it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::InUse(_) => {
                "wait until whoever has it open has ended; to write meanwhile, use another log, and to look, a copy"
            }
            Self::Gone(_) => {
                "bring the log back, or keep the head record as evidence and begin a log under another name"
            }
            Self::Io { .. } | Self::Store(_) => "see that the files can be read and written and the disk has room",
            Self::NotSound(verdict) => verdict.help().unwrap_or_default(),
            Self::NotCanonical(NotExact::Number { .. }) => "give numbers beyond ±(2^53−1) as strings",
            Self::NotCanonical(_) | Self::NotReadBack(_) => "give what is nested or unusual as a string",
            Self::Long { .. } => "record a hash of what is long, or raise the limit of an entry",
            Self::GateClock => "set the clock right",
            Self::Broken => "open the log again; this repairs the partial write",
        }
    }
}

impl From<AuditError> for Blocked {
    fn from(error: AuditError) -> Self {
        Blocked::new(GateCode::A1, error.to_string(), error.help())
    }
}
