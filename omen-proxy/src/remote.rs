//! Streamable HTTP towards a server: the proxy as a client of a server that is reached at an address.
//!
//! To the session behind it, such a server is one like any other: messages go to it and come from it. What differs is that it
//! is known to which request an answer belongs, so that what goes wrong with one request is the fault of that request alone.
//! Up to 2025-11-25 a handshake begins a session at the server, which has an end; since 2026-07-28 each request stands for
//! itself. Which of the two a request is, it says itself; nothing is translated.
//!
//! Architecture invariant: a request is sent once. Only what has provably not left this machine counts as not sent: a
//! connection that was not made. Every other failure leaves in doubt whether a tool ran.
//! Architecture invariant: the values of headers stand in no message, log or error, and redirects are not followed.

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

/// A server that is reached over HTTP. Clones share connections.
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
    /// If a variable is missing, or what is needed for an encrypted connection.
    pub fn new(endpoint: &Endpoint, server: ServerLimits, limits: RemoteLimits) -> Result<Self, BadRemote> {
        let client = Client::new(endpoint, &limits)?;
        let room = Room::new(limits.buffered.max(2 * server.line_bytes));
        Ok(Self(Arc::new(Inner { client, server, limits, room })))
    }

    /// The same with the limits of a configuration.
    ///
    /// # Errors
    /// As [`new`](Self::new).
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
