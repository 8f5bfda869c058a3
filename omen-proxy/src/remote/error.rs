//! Reasons why a server cannot be reached over HTTP from here.

use std::path::PathBuf;

/// Reason why a server cannot be reached over HTTP from here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadRemote {
    /// A header has no value.
    #[error("the variable `{variable}` for the header `{header}` is not set; set it in the environment of the proxy")]
    NoVariable {
        /// Name of the variable.
        variable: String,
        /// Name of the header.
        header: String,
    },
    /// The value of a variable cannot be sent in a header. The value is not shown.
    #[error(
        "the variable `{variable}` for the header `{header}` has a value that a header cannot hold; remove line breaks and characters that are not ASCII"
    )]
    BadVariable {
        /// Name of the variable.
        variable: String,
        /// Name of the header.
        header: String,
    },
    /// The address cannot be used in a request.
    #[error("the URL cannot be used in a request: {why}")]
    Address {
        /// Description of the error.
        why: String,
    },
    /// The certificates cannot be read.
    #[error("cannot read the certificates in `{path}`: {why}")]
    Certificates {
        /// Path of the file.
        path: PathBuf,
        /// Description of the error.
        why: String,
    },
    /// The system has no certificates.
    #[error("this system has no trusted certificates{why}; specify a file with --tls-ca")]
    NoCertificates {
        /// Message from the system.
        why: String,
    },
    /// The encryption library does not work here.
    #[error("no encryption: {why}")]
    Tls {
        /// Description of the error.
        why: String,
    },
    /// The program was built without encryption.
    #[error("this program was built without the feature `https`, so it cannot reach `{address}`")]
    NotBuilt {
        /// Address of the server.
        address: String,
    },
}
