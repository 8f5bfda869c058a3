//! Reasons why nothing was served or a proxy cannot be created.

use omen_gate::audit::AuditError;
use omen_gate::{BuildError, Fault, ServerName};

pub use crate::client::BadServers;
pub use crate::messages::UnknownPassage;

use omen_mcp::http::server::BadAccess;

/// Reason why nothing was served. Nothing was called.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotServed {
    /// Others could use the proxy.
    #[error(transparent)]
    Access(#[from] BadAccess),
    /// The address cannot be used.
    #[error("cannot listen: {0}")]
    Address(std::io::Error),
    /// Episodes can be written for a single session only, but there are several.
    #[error("C1: episodes can be written for one session only; serve it on the standard streams")]
    Episodes,
    /// A tool that may be called has the name of a tool of the episode.
    #[error("C1: {0}; rename it, or start the proxy with `--episode observe`")]
    Taken(String),
    /// An order rule concerns the calls of a turn, but each call is a turn.
    #[error("C1: `{0}` has `per = \"turn\"`, but behind the proxy each call is a separate turn")]
    Turns(String),
    /// The gate cannot be built.
    #[error(transparent)]
    Gate(#[from] BuildError),
    /// The server cannot be started.
    #[error("R3: the server `{server}` cannot be started: {fault}")]
    Server {
        /// Name of the server.
        server: ServerName,
        /// Fault of the server.
        fault: Fault,
    },
}

impl NotServed {
    /// Returns the help: how to fix the error; empty if the message says it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Gate(BuildError::Audit(AuditError::InUse(_))) => IN_USE.to_owned(),
            Self::Gate(error) => error.help(),
            Self::Server { .. } => "check that its command runs on its own, or that its address is correct".to_owned(),
            Self::Turns(_) => "write `per = \"session\"`, or set `user_turn` in `[budget]`".to_owned(),
            Self::Access(_) | Self::Address(_) | Self::Episodes | Self::Taken(_) => String::new(),
        }
    }
}

/// A log has a single writer. The usual reason is a client that starts a separate proxy for each session or window.
const IN_USE: &str = "another proxy runs with this configuration: end the client that started it, give each client a \
                      configuration with its own log, or have all of them share one proxy with `--listen`";
