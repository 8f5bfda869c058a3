//! Reasons why a server cannot be reached over HTTP from here, and why a request got no answer.

use std::path::PathBuf;
use std::time::Duration;

use hyper::StatusCode;

/// Reason why a request got no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// No answer arrived within this time.
    #[error("no answer within {0:?}")]
    Timeout(Duration),
    /// The client has cancelled the request.
    #[error("the call was cancelled")]
    Cancelled,
    /// The request was not sent.
    #[error("the server cannot be reached: {0}")]
    NotSent(String),
    /// The connection broke, or the server failed. Whether it has processed the request is unknown.
    #[error("the server died during the call: {0}")]
    Died(String),
    /// The answer violates the protocol.
    #[error("the answer is malformed: {0}")]
    Malformed(String),
    /// The server answered with this status of HTTP, which is not that of an answer.
    #[error("the server refused the call ({0}): {1}")]
    Refused(u16, String),
}

impl RequestError {
    /// Returns the error of a request that was answered with a status other than that of an answer. The answer shows that the
    /// request has reached the server, but only the server's word would show that no tool ran, so it is unknown whether one did.
    pub(super) fn of_status(status: StatusCode) -> Self {
        let reason = status.canonical_reason().map(|reason| format!(" {reason}")).unwrap_or_default();
        let code = status.as_u16();
        let help = match code {
            300..=399 => "; redirects are not followed: use the address that it leads to",
            401 | 403 => "; check the headers that are configured for the server",
            404 | 405 => "; check the URL that is configured for the server",
            429 => "; call less often",
            _ => "",
        };
        let text = format!("HTTP {code}{reason}{help}");
        if status.is_server_error() { Self::Died(text) } else { Self::Refused(code, text) }
    }
}

/// Reason why a server cannot be reached over HTTP from here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadRemote {
    /// A variable for a header is not set.
    #[error("the variable `{0}` for the header `{1}` is not set in the environment")]
    NoVariable(String, String),
    /// The value of a variable cannot be sent in a header. The value is not shown.
    #[error(
        "the variable `{0}` for the header `{1}` has a value that a header cannot hold; remove line breaks and characters that are not ASCII"
    )]
    BadVariable(String, String),
    /// The address cannot be used in a request.
    #[error("the URL cannot be used in a request: {0}")]
    Address(String),
    /// The certificates in a file cannot be read.
    #[error("cannot read the certificates in `{0}`: {1}")]
    Certificates(PathBuf, String),
    /// The system has no certificates.
    #[error("this system has no trusted certificates{0}; specify a file with the certificates to trust")]
    NoCertificates(String),
    /// The encryption library does not work here.
    #[error("no encryption: {0}")]
    Tls(String),
    /// The program was built without encryption, which this address needs.
    #[error("this program was built without the feature `https`, so it cannot reach `{0}`")]
    NotBuilt(String),
}
