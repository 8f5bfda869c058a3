//! Streamable HTTP towards a server: a client of a server at an address.
//!
//! Messages are exchanged with such a server as with any other. The difference is that the request of each answer is known, so an
//! error in one request affects that request alone. Up to 2025-11-25, a handshake begins a session at the server, which has an
//! end; since 2026-07-28, each request is independent. Each request itself states which of the two applies; nothing is
//! translated.
//!
//! Architecture invariant: a request is sent once. It counts as not sent only if it has provably not left this machine,
//! i.e. no connection was made. After every other failure, it is unknown whether a tool ran.
//! Architecture invariant: no message, log or error contains the values of headers, and redirects are not followed.

mod body;
mod error;
mod exchange;
mod extra_headers;
mod legacy;
mod limits;
mod run;
mod sender;
mod session;
mod sse;
#[cfg(feature = "https")]
mod tls;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use tokio::io::DuplexStream;
use tokio::sync::mpsc;

pub use error::{BadRemote, RequestError};
pub use extra_headers::SentHeaders;
pub use limits::RemoteLimits;
pub use session::ServerEvent;

use self::sender::{Sender, address};
use self::session::RemoteParts;
use crate::http::memory_limit::Room;
use crate::limits::ServerLimits;

/// Server reached over HTTP. Clones share connections.
#[derive(Clone)]
pub struct Remote(Arc<RemoteParts>);

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("address", &address(&self.0.sender.uri)).finish_non_exhaustive()
    }
}

impl Remote {
    /// Prepares to reach a server at a URL. An encrypted connection trusts the certificates in `ca_file` (PEM), or those of the
    /// system. No connection is made yet.
    ///
    /// # Errors
    /// If the URL cannot be used, or anything needed for an encrypted connection is missing.
    pub fn new(
        url: &str,
        ca_file: Option<&Path>,
        headers: SentHeaders,
        server: ServerLimits,
        limits: RemoteLimits,
    ) -> Result<Self, BadRemote> {
        let sender = Sender::new(url, ca_file, headers, &limits)?;
        let room = Room::new(limits.buffered.max(2 * server.line_bytes));
        Ok(Self(Arc::new(RemoteParts { sender, server, limits, room })))
    }

    /// Begins a session. Returns a stream for the messages to the server, as lines, and the server's output. Closing the stream
    /// ends the session. Nothing is sent before the first message. Must be called within a tokio runtime with time and I/O enabled.
    pub fn connect(&self) -> (DuplexStream, mpsc::Receiver<ServerEvent>) {
        run::connect(Arc::clone(&self.0))
    }
}
