//! Errors of workers, publishers and readers of findings.

use std::fmt::Display;

/// Error of an operation against the server or on its inputs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// Another process wrote first: it owns the partition now, or it published the same log.
    #[error("another process has written {0} since")]
    Fenced(String),
    /// The server did not respond, or responded with an error. The operation may have been carried out all the same.
    #[error("cannot {what}: {why}")]
    Server {
        /// The operation that failed.
        what: String,
        /// The error that the server or the client reported.
        why: String,
    },
    /// The state of the server does not match the request. Retrying does not help.
    #[error("{0}")]
    Refused(String),
    /// An argument is invalid: a name, an address, a file of credentials.
    #[error("{0}")]
    Input(String),
    /// A log could not be read to its end.
    #[error("{0}")]
    Log(String),
}

impl Failure {
    /// Returns a constructor for the failure of an operation on the server.
    pub(crate) fn server(what: impl Into<String>) -> impl FnOnce(&dyn Display) -> Self {
        let what = what.into();
        move |why| Self::Server { what, why: why.to_string() }
    }
}

/// Conversion of a client's error into a [`Failure`] that names the operation.
pub(crate) trait During<T> {
    /// Adds the name of the operation to an error.
    fn during(self, what: &str) -> Result<T, Failure>;
}

impl<T, E: Display> During<T> for Result<T, E> {
    fn during(self, what: &str) -> Result<T, Failure> {
        self.map_err(|error| Failure::server(what)(&error))
    }
}
