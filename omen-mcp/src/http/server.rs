//! Streamable HTTP towards clients: a server that several clients reach at one address.
//!
//! Up to 2025-11-25, a client begins a session with `initialize`, and names it in each further request. Since 2026-07-28 there are
//! no sessions: each request states what a handshake would. These requests share one session, under ids of the server's own. The
//! program behind the server sees each session as a pair of channels ([`SessionChannels`]), as if it had one client.
//!
//! This module checks who may use the server ([`Access`]), whether headers and body agree, and all sizes and numbers
//! ([`HttpLimits`]).
//!
//! Architecture invariant: no message is deserialized and serialized again.

mod access;
mod body;
mod connection_limit;
mod endpoint;
mod headers;
mod limits;
mod listener;
mod posts;
mod reading;
mod refusal;
mod rewrite;
mod session;
mod sessions;
mod sse;
mod streams;
mod token;

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tracing::Instrument as _;

pub use access::{Access, BadAccess};
pub use endpoint::PATH;
pub use limits::HttpLimits;
pub use posts::{LoopbackPosts, Unanswered};
pub use sessions::SessionChannels;
pub use token::{Token, TokenError};

use self::endpoint::Endpoint;
use self::reading::Reading;
use self::sessions::{ServedSession, Sessions};
use crate::limits::ServerLimits;

/// Time that connections may take to end once their sessions have.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Server at an address, and who may use it.
#[derive(Debug)]
pub struct HttpServer {
    /// Listener at the address.
    pub listener: TcpListener,
    /// Clients that may use the server.
    pub access: Access,
    /// Limits on clients.
    pub limits: HttpLimits,
}

impl HttpServer {
    /// Serves sessions until asked to stop, and returns once all have ended. `begin` serves each session, and returns a
    /// description of how it ended, or the reason why it cannot begin. Messages have at most the length that `server` allows.
    pub async fn serve<F: Future<Output = String> + Send + 'static>(
        self,
        server: &ServerLimits,
        begin: impl Fn(SessionChannels) -> Result<F, String> + Send + Sync + 'static,
        until: impl Future<Output = ()> + Send,
    ) {
        let Self { listener, access, limits } = self;
        let begin = Box::new(move |channels| -> Result<ServedSession, String> { Ok(Box::pin(begin(channels)?)) });
        let sessions = Sessions::new(begin, limits, server.unread_bytes);
        let mut helpers = JoinSet::new();
        helpers.spawn(Arc::clone(&sessions).end_idle().in_current_span());
        let endpoint = Arc::new(Endpoint {
            access,
            limits,
            reading: Reading::new(server.line_bytes, limits.body, limits.bodies),
            start: server.start,
            sessions: Arc::clone(&sessions),
        });
        let stopping = watch::Sender::new(false);
        let mut connections = listener::accept(listener, &endpoint, &stopping, until).await;
        sessions.stop().await;
        stopping.send_replace(true);
        let _ = timeout(LAST_WORDS, async { while connections.join_next().await.is_some() {} }).await;
        connections.shutdown().await;
        helpers.shutdown().await;
    }
}
