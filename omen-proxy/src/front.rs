//! What stands behind the sessions of clients: one server, or several.

use omen_gate::config::PolicyHash;
use omen_gate::mcp::ServerLimits;
use omen_gate::{Gate, TurnId};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

use crate::end::Ended;
use crate::not_served::NotServed;
use crate::proxy::Proxy;
use crate::reload::Reload;
use crate::several::{OfClient, Several};
use crate::source::Source;

/// What stands behind the sessions of clients.
pub(crate) enum Front {
    One(Proxy, Source),
    Several(Several),
}

/// A session that has not begun.
pub(crate) enum Session {
    One(Proxy, Source),
    Several(OfClient),
}

impl Front {
    pub(crate) fn proxy(&self) -> &Proxy {
        match self {
            Self::One(proxy, _) => proxy,
            Self::Several(several) => several.proxy(),
        }
    }

    /// The gate of all sessions.
    pub(crate) fn common_gate(&self) -> Result<Gate, NotServed> {
        self.proxy().common_gate()
    }

    /// The name that those of all sessions begin with.
    pub(crate) fn name(&self) -> TurnId {
        self.proxy().name()
    }

    pub(crate) fn writes_episodes(&self) -> bool {
        self.proxy().writes_episodes()
    }

    pub(crate) fn take_reload(&mut self) -> Option<Reload> {
        match self {
            Self::One(proxy, _) => proxy.take_reload(),
            Self::Several(several) => several.take_reload(),
        }
    }

    /// What a client may send.
    pub(crate) fn limits(&self) -> ServerLimits {
        match self {
            Self::One(_, source) => *source.limits(),
            Self::Several(several) => several.limits(),
        }
    }

    /// The session of one client.
    pub(crate) fn session(&self, turn: TurnId, gate: Gate, policy: watch::Receiver<PolicyHash>) -> Session {
        match self {
            Self::One(proxy, source) => Session::One(proxy.session(turn, gate, policy), source.clone()),
            Self::Several(several) => Session::Several(several.session(turn, gate, policy).bounded_by_its_client()),
        }
    }
}

impl Session {
    pub(crate) async fn serve(
        self,
        client: (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
        until: impl Future<Output = ()> + Send,
    ) -> Result<Ended, NotServed> {
        match self {
            Self::One(proxy, source) => proxy.serve_source(&source, client, until).await,
            Self::Several(session) => session.serve(client, until).await,
        }
    }
}
