//! Errors of fixing a log.

use std::io;

/// The reason why a log is not fixed.
pub(super) enum Failed {
    /// The log cannot be read.
    Read(io::Error),
    /// The log has a format that is not written.
    Refused(&'static str),
    /// Standard output or the file cannot be written.
    Write(io::Error),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}
