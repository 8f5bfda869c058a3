//! Streamable HTTP towards a server: the proxy as a client of a server at an address.
//!
//! To the session behind it, such a server is like any other: messages go to it and come from it. The difference is that the
//! request of each answer is known, so an error in one request is the fault of that request alone. Up to 2025-11-25, a
//! handshake begins a session at the server, which has an end; since 2026-07-28, each request is independent. Each request
//! itself says which of the two it is; nothing is translated.
//!
//! Architecture invariant: a request is sent once. It counts as not sent only if it has provably not left this machine,
//! i.e. no connection was made. After every other failure, it is unknown whether a tool ran.
//! Architecture invariant: no message, log or error contains the values of headers, and redirects are not followed.

mod body;
mod client;
mod error;
mod exchange;
mod inner;
mod legacy;
mod limits;
mod link;
mod room;
mod run;
mod secrets;
mod sse;
mod status;
#[cfg(feature = "https")]
mod tls;

use std::fmt;
use std::sync::Arc;

use omen_gate::config::{Endpoint, Limits};
use omen_gate::mcp::ServerLimits;

pub use error::BadRemote;
pub use limits::RemoteLimits;

use self::client::Client;
use self::inner::Inner;
use self::room::Room;
use crate::server::Connection;

/// Server reached over HTTP. Clones share connections.
#[derive(Clone)]
pub struct Remote(Arc<Inner>);

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("address", &self.0.client.address()).finish_non_exhaustive()
    }
}

impl Remote {
    /// Prepares to reach a server, and takes the values of its headers from the environment. No connection is made yet.
    ///
    /// # Errors
    /// If a variable is missing, or anything needed for an encrypted connection.
    pub fn new(endpoint: &Endpoint, server: ServerLimits, limits: RemoteLimits) -> Result<Self, BadRemote> {
        let client = Client::new(endpoint, &limits)?;
        let room = Room::new(limits.buffered.max(2 * server.line_bytes));
        Ok(Self(Arc::new(Inner { client, server, limits, room })))
    }

    /// Same as [`new`](Self::new), with the limits of a configuration.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn configured(endpoint: &Endpoint, limits: &Limits) -> Result<Self, BadRemote> {
        Self::new(endpoint, ServerLimits::from(limits), RemoteLimits::configured(limits))
    }

    pub(crate) fn server_limits(&self) -> &ServerLimits {
        &self.0.server
    }

    /// Begins a session. Nothing is sent before the first message.
    pub(crate) fn connect(&self) -> Connection {
        run::connect(Arc::clone(&self.0))
    }
}
