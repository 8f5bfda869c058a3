//! Proxy: the settings of its sessions, and how they are served.

mod http;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use omen_gate::audit::Audit;
use omen_gate::config::PolicyHash;
use omen_gate::confirm::{Confirmer, Nobody};
use omen_gate::order::{DebtReport, DebtScope, SessionEnd, owed_line};
use omen_gate::{Config, Gate, GateClock, GateCode, ServerName, TurnId};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tracing::{Span, error, info, warn};

use crate::client::names::check_servers;
use crate::client::transport::{Kind, Transport};
use crate::end::Ended;
use crate::episode::{ClientNames, Recording};
use crate::error::{BadServers, NotServed};
use crate::hub::{ClientSession, ClientSessions};
use crate::messages::Passage;
use crate::server::{Absent, Source, SpawnInSpan as _};
use crate::settings::Settings;

/// Gate between clients and one or several servers. A client sees several servers as a single one, whose tools and prompts are
/// named `SERVER__NAME`.
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

/// Proxy builder.
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
    /// Adds a server in the configuration. All settings of the proxy apply to each server.
    pub fn server(mut self, name: ServerName, source: Source) -> Self {
        self.servers.push((name, source));
        self
    }

    /// Uses an open audit log instead of the configured one.
    pub fn audit(mut self, audit: Audit) -> Self {
        self.audit = Some(audit);
        self
    }

    /// Replaces the machine's clock.
    pub fn clock(mut self, clock: Arc<dyn GateClock>) -> Self {
        self.settings.clock = Some(clock);
        self
    }

    /// Sets the confirmer of calls (G3) that the client's user has not confirmed. Without one, such calls are denied.
    pub fn confirmer(mut self, confirmer: impl Confirmer) -> Self {
        self.settings.confirmer = Arc::new(confirmer);
        self
    }

    /// Lets the client ask its user to confirm calls, if it can. An answer that comes faster than this is the client's, not a
    /// human's, and does not count.
    pub fn elicitation(mut self, least: Duration) -> Self {
        self.settings.elicitation = Some(least);
        self
    }

    /// Allows messages to pass that are not calls but could act. By default none pass.
    pub fn pass(mut self, passages: impl IntoIterator<Item = Passage>) -> Self {
        self.settings.passages = passages.into_iter().collect();
        self
    }

    /// Also lists the tools that may not be called, with the reason in their description.
    pub fn show_blocked(mut self, show: bool) -> Self {
        self.settings.show_blocked = show;
        self
    }

    /// Adds what the order rules say about the calls of tools to their descriptions.
    pub fn show_order(mut self, show: bool) -> Self {
        self.settings.show_order = show;
        self
    }

    /// Sets how long running calls may continue when the session ends. Two seconds by default.
    pub fn drain(mut self, limit: Duration) -> Self {
        self.settings.drain = limit;
        self
    }

    /// Reloads the configuration from a file, as a whole or not at all, whenever `when` receives a message. If the
    /// configuration has changed, the client is notified that the tool list has changed.
    pub fn reload(mut self, path: impl Into<PathBuf>, when: mpsc::Receiver<()>) -> Self {
        self.reload = Some(Reload { path: path.into(), when });
        self
    }

    /// Writes the session as episodes of the protocol, or lets its client's model drive one.
    pub fn episode(mut self, recording: Recording) -> Self {
        self.recording = Some(recording);
        self
    }

    /// Builds the proxy.
    ///
    /// # Errors
    /// If there are no servers, one is not in the configuration, or they cannot share a client according to [`Proxy::check`].
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
    /// Creates a builder. The name of the session is the turn of entries that belong to no call, and the turns of calls begin
    /// with it, so no two sessions in a log may have the same name.
    pub fn builder(config: Config, session: TurnId) -> ProxyBuilder {
        let settings = Settings::new(config);
        ProxyBuilder { settings, session, servers: Vec::new(), audit: None, reload: None, recording: None }
    }

    /// Checks whether servers with these names can share a client.
    ///
    /// # Errors
    /// If there are no names or more than 64, or, if there are several, a name contains `__`, ends with `_`, or differs from
    /// another one only in case.
    pub fn check<'n>(names: impl IntoIterator<Item = &'n ServerName>) -> Result<(), BadServers> {
        check_servers(&names.into_iter().collect::<Vec<_>>())
    }

    /// Serves one client over streams, until the client ends the session, its servers have ended, or the proxy is asked to stop;
    /// or many clients over HTTP, until the proxy is asked to stop. When this returns, the log contains the outcome of every
    /// call that was made, and neither the servers nor any processes that they started are running.
    ///
    /// # Errors
    /// If nothing was served: there is no gate, the proxy may not listen on the address, or one of the servers cannot be
    /// started. A missing program is not such an error: it counts as a server that ends at once.
    pub async fn serve(
        mut self,
        transport: Transport,
        until: impl Future<Output = ()> + Send,
    ) -> Result<Ended, NotServed> {
        let listening = match transport.0 {
            Kind::Streams(input, output) => Err((input, output)),
            Kind::Http(http) => {
                http.access.check(http.listener.local_addr().map_err(NotServed::Address)?.ip())?;
                if self.0.recording.is_some() {
                    return Err(NotServed::Episodes);
                }
                Ok(*http)
            }
        };
        let names = ClientNames::new(self.0.servers.iter().map(|(name, _)| name));
        if let Some(recording) = &self.0.recording {
            recording.check(&self.0.settings.config, &names).map_err(NotServed::Taken)?;
        }
        let config = &self.0.settings.config;
        // If an episode or the client's user defines turns, a turn can have several calls.
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
            Ok(server) => Ok(http::serve(server, sessions, self.0.session, until).await),
            Err(client) => {
                let session = sessions.session(self.0.session);
                ClientSession { recording, ..session }.serve_streams(client, until).await
            }
        };
        reloading.shutdown().await;
        served
    }

    /// Builds the gate of all sessions, which calls no tools itself.
    fn gate(&self, has_turns: bool) -> Result<Gate, NotServed> {
        let Settings { config, clock, .. } = &self.0.settings;
        // Timers of the gate have no span of their own.
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

/// File of the configuration, and signal to reload it.
struct Reload {
    path: PathBuf,
    when: mpsc::Receiver<()>,
}

impl Reload {
    /// Reloads the file, as a whole or not at all, whenever requested. Returns the next policy that differs from the
    /// current one.
    async fn next(&mut self, gate: &Gate) -> Option<PolicyHash> {
        loop {
            self.when.recv().await?;
            match gate.reload_file(&self.path).await {
                Ok(reloaded) if reloaded.before == reloaded.policy => info!("the configuration has not changed"),
                Ok(reloaded) => {
                    info!("the configuration was reloaded, as {}", reloaded.policy);
                    return Some(reloaded.policy);
                }
                Err(error) => error!("the previous configuration stays in force: {error}"),
            }
        }
    }
}

/// Logs a warning about a debt that was not settled in time (O-4).
fn warn_of_debt(debt: &DebtReport<'_>) {
    let code = GateCode::O4;
    match debt {
        DebtReport::Overdue(message) => warn!(%code, "{code}: {message}"),
        DebtReport::Ended { scope, name, how, owed } => {
            let how = match how {
                SessionEnd::Lost => "was open when the proxy stopped",
                SessionEnd::Idle => "has made no calls for too long",
                _ => "has ended",
            };
            let scope = if *scope == DebtScope::Turn { "turn" } else { "session" };
            warn!(%code, session = %name, "{code}: the {scope} `{name}` {how}. {}", owed_line(owed));
        }
        _ => warn!(%code, "{code}: something is owed"),
    }
}
