//! Why a server cannot be reached over HTTP from here.

use std::path::PathBuf;

/// Why a server cannot be reached over HTTP from here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadRemote {
    /// A header has no value.
    #[error("the variable `{variable}` for the header `{header}` is not set; set it where the proxy is started")]
    NoVariable {
        /// The variable.
        variable: String,
        /// The header.
        header: String,
    },
    /// A value cannot stand in a header. It is not shown.
    #[error(
        "the variable `{variable}` for the header `{header}` has a value that a header cannot hold; remove line breaks and characters that are not ASCII"
    )]
    BadVariable {
        /// The variable.
        variable: String,
        /// The header.
        header: String,
    },
    /// The address cannot stand in a request.
    #[error("the URL cannot be used in a request: {why}")]
    Address {
        /// Why.
        why: String,
    },
    /// Certificates that cannot be read.
    #[error("cannot read the certificates in `{path}`: {why}")]
    Certificates {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The system has no certificates.
    #[error("this system has no trusted certificates{why}; name a file with --tls-ca")]
    NoCertificates {
        /// What the system says.
        why: String,
    },
    /// The library for encryption does not work here.
    #[error("no encryption: {why}")]
    Tls {
        /// Why.
        why: String,
    },
    /// The program was built without encryption.
    #[error("this program was built without the feature `https`, so it cannot reach `{address}`")]
    NotBuilt {
        /// The address.
        address: String,
    },
}
