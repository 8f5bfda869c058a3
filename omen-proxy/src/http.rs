//! Streamable HTTP towards clients: the proxy as a server that several clients reach at one address.
//!
//! Up to 2025-11-25, a client begins a session with `initialize`, and names it in each further request. Each such session is a
//! session of the proxy, with a separate server. Since 2026-07-28 there are no sessions: each request states what a handshake
//! would. These requests share one session of the proxy and one server, under the proxy's own ids. All sessions share one gate
//! and one audit log: anything used up by one session is used up for all.
//!
//! HTTP itself is handled by hyper: request boundaries, pipelining and chunks are read by a widely used library, and nothing
//! here reads them a second time. This module checks who may use the proxy ([`Access`]), whether headers and body agree, and
//! all sizes and numbers ([`HttpLimits`]).
//!
//! Architecture invariant: no rule is judged here, and no message is deserialized and serialized again. The sessions behind HTTP
//! are the same as behind standard streams.

mod access;
mod body;
mod endpoint;
mod headers;
mod limits;
mod listener;
mod places;
mod posts;
mod reading;
mod refused;
mod rewrite;
mod session;
mod sessions;
mod sse;
mod streams;
mod token;

use std::sync::Arc;
use std::time::Duration;

use omen_gate::TurnId;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

pub use access::{Access, BadAccess};
pub use limits::HttpLimits;
pub use posts::{LoopbackPosts, Unanswered};
pub use token::{Token, TokenError};

use self::endpoint::Endpoint;
use self::reading::Reading;
use self::sessions::Sessions;
use crate::end::Ended;
use crate::error::NotServed;
use crate::hub::ClientSessions;
use crate::server::SpawnInSpan as _;

/// Path of the endpoint.
pub const PATH: &str = endpoint::PATH;

/// Time that connections may take to end once their sessions have.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Address on which the proxy listens, and who may use it.
pub(crate) struct Listening {
    pub(crate) listener: TcpListener,
    pub(crate) access: Access,
    pub(crate) limits: HttpLimits,
}

impl Listening {
    /// Checks that only permitted clients can use the proxy, and that no episodes are to be written.
    pub(crate) fn ready(self, writes_episodes: bool) -> Result<Self, NotServed> {
        let address = self.listener.local_addr().map_err(NotServed::Address)?;
        self.access.check(address.ip())?;
        if writes_episodes {
            return Err(NotServed::Episodes);
        }
        Ok(self)
    }

    /// Serves sessions until asked to stop. When this returns, the log contains the outcome of every call that was made, and no
    /// server is running.
    pub(crate) async fn serve(
        self,
        behind: ClientSessions,
        name: TurnId,
        until: impl Future<Output = ()> + Send,
    ) -> Ended {
        let Self { listener, access, limits } = self;
        let server = behind.limits();
        let sessions = Sessions::new(behind, name, limits);
        let mut helpers = JoinSet::new();
        helpers.spawn_in_span(Arc::clone(&sessions).end_idle());
        let endpoint = Arc::new(Endpoint {
            access,
            limits,
            reading: Reading::new(server.line_bytes, limits.body, limits.bodies),
            start: server.start,
            sessions: Arc::clone(&sessions),
        });
        let stopping = watch::Sender::new(false);
        let mut connections = listener::accept(listener, &endpoint, &stopping, until).await;
        let unrecorded = sessions.stop().await;
        stopping.send_replace(true);
        let _ = timeout(LAST_WORDS, async { while connections.join_next().await.is_some() {} }).await;
        connections.shutdown().await;
        helpers.shutdown().await;
        unrecorded.map_or(Ended::Asked, Ended::Unrecorded)
    }
}
