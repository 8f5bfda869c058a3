//! Why a log is not fixed.

use std::io;

/// Why a log is not fixed.
pub(super) enum Failed {
    /// It cannot be read.
    Read(io::Error),
    /// It has a form that is not written.
    Refused(&'static str),
    /// Standard output or the file cannot be written.
    Write(io::Error),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}
