//! End of a run: exit codes, and messages on standard error.

use std::fmt;
use std::io::{self, Write as _};
use std::process::ExitCode;

use omen_gate::audit::AuditError;

use crate::logs;
use crate::output::FileError;

/// Result of a run that has written all its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// No error was found.
    Clean,
    /// At least one error was found.
    ErrorsFound,
    /// An input could not be read; the others were checked. The reason is on standard error.
    Unreadable,
    /// A hook was answered; the exit code is part of the answer.
    Answered(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Clean => ExitCode::SUCCESS,
            Exit::ErrorsFound => ExitCode::from(ERRORS_FOUND),
            Exit::Unreadable => ExitCode::from(FAILED),
            Exit::Answered(code) => ExitCode::from(code),
        }
    }
}

/// Reason why a run ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Usage error: the caller must change the arguments.
    Usage(String),
    /// The reader of standard output has closed it, as `head` does. Not reported.
    Closed,
    /// Standard output cannot be written, for example because the disk is full.
    Output(io::Error),
    /// A report file cannot be written.
    File(io::Error),
    /// A bug in this program.
    Internal(String),
    /// An input cannot be read or a file cannot be written. [`unreadable`] has already reported it.
    Unreadable,
}

impl Failure {
    /// Reports the failure on standard error, and returns its exit code.
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            Failure::Closed | Failure::Unreadable => {}
            failure => complain(failure),
        }
        match self {
            Failure::Usage(_) => usage(),
            _ => ExitCode::from(FAILED),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(what) => f.write_str(what),
            Failure::Closed => f.write_str("standard output is closed"),
            Failure::Unreadable => f.write_str("an input cannot be read"),
            Failure::File(error) => error.fmt(f),
            Failure::Output(error) => write!(f, "cannot write to stdout: {error}"),
            Failure::Internal(what) => write!(f, "internal error: {what}"),
        }
    }
}

impl From<AuditError> for Failure {
    fn from(error: AuditError) -> Self {
        unreadable(format_args!("{error}; {}", error.help()))
    }
}

/// A bare I/O error always comes from standard output: errors of inputs name their file, and are reported where they occur.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.get_ref().is_some_and(|inner| inner.is::<FileError>()) {
            Failure::File(error)
        } else if error.kind() == io::ErrorKind::BrokenPipe {
            Failure::Closed
        } else {
            Failure::Output(error)
        }
    }
}

pub(crate) fn usage() -> ExitCode {
    ExitCode::from(USAGE)
}

/// Reports an input or file that cannot be read or written.
pub(crate) fn unreadable(what: impl fmt::Display) -> Failure {
    complain(what);
    Failure::Unreadable
}

/// Writes one line to standard error, or a log event if logs are in JSON.
pub(crate) fn complain(what: impl fmt::Display) {
    if logs::is_json() {
        tracing::error!("{what}");
        return;
    }
    // If standard error fails too, only the exit code is left.
    let _ = writeln!(io::stderr(), "omen: {what}");
}

const ERRORS_FOUND: u8 = 1;
const USAGE: u8 = 2;
const FAILED: u8 = 3;
