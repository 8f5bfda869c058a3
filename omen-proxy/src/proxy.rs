//! A proxy: what holds for its sessions, and how they are served.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use omen_gate::audit::Audit;
use omen_gate::confirm::{Confirmer, Nobody};
use omen_gate::{Config, Gate, GateClock, ServerName, TurnId};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tracing::Span;

use crate::end::{Ended, warn_of_debt};
use crate::episode::{ClientNames, Recording};
use crate::error::NotServed;
use crate::hub::{BadServers, ClientSession, ClientSessions, check_names};
use crate::passage::Passage;
use crate::reload::Reload;
use crate::server::{Absent, Source, SpawnInSpan as _};
use crate::settings::Settings;
use crate::transport::{Kind, Transport};

/// The gate between clients and one or several servers. With several, they are one server to a client, whose tools and prompts
/// are named `SERVER__NAME`.
///
/// ```no_run
/// use omen_gate::Config;
/// use omen_gate::mcp::Launch;
/// use omen_proxy::{Proxy, Source, Transport};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let config = "[servers.files]\n[servers.mail]\n[audit]\nlog = 'audit.jsonl'\nkey_file = 'audit.key'\n";
/// let proxy = Proxy::builder(Config::parse(config)?, "session_1".parse()?)
///     .server("files".parse()?, Source::process(Launch::new("mcp-server-filesystem").arg("./data")))
///     .server("mail".parse()?, Source::process(Launch::new("mcp-server-mail")))
///     .build()?;
/// let ended = proxy.serve(Transport::stdio(), std::future::pending()).await?;
/// println!("{ended}");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a proxy does nothing until it serves"]
pub struct Proxy(ProxyBuilder);

/// A proxy that is put together.
#[must_use = "a proxy does nothing until it serves"]
pub struct ProxyBuilder {
    settings: Settings,
    session: TurnId,
    servers: Vec<(ServerName, Source)>,
    audit: Option<Audit>,
    reload: Option<Reload>,
    recording: Option<Recording>,
}

impl fmt::Debug for ProxyBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers: Vec<_> = self.servers.iter().map(|(name, _)| name).collect();
        f.debug_struct("ProxyBuilder").field("servers", &servers).finish_non_exhaustive()
    }
}

impl ProxyBuilder {
    /// Adds a server of the configuration. All that the proxy is given holds for each of them.
    pub fn server(mut self, name: ServerName, source: Source) -> Self {
        self.servers.push((name, source));
        self
    }

    /// Gives an audit log that is open already, in place of that of the configuration.
    pub fn audit(mut self, audit: Audit) -> Self {
        self.audit = Some(audit);
        self
    }

    /// Gives another clock than the machine's.
    pub fn clock(mut self, clock: Arc<dyn GateClock>) -> Self {
        self.settings.clock = Some(clock);
        self
    }

    /// Says who confirms calls (G3) that the client's user has not. By default nobody does, and they are denied.
    pub fn confirmer(mut self, confirmer: impl Confirmer) -> Self {
        self.settings.confirmer = Arc::new(confirmer);
        self
    }

    /// Lets the client ask its user to confirm calls, if it can. An answer that comes faster than this is the client's, not a
    /// human's, and counts as none.
    pub fn elicitation(mut self, least: Duration) -> Self {
        self.settings.elicitation = Some(least);
        self
    }

    /// Lets messages pass that are not calls and could act. By default none of them do.
    pub fn pass(mut self, passages: impl IntoIterator<Item = Passage>) -> Self {
        self.settings.passages = passages.into_iter().collect();
        self
    }

    /// Lists the tools that may not be called, too, with the reason in their description.
    pub fn show_blocked(mut self, show: bool) -> Self {
        self.settings.show_blocked = show;
        self
    }

    /// Adds to the descriptions of tools what the rules on order say about their calls.
    pub fn show_order(mut self, show: bool) -> Self {
        self.settings.show_order = show;
        self
    }

    /// How long calls that run may go on when the session ends. By default two seconds.
    pub fn drain(mut self, limit: Duration) -> Self {
        self.settings.drain = limit;
        self
    }

    /// Puts the configuration of a file in force, whole or not at all, whenever something is received. If it has changed, the
    /// client is notified that the list of tools has.
    pub fn reload(mut self, path: impl Into<PathBuf>, when: mpsc::Receiver<()>) -> Self {
        self.reload = Some(Reload { path: path.into(), when });
        self
    }

    /// Writes the session as episodes of the protocol, or has its client's model drive one.
    pub fn episode(mut self, recording: Recording) -> Self {
        self.recording = Some(recording);
        self
    }

    /// Puts the proxy together.
    ///
    /// # Errors
    /// If there is no server, the configuration does not have one of them, or they cannot share a client, as [`Proxy::check`] says.
    pub fn build(mut self) -> Result<Proxy, BadServers> {
        self.servers.sort_by(|(one, _), (other, _)| one.cmp(other));
        Proxy::check(self.servers.iter().map(|(name, _)| name))?;
        let known = &self.settings.config.servers;
        if let Some((unknown, _)) = self.servers.iter().find(|(name, _)| !known.contains_key(name)) {
            return Err(BadServers::Unknown(unknown.clone()));
        }
        Ok(Proxy(self))
    }
}

impl Proxy {
    /// Begins to put a proxy together. The name of the session is the turn of what belongs to no call, and the turns of calls
    /// begin with it, so no two sessions of one log may have the same.
    pub fn builder(config: Config, session: TurnId) -> ProxyBuilder {
        let settings = Settings::new(config);
        ProxyBuilder { settings, session, servers: Vec::new(), audit: None, reload: None, recording: None }
    }

    /// Checks whether servers with these names can share a client.
    ///
    /// # Errors
    /// If there are none or more than 64, or, if there are several, a name contains `__`, ends with `_`, or differs from another
    /// one only in case.
    pub fn check<'n>(names: impl IntoIterator<Item = &'n ServerName>) -> Result<(), BadServers> {
        check_names(&names.into_iter().collect::<Vec<_>>())
    }

    /// Serves one client over streams, until the client ends the session, its servers have ended, or the proxy is asked to stop;
    /// or many clients over HTTP, until it is asked to stop. When this returns, the log has the outcome of every call that was
    /// made, and none of the servers runs, nor anything that they have started.
    ///
    /// # Errors
    /// If nothing was served: there is no gate, the proxy may not listen there, or one of the servers cannot be started. A
    /// program that is not there is not such an error: its server is one that ends at once.
    pub async fn serve(
        mut self,
        transport: Transport,
        until: impl Future<Output = ()> + Send,
    ) -> Result<Ended, NotServed> {
        let listening = match transport.0 {
            Kind::Streams(input, output) => Err((input, output)),
            Kind::Http(http) => Ok(http.ready(self.0.recording.is_some())?),
        };
        let names = ClientNames::new(self.0.servers.iter().map(|(name, _)| name));
        if let Some(recording) = &self.0.recording {
            recording.check(&self.0.settings.config, &names).map_err(NotServed::Taken)?;
        }
        let config = &self.0.settings.config;
        // Where an episode or the client's user has turns, they have several calls.
        let has_turns = config.user_turn.is_some() || self.0.recording.is_some();
        if let Some(rule) = config.rule_per_turn().filter(|_| !has_turns) {
            return Err(NotServed::Turns(rule.to_owned()));
        }
        let gate = self.gate(has_turns)?;
        let (policy, changed) = watch::channel(gate.policy_hash());
        let mut reloading = JoinSet::new();
        if let Some(mut reload) = self.0.reload.take() {
            let gate = gate.clone();
            reloading.spawn_in_span(async move {
                while let Some(hash) = reload.next(&gate).await {
                    policy.send_replace(hash);
                }
            });
        }
        let recording = self.0.recording.take();
        let sessions =
            ClientSessions { settings: Arc::new(self.0.settings), servers: self.0.servers, gate, policy: changed };
        let served = match listening {
            Ok(http) => Ok(http.serve(sessions, self.0.session, until).await),
            Err(client) => {
                let session = sessions.session(self.0.session);
                ClientSession { recording, ..session }.serve_streams(client, until).await
            }
        };
        reloading.shutdown().await;
        served
    }

    /// The gate of all sessions, which calls no tool itself.
    fn gate(&self, has_turns: bool) -> Result<Gate, NotServed> {
        let Settings { config, clock, .. } = &self.0.settings;
        // A timer of the gate has no span of its own.
        let span = Span::current();
        let builder = Gate::builder(config.clone()).confirmer(Nobody).clients(has_turns);
        let builder = builder.debts(move |debt| span.in_scope(|| warn_of_debt(debt)));
        let mut builder = config.servers.keys().fold(builder, |builder, name| builder.server(name.clone(), Absent));
        if let Some(audit) = &self.0.audit {
            builder = builder.audit(audit.clone());
        }
        if let Some(clock) = clock {
            builder = builder.clock(Arc::clone(clock));
        }
        Ok(builder.build()?)
    }
}
