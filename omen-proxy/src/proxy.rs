//! A session, from its start to its end.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use omen_gate::audit::Audit;
use omen_gate::config::PolicyHash;
use omen_gate::confirm::{Confirmer, Nobody};
use omen_gate::mcp::{Broken, Launch, Lines, ServerLimits};
use omen_gate::server::{Dispatch, ToolServer};
use omen_gate::tool::{Answer, Tool};
use omen_gate::{Config, Fault, Gate, GateClock, ServerName, SystemClock, TurnId};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinSet, consume_budget};
use tokio::time::timeout;
use tracing::warn;

use crate::connection::{Connection, Output};
use crate::downstream::Downstream;
use crate::elicit::{Chain, Elicitation};
use crate::end::{Ended, Lost};
use crate::episode::{About, Episodes, Recording, Witness};
use crate::from_client::{self, Running};
use crate::from_server;
use crate::mrtr::Rounds;
use crate::not_served::NotServed;
use crate::policy::{Passage, Passages};
use crate::relayed::Relayed;
use crate::reload::{Reload, notify_when, reload_when};
use crate::shared::{Shared, SpawnInSpan as _};
use crate::source::Source;
use crate::upstream::{Behind, Upstream};
use crate::user_turns::UserTurns;
use omen_mcp::handshake::Session;
use omen_mcp::outbox::Outbox;

/// A proxy for one session: one client, one server, and the gate between them.
///
/// ```no_run
/// use omen_gate::Config;
/// use omen_gate::mcp::Launch;
/// use omen_proxy::Proxy;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let config = Config::parse("[servers.files]\n[audit]\nlog = 'audit.jsonl'\nkey_file = 'audit.key'\n")?;
/// let launch = Launch::new("mcp-server-filesystem").arg("./data");
/// let proxy = Proxy::new(config, "files".parse()?, "session_1".parse()?);
/// let ended = proxy.serve(launch, omen_proxy::stdio(), std::future::pending()).await?;
/// println!("{ended}");
/// # Ok(())
/// # }
/// ```
#[must_use = "a proxy does nothing until it serves"]
pub struct Proxy {
    config: Config,
    server: ServerName,
    session: TurnId,
    audit: Option<Audit>,
    clock: Option<Arc<dyn GateClock>>,
    confirmer: Arc<dyn Confirmer>,
    elicitation: Option<Duration>,
    passages: Passages,
    show_blocked: bool,
    drain: Duration,
    reload: Option<Reload>,
    episode: Option<Recording>,
    /// The gate of all sessions, if there are several.
    gate: Option<Gate>,
    /// The policy in force, if somebody else puts another one in force.
    policy: Option<watch::Receiver<PolicyHash>>,
    /// The session of the client, if it has a session with each of several servers.
    of_client: Option<TurnId>,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("server", &self.server).finish_non_exhaustive()
    }
}

impl Proxy {
    /// A proxy in front of a server of the configuration. The name of the session is the turn of what
    /// belongs to no call, and the turns of calls begin with it, so no two sessions of one log may have the same.
    pub fn new(config: Config, server: ServerName, session: TurnId) -> Self {
        Self {
            config,
            server,
            session,
            audit: None,
            clock: None,
            confirmer: Arc::new(Nobody),
            elicitation: None,
            passages: Passages::default(),
            show_blocked: false,
            drain: Duration::from_secs(2),
            reload: None,
            episode: None,
            gate: None,
            policy: None,
            of_client: None,
        }
    }

    pub(crate) fn writes_episodes(&self) -> bool {
        self.episode.is_some()
    }

    pub(crate) fn take_reload(&mut self) -> Option<Reload> {
        self.reload.take()
    }

    /// The name of its session, with which those of several sessions begin.
    pub(crate) fn name(&self) -> TurnId {
        self.session.clone()
    }

    /// The same for one of several sessions, which share a gate.
    pub(crate) fn session(&self, session: TurnId, gate: Gate, policy: watch::Receiver<PolicyHash>) -> Self {
        Self { policy: Some(policy), ..self.beside(session, gate) }
    }

    /// The same for one of several servers of one client. What its client is notified of when another policy is in force is
    /// left to the session of the client.
    pub(crate) fn with(&self, server: &ServerName, session: TurnId, of_client: TurnId, gate: Gate) -> Self {
        Self { server: server.clone(), of_client: Some(of_client), ..self.beside(session, gate) }
    }

    /// The same for a session with a gate that it shares. What there is once for all sessions stays here.
    fn beside(&self, session: TurnId, gate: Gate) -> Self {
        Self {
            config: self.config.clone(),
            server: self.server.clone(),
            session,
            audit: None,
            clock: None,
            confirmer: Arc::clone(&self.confirmer),
            elicitation: self.elicitation,
            passages: self.passages.clone(),
            show_blocked: self.show_blocked,
            drain: self.drain,
            reload: None,
            episode: None,
            gate: Some(gate),
            policy: None,
            of_client: None,
        }
    }

    pub(crate) fn has_server(&self, server: &ServerName) -> bool {
        self.config.servers.contains_key(server)
    }

    /// How long what runs may go on when a session ends.
    pub(crate) fn drains(&self) -> Duration {
        self.drain
    }

    /// Gives an audit log that is open already, in place of that of the configuration.
    pub fn audit(mut self, audit: Audit) -> Self {
        self.audit = Some(audit);
        self
    }

    /// Gives another clock than the machine's.
    pub fn clock(mut self, clock: Arc<dyn GateClock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Says who confirms calls (G3) that the client's user has not. By default nobody does, and they are denied.
    pub fn confirmer(mut self, confirmer: impl Confirmer) -> Self {
        self.confirmer = Arc::new(confirmer);
        self
    }

    /// Lets the client ask its user to confirm calls, if it can. An answer that comes faster than this is the client's, not a
    /// human's, and counts as none.
    pub fn elicitation(mut self, least: Duration) -> Self {
        self.elicitation = Some(least);
        self
    }

    /// Lets messages pass that are not calls and could act. By default none of them do.
    pub fn pass(mut self, passages: impl IntoIterator<Item = Passage>) -> Self {
        self.passages = passages.into_iter().collect();
        self
    }

    /// Lists the tools that may not be called, too, with the reason in their description.
    pub fn show_blocked(mut self, show: bool) -> Self {
        self.show_blocked = show;
        self
    }

    /// How long calls that run may go on when the session ends. By default two seconds.
    pub fn drain(mut self, limit: Duration) -> Self {
        self.drain = limit;
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
        self.episode = Some(recording);
        self
    }

    /// Serves one session in front of a server process, until the client or the server ends it, or until it is asked to stop.
    /// When this returns, the log has the outcome of every call that was made, and neither the server nor anything that it
    /// has started runs.
    ///
    /// # Errors
    /// If the session did not begin.
    pub async fn serve(
        self,
        launch: Launch,
        client: (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
        until: impl Future<Output = ()> + Send,
    ) -> Result<Ended, NotServed> {
        self.serve_source(&Source::process(launch), client, until).await
    }

    /// Serves one session in front of a server that is reached through streams: what it reads, and what it writes. It ends
    /// when its output does.
    ///
    /// # Errors
    /// If the session did not begin.
    pub async fn serve_over(
        self,
        limits: ServerLimits,
        server: (impl AsyncWrite + Send + Unpin + 'static, impl AsyncRead + Send + Unpin + 'static),
        client: (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
        until: impl Future<Output = ()> + Send,
    ) -> Result<Ended, NotServed> {
        let (input, output) = server;
        let connection = Connection { input: Box::new(input), output: Output::Lines(Box::new(output)), process: None };
        self.run(limits, client, move || Ok(connection), until).await
    }

    /// Serves one session in front of a server that is started, or connected to, once there is a gate. It ends as
    /// [`serve`](Self::serve) does.
    ///
    /// # Errors
    /// If the session did not begin.
    pub async fn serve_source(
        self,
        source: &Source,
        client: (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
        until: impl Future<Output = ()> + Send,
    ) -> Result<Ended, NotServed> {
        let server = self.server.clone();
        let start = || source.connect().map_err(|fault| NotServed::Server { server, fault });
        self.run(*source.limits(), client, start, until).await
    }

    /// The same in front of a server that was started or connected to.
    pub(crate) async fn serve_connection(
        self,
        limits: ServerLimits,
        connection: Connection,
        client: (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
        until: impl Future<Output = ()> + Send,
    ) -> Result<Ended, NotServed> {
        self.run(limits, client, move || Ok(connection), until).await
    }

    async fn run(
        mut self,
        limits: ServerLimits,
        client: (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
        start: impl FnOnce() -> Result<Connection, NotServed> + Send,
        until: impl Future<Output = ()> + Send,
    ) -> Result<Ended, NotServed> {
        let session = Arc::new(Session::default());
        // One of several sessions has an end of our own as its client. What comes from there was bounded where it came in, and
        // may have become longer since; a session that others share must not end over it.
        let longest = if self.gate.is_some() { usize::MAX } else { limits.line_bytes };
        let (client_out, client_writer) = Outbox::new(client.1, limits.unread_bytes);
        let downstream = Arc::new(Downstream::new(client_out.clone()));
        let behind = Arc::new(OnceLock::new());
        // Without a gate, nothing is started.
        let rounds = self.elicitation.and_then(Rounds::new).map(Arc::new);
        let chain = self.chain(&session, &downstream, rounds.as_ref());
        let (episodes, witness) = self.episodes(&chain)?.unzip();
        let gate = match witness {
            Some(witness) => self.own_gate(&behind, witness).await?,
            None => self.own_gate(&behind, chain).await?,
        };
        episodes.iter().for_each(|episodes| episodes.behind(&gate));

        let Connection { input: server_in, output: server_out, process } = start()?;
        let process = process.map(Arc::new);
        let (to_server, server_writer) = Outbox::new(server_in, limits.unread_bytes);
        let upstream = Arc::new(Upstream::new(to_server.clone(), limits, Arc::clone(&session)));
        // INVARIANT: it is set once, here.
        let _ = behind.set(Arc::clone(&upstream));
        let errors = self.config.servers.get(&self.server).map(|server| server.errors).unwrap_or_default();
        let client_session = self.of_client.unwrap_or_else(|| self.session.clone());
        let user_turns = UserTurns::new(self.config.user_turn.clone(), client_session.clone());
        let shared = Arc::new(Shared {
            gate,
            errors,
            user_turns,
            server: self.server,
            session,
            upstream,
            downstream,
            passages: self.passages,
            rounds,
            show_blocked: self.show_blocked,
            client_session,
            session_turn: self.session,
            turns: AtomicU64::new(0),
            calls: Default::default(),
            from_client: Relayed::new(limits.open_requests),
            from_server: Relayed::new(limits.open_requests),
            episodes,
            left_out: Default::default(),
            unlisted: Default::default(),
        });
        let mut reader = JoinSet::new();
        reader.spawn_in_span(from_server::read(Arc::clone(&shared), server_out, process.clone(), limits.line_bytes));
        let mut reloading = JoinSet::new();
        if let Some(reload) = self.reload {
            reloading.spawn_in_span(reload_when(Arc::clone(&shared), reload));
        }
        if let Some(policy) = self.policy {
            reloading.spawn_in_span(notify_when(Arc::clone(&shared), policy));
        }

        let mut running = Running::new();
        let ended = relay(&shared, client.0, (longest, limits.start), &mut running, until).await;
        drop(reloading);
        drain(&shared, &ended, &mut running, self.drain).await;
        // Their outcomes are in the log with this, also of those that were broken off.
        running.shutdown().await;
        let episode = shared.episodes.as_ref().and_then(|episodes| episodes.close(&ended.unquoted()));
        episode.iter().for_each(|episode| warn!("{episode}"));
        shared.user_turns.end(&shared.gate);
        let recorded = shared.gate.turn_is_over(&shared.session_turn, &ended.unquoted()).await;

        to_server.end();
        server_writer.finish(limits.stop).await;
        if let Some(process) = process {
            process.stop().await;
        }
        // What it wrote before its end still reaches the client.
        let _ = timeout(LAST_WORDS, reader.join_next()).await;
        reader.shutdown().await;
        client_out.end();
        client_writer.finish(LAST_WORDS).await;
        Ok(recorded.map_or_else(Ended::Unrecorded, |()| ended))
    }

    fn chain(&self, session: &Arc<Session>, downstream: &Arc<Downstream>, rounds: Option<&Arc<Rounds>>) -> Chain {
        let client = self.elicitation.map(|least| Elicitation {
            client: Arc::clone(downstream),
            session: Arc::clone(session),
            rounds: rounds.cloned(),
            least,
        });
        Chain { client, then: Arc::clone(&self.confirmer) }
    }

    fn episodes(&mut self, chain: &Chain) -> Result<Option<(Arc<Episodes>, Witness)>, NotServed> {
        let Some(recording) = self.episode.take() else { return Ok(None) };
        let clock = self.clock.clone().unwrap_or_else(|| Arc::new(SystemClock::default()));
        let about = About { session: &self.session, server: &self.server, config: &self.config, clock };
        Episodes::new(recording, about, Arc::new(chain.clone())).map(Some).map_err(NotServed::Taken)
    }

    /// The gate of this session: a new one, or one beside that of all sessions.
    async fn own_gate(
        &self,
        behind: &Arc<OnceLock<Arc<Upstream>>>,
        confirmer: impl Confirmer,
    ) -> Result<Gate, NotServed> {
        match &self.gate {
            None => self.new_gate(confirmer, Behind(Arc::clone(behind))),
            Some(gate) => {
                let server = |name: &ServerName| -> Arc<dyn ToolServer> {
                    if *name == self.server { Arc::new(Behind(Arc::clone(behind))) } else { Arc::new(Absent) }
                };
                let servers: BTreeMap<_, _> =
                    self.config.servers.keys().map(|name| (name.clone(), server(name))).collect();
                Ok(gate.beside(servers, Arc::new(confirmer)).await?)
            }
        }
    }

    /// The gate of several sessions, none of which it calls a tool for itself.
    pub(crate) fn common_gate(&self) -> Result<Gate, NotServed> {
        self.new_gate(Nobody, Absent)
    }

    fn new_gate(&self, confirmer: impl Confirmer, server: impl ToolServer) -> Result<Gate, NotServed> {
        if !self.config.servers.contains_key(&self.server) {
            return Err(NotServed::UnknownServer(self.server.clone()));
        }
        let mut builder = Gate::builder(self.config.clone()).confirmer(confirmer).server(self.server.clone(), server);
        for name in self.config.servers.keys().filter(|name| **name != self.server) {
            builder = builder.server(name.clone(), Absent);
        }
        if let Some(audit) = &self.audit {
            builder = builder.audit(audit.clone());
        }
        if let Some(clock) = &self.clock {
            builder = builder.clock(Arc::clone(clock));
        }
        Ok(builder.build()?)
    }
}

/// Reads what the client sends, until the session ends.
async fn relay(
    shared: &Arc<Shared>,
    input: impl AsyncRead + Unpin,
    (limit, start): (usize, Duration),
    running: &mut Running,
    until: impl Future<Output = ()>,
) -> Ended {
    let mut lines = Lines::new(input, limit);
    // A server that never answers would have its client wait for ever, and see nothing of the reason.
    let silent = async {
        shared.session.unanswered(start).await;
        let silent = Lost::Silent(start.as_secs());
        shared.upstream.end(silent.clone());
        silent
    };
    tokio::pin!(until, silent);
    loop {
        consume_budget().await;
        let line = tokio::select! {
            biased;
            () = &mut until => return Ended::Asked,
            lost = shared.upstream.over() => return lost.into(),
            () = shared.downstream.gone() => return Ended::Client,
            silent = &mut silent => return silent.into(),
            Some(_) = running.join_next() => continue,
            line = lines.next() => line,
        };
        let line = match line {
            Ok(Some(line)) if line.trim_ascii().is_empty() => continue,
            Ok(Some(line)) => line,
            Ok(None) => return Ended::Client,
            Err(Broken::Io(error)) => return Ended::BadClient(omen_gate::bounded(&error.to_string())),
            Err(Broken::Oversized) => {
                let why = format!("it sent a message larger than {limit} bytes");
                shared.downstream.send(crate::refusal::error("null", omen_mcp::frame::INVALID_REQUEST, &why)).await;
                return Ended::BadClient(why);
            }
        };
        // A server that does not read holds up the client, and nothing else.
        tokio::select! {
            biased;
            () = &mut until => return Ended::Asked,
            lost = shared.upstream.over() => return lost.into(),
            () = shared.downstream.gone() => return Ended::Client,
            silent = &mut silent => return silent.into(),
            () = from_client::line(shared, line, running) => {}
        }
    }
}

/// Lets what runs come to its end, for some time.
async fn drain(shared: &Shared, ended: &Ended, running: &mut Running, limit: Duration) {
    let rest = async {
        while running.join_next().await.is_some() {}
        // Those that are passed on as they are, while there is a server that could answer.
        while !shared.from_client.is_idle() && shared.upstream.lost().is_none() {
            tokio::time::sleep(POLL).await;
        }
    };
    tokio::select! {
        biased;
        () = shared.downstream.gone() => {}
        _ = timeout(limit, rest) => {}
    }
    let lost = match ended {
        Ended::Asked => Some(Lost::Stopped),
        _ => shared.upstream.lost(),
    };
    if let Some(lost) = lost {
        let _ = timeout(LAST_WORDS, from_client::give_up(shared, &lost)).await;
    }
}

/// A server of the configuration that this session is not about.
#[derive(Clone, Copy, Debug)]
struct Absent;

#[async_trait]
impl ToolServer for Absent {
    async fn list(&self) -> Result<Vec<Tool>, Fault> {
        Err(Fault::unreachable("this session has another server"))
    }

    async fn call(&self, _: Dispatch) -> Result<Answer, Fault> {
        Err(Fault::unreachable("this session has another server"))
    }
}

const LAST_WORDS: Duration = Duration::from_secs(1);
const POLL: Duration = Duration::from_millis(5);
