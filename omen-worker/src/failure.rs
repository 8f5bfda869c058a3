//! Why something did not succeed.

use std::fmt::Display;

/// Why something did not succeed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// Another process wrote first: it has the partition now, or published the same log.
    #[error("another process has written {0} since")]
    Fenced(String),
    /// The server did not answer, or answered with an error. What was asked for may have happened.
    #[error("cannot {what}: {why}")]
    Server {
        /// What was asked for.
        what: String,
        /// Its error.
        why: String,
    },
    /// What the server has does not fit what is asked for. Trying again does not help.
    #[error("{0}")]
    Refused(String),
    /// What this program was given cannot be used: a name, an address, a file of credentials.
    #[error("{0}")]
    Input(String),
    /// A log could not be read to its end.
    #[error("{0}")]
    Log(String),
}

impl Failure {
    /// The server failed to do something.
    pub(crate) fn server(what: impl Into<String>) -> impl FnOnce(&dyn Display) -> Self {
        let what = what.into();
        move |why| Self::Server { what, why: why.to_string() }
    }
}

/// `Err(error)` of the client, as a failure to do something.
pub(crate) trait During<T> {
    /// Names what was asked for.
    fn during(self, what: &str) -> Result<T, Failure>;
}

impl<T, E: Display> During<T> for Result<T, E> {
    fn during(self, what: &str) -> Result<T, Failure> {
        self.map_err(|error| Failure::server(what)(&error))
    }
}
