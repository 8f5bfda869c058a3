//! Streamable HTTP towards clients: the proxy as a server that several clients reach at one address.
//!
//! Up to 2025-11-25, a client begins a session with `initialize`, and names it in each request after that. Each such session is
//! a session of the proxy, with a server of its own. Since 2026-07-28 there are no sessions: each request says of itself what
//! a handshake would. Those requests share a session of the proxy and a server, under ids of the proxy's own. All sessions
//! have one gate and one audit log: what one of them uses up is used up for all.
//!
//! HTTP itself is hyper's: where one request ends and the next begins, pipelining and chunks are read by a library that many
//! others rely on, and nothing here reads them a second time. What is checked here: who may speak to the proxy ([`Access`]),
//! what headers and body say of the same thing, and how much there may be of everything ([`HttpLimits`]).
//!
//! Architecture invariant: no rule is judged here, and no message is read into types and written again. A session of HTTP is
//! two ends of lines for the same session that standard streams have.

mod access;
mod body;
mod endpoint;
mod headers;
mod limits;
mod listener;
mod places;
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

use omen_gate::config::PolicyHash;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

pub use access::{Access, BadAccess};
pub use limits::HttpLimits;
pub use token::{Token, TokenError};

use self::endpoint::Endpoint;
use self::reading::Reading;
use self::sessions::Sessions;
use crate::end::Ended;
use crate::front::Front;
use crate::not_served::NotServed;
use crate::proxy::Proxy;
use crate::several::Several;
use crate::shared::SpawnInSpan as _;
use crate::source::Source;

/// Why nothing was served over HTTP.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotListening {
    /// Others could use the proxy.
    #[error(transparent)]
    Access(#[from] BadAccess),
    /// The address cannot be used.
    #[error("cannot listen: {0}")]
    Address(std::io::Error),
    /// Episodes are written of one session, and there are several.
    #[error("C1: episodes are written of one session; serve one on the standard streams")]
    Episodes,
    /// There is no gate.
    #[error(transparent)]
    Gate(#[from] NotServed),
}

/// The path of the endpoint.
pub const PATH: &str = endpoint::PATH;

/// How long connections may take to end, once their sessions have.
const LAST_WORDS: Duration = Duration::from_secs(2);

impl Proxy {
    /// Serves sessions over Streamable HTTP, until it is asked to stop. When this returns, the log has the outcome of every
    /// call that was made, and no server runs.
    ///
    /// # Errors
    /// If nothing was served: the proxy may not listen there, or there is no gate.
    pub async fn serve_http(
        self,
        source: Source,
        listener: TcpListener,
        access: Access,
        limits: HttpLimits,
        until: impl Future<Output = ()> + Send,
    ) -> Result<Ended, NotListening> {
        Front::One(self, source).serve_http(listener, access, limits, until).await
    }
}

impl Several {
    /// Serves sessions over Streamable HTTP, each with all servers, until it is asked to stop. It ends as
    /// [`Proxy::serve_http`] does.
    ///
    /// # Errors
    /// If nothing was served: the proxy may not listen there, or there is no gate.
    pub async fn serve_http(
        self,
        listener: TcpListener,
        access: Access,
        limits: HttpLimits,
        until: impl Future<Output = ()> + Send,
    ) -> Result<Ended, NotListening> {
        Front::Several(self).serve_http(listener, access, limits, until).await
    }
}

impl Front {
    async fn serve_http(
        mut self,
        listener: TcpListener,
        access: Access,
        limits: HttpLimits,
        until: impl Future<Output = ()> + Send,
    ) -> Result<Ended, NotListening> {
        let address = listener.local_addr().map_err(NotListening::Address)?;
        access.check(address.ip())?;
        if self.writes_episodes() {
            return Err(NotListening::Episodes);
        }
        let gate = self.common_gate()?;
        let (reload, name) = (self.take_reload(), self.name());
        let (policy, changed) = watch::channel::<PolicyHash>(gate.policy_hash());
        let server = self.limits();
        let sessions = Sessions::new(self, name, gate.clone(), limits, changed);
        let mut helpers = JoinSet::new();
        helpers.spawn_in_span(Arc::clone(&sessions).end_idle());
        if let Some(mut reload) = reload {
            helpers.spawn_in_span(async move {
                while let Some(hash) = reload.next(&gate).await {
                    policy.send_replace(hash);
                }
            });
        }
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
        Ok(unrecorded.map_or(Ended::Asked, Ended::Unrecorded))
    }
}
