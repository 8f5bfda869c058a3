//! How a connection to a server, and a session, ends.

use omen_gate::order::SessionEnd;
use omen_gate::{Blocked, Fault};

/// Reason why the connection to the server ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionEnd {
    /// The server ended or closed its output.
    Closed(String),
    /// The server sent a message larger than this number of bytes.
    Oversized(u64),
    /// The server violated the protocol.
    Malformed(String),
    /// The server did not answer the handshake within this number of seconds.
    Silent(u64),
    /// The proxy stopped the server.
    Stopped,
}

impl ConnectionEnd {
    /// Returns the fault for a request that was open: the tool may have run.
    pub(crate) fn during(&self) -> Fault {
        match self {
            Self::Closed(why) => Fault::died(why),
            Self::Oversized(limit) => Fault::Oversized { limit: *limit },
            Self::Malformed(why) => Fault::malformed(why),
            Self::Silent(_) => Fault::died(&self.to_string()),
            Self::Stopped => Fault::died("it was stopped"),
        }
    }

    /// Returns the fault for a request that could no longer be sent.
    pub(crate) fn before(&self) -> Fault {
        Fault::unreachable(&self.to_string())
    }
}

impl std::fmt::Display for ConnectionEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Closed(how) => f.write_str(how),
            Self::Oversized(limit) => write!(f, "it sent a message larger than {limit} bytes"),
            Self::Malformed(why) => write!(f, "it sent an invalid message: {why}"),
            Self::Silent(seconds) => {
                write!(f, "it did not answer `initialize` within {seconds} s (`list_timeout_seconds` in `[limits]`)")
            }
            Self::Stopped => f.write_str("it was stopped"),
        }
    }
}

/// Reason why a session ended. By then, the audit log contains all its entries, and no part of the server is running.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Ended {
    /// The client closed its end.
    #[error("the client closed the session")]
    Client,
    /// The client sent a message that is too large, or its end cannot be read.
    #[error("cannot read from the client: {0}")]
    BadClient(String),
    /// The server ended or closed its output.
    #[error("the server ended: {0}")]
    Server(String),
    /// The server violated the protocol and was killed.
    #[error("the server was stopped: {0}")]
    BadServer(String),
    /// The server did not answer the handshake in time, and was stopped.
    #[error("the server was stopped: {0}")]
    SilentServer(String),
    /// The session was asked to stop.
    #[error("the proxy was asked to stop")]
    Asked,
    /// The end of the session could not be recorded (A1).
    #[error(transparent)]
    Unrecorded(Blocked),
}

impl Ended {
    /// Returns a description without anything that the server has written.
    #[must_use]
    pub fn unquoted(&self) -> String {
        match self {
            Self::BadServer(_) => "the server was stopped: it broke the protocol".to_owned(),
            Self::Unrecorded(why) => format!("{}: {}", why.code, why.unquoted()),
            Self::Client | Self::BadClient(_) | Self::Server(_) | Self::SilentServer(_) | Self::Asked => {
                self.to_string()
            }
        }
    }

    /// Returns the reason as the order rules record it.
    pub(crate) fn of_session(&self) -> SessionEnd {
        match self {
            Self::Server(_) | Self::BadServer(_) | Self::SilentServer(_) => SessionEnd::Server,
            Self::Client | Self::BadClient(_) | Self::Asked | Self::Unrecorded(_) => SessionEnd::Closed,
        }
    }
}

impl From<ConnectionEnd> for Ended {
    fn from(lost: ConnectionEnd) -> Self {
        match lost {
            ConnectionEnd::Closed(how) => Self::Server(how),
            ConnectionEnd::Oversized(_) | ConnectionEnd::Malformed(_) => Self::BadServer(lost.to_string()),
            ConnectionEnd::Silent(_) => Self::SilentServer(lost.to_string()),
            ConnectionEnd::Stopped => Self::Asked,
        }
    }
}
