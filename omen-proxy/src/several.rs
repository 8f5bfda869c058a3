//! Several servers behind one proxy: to the client they are one server, whose tools and prompts are named `SERVER__NAME`.
//!
//! Each server has a session of its own, which is that of a proxy with one server: so each call is judged once, by the same
//! steps, under the server's own name and the tool's own name. What stands between those sessions and the client decides only to
//! which of them a message goes. It changes ids and tokens where two servers could choose the same, and names of tools and
//! prompts; it puts lists, capabilities and instructions together. All sessions have one gate and one audit log.
//!
//! Architecture invariant: no rule is judged here, and nothing that a server has answered to a call is read or changed.
//! Architecture invariant: nobody guesses which server is meant. What leaves a doubt is refused.

mod calls;
mod from_client;
mod from_servers;
mod handshake;
mod hub;
mod listening;
mod lists;
mod member;
mod merged;
mod names;
mod open;
mod owners;
mod prompts;
mod resources;
mod route;
mod session;
mod start;

use std::collections::BTreeMap;
use std::fmt;

use omen_gate::config::PolicyHash;
use omen_gate::mcp::ServerLimits;
use omen_gate::{Gate, ServerName, TurnId};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::task::JoinSet;

pub use self::names::{BadServers, SEPARATOR};
pub(crate) use self::session::OfClient;
use crate::end::Ended;
use crate::not_served::NotServed;
use crate::proxy::Proxy;
use crate::reload::Reload;
use crate::shared::SpawnInSpan as _;
use crate::source::Source;

/// Several servers of one configuration, for clients that are to have them as one.
///
/// ```no_run
/// use std::collections::BTreeMap;
///
/// use omen_gate::Config;
/// use omen_gate::mcp::Launch;
/// use omen_proxy::several::Several;
/// use omen_proxy::{Proxy, Source};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let config = "[servers.files]\n[servers.mail]\n[audit]\nlog = 'audit.jsonl'\nkey_file = 'audit.key'\n";
/// let sources = BTreeMap::from([
///     ("files".parse()?, Source::process(Launch::new("mcp-server-filesystem").arg("./data"))),
///     ("mail".parse()?, Source::process(Launch::new("mcp-server-mail"))),
/// ]);
/// let proxy = Proxy::new(Config::parse(config)?, "files".parse()?, "session_1".parse()?);
/// let ended = Several::new(proxy, sources)?.serve(omen_proxy::stdio(), std::future::pending()).await?;
/// println!("{ended}");
/// # Ok(())
/// # }
/// ```
#[must_use = "a proxy does nothing until it serves"]
pub struct Several {
    proxy: Proxy,
    sources: BTreeMap<ServerName, Source>,
}

impl fmt::Debug for Several {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Several").field("servers", &self.sources.keys()).finish_non_exhaustive()
    }
}

impl Several {
    /// Puts servers behind a proxy, in place of the one that it was made for. All that the proxy was given holds for each of
    /// them.
    ///
    /// # Errors
    /// If there are none or more than 64; if the configuration does not have one of them; if a name contains `__`, ends with
    /// `_`, or differs from another one only in case; or if the proxy writes episodes.
    pub fn new(proxy: Proxy, sources: BTreeMap<ServerName, Source>) -> Result<Self, BadServers> {
        Self::check(sources.keys())?;
        if let Some(unknown) = sources.keys().find(|name| !proxy.has_server(name)) {
            return Err(BadServers::Unknown(unknown.clone()));
        }
        if proxy.writes_episodes() {
            return Err(BadServers::Episodes);
        }
        Ok(Self { proxy, sources })
    }

    /// Whether servers with these names can share a client.
    ///
    /// # Errors
    /// If there are none or more than 64, or if a name contains `__`, ends with `_`, or differs from another one only in case.
    pub fn check<'n>(names: impl IntoIterator<Item = &'n ServerName>) -> Result<(), BadServers> {
        names::check(&names.into_iter().collect::<Vec<_>>())
    }

    /// Serves one session, until the client ends it, all servers have ended, or it is asked to stop. When this returns, the log
    /// has the outcome of every call that was made, and none of the servers runs.
    ///
    /// # Errors
    /// If the session did not begin: there is no gate, or one of the servers cannot be started. Then none of them runs.
    /// A program that is not there is not such an error: its server is left out, as one that ends at once.
    pub async fn serve(
        mut self,
        client: (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
        until: impl Future<Output = ()> + Send,
    ) -> Result<Ended, NotServed> {
        let gate = self.proxy.common_gate()?;
        let (policy, changed) = watch::channel(gate.policy_hash());
        let mut reloading = JoinSet::new();
        if let Some(mut reload) = self.proxy.take_reload() {
            let gate = gate.clone();
            reloading.spawn_in_span(async move {
                while let Some(hash) = reload.next(&gate).await {
                    policy.send_replace(hash);
                }
            });
        }
        let ended = self.session(self.proxy.name(), gate, changed).serve(client, until).await;
        reloading.shutdown().await;
        ended
    }

    pub(crate) fn proxy(&self) -> &Proxy {
        &self.proxy
    }

    pub(crate) fn take_reload(&mut self) -> Option<Reload> {
        self.proxy.take_reload()
    }

    /// What a client may send, which all of its servers have to take.
    pub(crate) fn limits(&self) -> ServerLimits {
        let all = self.sources.values().map(Source::limits);
        all.copied().min_by_key(|limits| limits.line_bytes).unwrap_or_default()
    }

    /// The session of one client.
    pub(crate) fn session(&self, turn: TurnId, gate: Gate, policy: watch::Receiver<PolicyHash>) -> OfClient {
        let servers = self.sources.iter().map(|(name, source)| (name.clone(), source.clone())).collect();
        let own = self.proxy.session(turn.clone(), gate.clone(), policy.clone());
        OfClient { proxy: own, servers, limits: self.limits(), turn, gate, policy }
    }
}
