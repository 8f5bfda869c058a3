//! Session of a client, from start to end.

use std::sync::Arc;
use std::time::Duration;

use omen_gate::config::PolicyHash;
use omen_gate::mcp::{Broken, Line, Lines, ServerLimits};
use omen_gate::{Blocked, Gate, ServerName, SystemClock, TurnId, bounded};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};
use tokio::task::consume_budget;
use tokio::time::timeout;
use tracing::warn;

use super::answer_tasks::Running;
use super::from_client;
use super::member::Member;
use super::open_requests::OpenRequests;
use super::run_server::start;
use super::shared::{EndedServer, Hub, Limits, chain};
use crate::client::own_requests::cancelled;
use crate::client::{Downstream, UserTurns};
use crate::end::{ConnectionEnd, Ended};
use crate::episode::{ClientNames, Episodes, Recording, SessionContext};
use crate::error::NotServed;
use crate::messages::methods::{PROMPTS, PROMPTS_CHANGED, RESOURCES, RESOURCES_CHANGED, TOOLS_CHANGED};
use crate::messages::refusal::{self, INTERNAL_ERROR};
use crate::server::{ServerSession, Source};
use crate::settings::Settings;
use omen_mcp::frame::INVALID_REQUEST;
use omen_mcp::outbox::{Outbox, OutboxWriter};

/// Session that has not begun.
pub(crate) struct ClientSession {
    pub(crate) settings: Arc<Settings>,
    pub(crate) servers: Vec<(ServerName, Source)>,
    pub(crate) limits: ServerLimits,
    pub(crate) turn: TurnId,
    /// Session under which the gate counts its calls: those of all requests that need no session are counted together.
    pub(crate) client_session: TurnId,
    pub(crate) gate: Gate,
    pub(crate) policy: watch::Receiver<PolicyHash>,
    pub(crate) recording: Option<Recording>,
}

/// Configuration of client sessions.
pub(crate) struct ClientSessions {
    pub(crate) settings: Arc<Settings>,
    pub(crate) servers: Vec<(ServerName, Source)>,
    pub(crate) gate: Gate,
    pub(crate) policy: watch::Receiver<PolicyHash>,
}

impl ClientSessions {
    pub(crate) fn session(&self, turn: TurnId) -> ClientSession {
        ClientSession {
            settings: Arc::clone(&self.settings),
            servers: self.servers.clone(),
            limits: self.limits(),
            client_session: turn.clone(),
            turn,
            gate: self.gate.clone(),
            policy: self.policy.clone(),
            recording: None,
        }
    }

    /// Returns the limits on the client's messages, which all of its servers must accept.
    pub(crate) fn limits(&self) -> ServerLimits {
        let all = self.servers.iter().map(|(_, source)| source.limits());
        all.copied().min_by_key(|limits| limits.line_bytes).unwrap_or_default()
    }
}

pub(crate) enum ClientInput {
    /// Lines of a stream, which are bounded when read.
    Lines(Lines<Box<dyn AsyncRead + Send + Unpin>>),
    /// Messages of a transport that bounds them itself.
    Messages(mpsc::Receiver<Line>),
}

impl ClientInput {
    /// Returns the next message, or `None` at the end. The future may be dropped without losing a message.
    async fn next(&mut self) -> Result<Option<Vec<u8>>, Broken> {
        match self {
            Self::Lines(lines) => lines.next().await,
            Self::Messages(messages) => Ok(messages.recv().await.map(Line::into_message)),
        }
    }
}

type EndedServers = mpsc::UnboundedReceiver<EndedServer>;

impl ClientSession {
    /// Serves a client on streams until its session ends.
    ///
    /// # Errors
    /// As for [`serve`](Self::serve).
    pub(crate) async fn serve_streams(
        self,
        (input, output): (Box<dyn AsyncRead + Send + Unpin>, Box<dyn AsyncWrite + Send + Unpin>),
        until: impl Future<Output = ()> + Send,
    ) -> Result<Ended, NotServed> {
        let input = ClientInput::Lines(Lines::new(input, self.limits.line_bytes));
        let output = Outbox::new(output, self.limits.unread_bytes);
        self.serve(input, output, until).await
    }

    /// Serves the client until its session ends. Then the log contains the outcome of every call made, and no server is running.
    ///
    /// # Errors
    /// If the session did not begin. No server is running then.
    pub(crate) async fn serve(
        self,
        mut input: ClientInput,
        (client_out, client_writer): (Outbox, OutboxWriter),
        until: impl Future<Output = ()> + Send,
    ) -> Result<Ended, NotServed> {
        let Self { settings, servers, limits, turn, client_session, gate, policy, recording } = self;
        let (session, downstream) = (Arc::default(), Arc::new(Downstream::new(client_out.clone())));
        let episodes = recording.map(|recording| {
            let names = ClientNames::new(servers.iter().map(|(name, _)| name));
            let clock = settings.clock.clone().unwrap_or_else(|| Arc::new(SystemClock::default()));
            let about = SessionContext { session: &turn, names, config: &settings.config, clock, gate: gate.clone() };
            Episodes::new(recording, about, Arc::new(chain(&settings, &downstream, &session, None)))
        });
        let mut connections = Vec::new();
        for (server, source) in &servers {
            let connect = source.connect();
            // Servers that are already running end when dropped.
            connections.push(connect.map_err(|fault| NotServed::Server { server: server.clone(), fault })?);
        }
        let (ended, mut ends) = mpsc::unbounded_channel();
        let limits = Limits::new(&limits);
        let hub = Arc::new(Hub {
            user_turns: Arc::new(UserTurns::new(settings.config.user_turn.clone(), turn.clone())),
            settings,
            gate,
            turn,
            client_session,
            session,
            client: downstream,
            members: servers.into_iter().map(|(name, source)| Member::new(name, source)).collect(),
            open: OpenRequests::new(limits.open_requests),
            listings: Default::default(),
            episodes,
            limits,
            noted: Default::default(),
            begun: Default::default(),
            sessions: Default::default(),
            ended,
        });
        let _sessions = Sessions(Arc::clone(&hub));
        for (place, connection) in connections.into_iter().enumerate() {
            start(&hub, place, connection).await?;
        }

        let mut running = Running::new();
        let ended = relay(&hub, &mut input, &mut running, &mut ends, policy, until).await;
        let unrecorded = drain(&hub, &ended, &mut running, &mut ends).await;
        client_out.end();
        client_writer.finish(LAST_WORDS).await;
        Ok(unrecorded.map_or(ended, Ended::Unrecorded))
    }
}

/// Reads the client's messages until the session ends.
async fn relay(
    hub: &Arc<Hub>,
    input: &mut ClientInput,
    running: &mut Running,
    ends: &mut EndedServers,
    mut policy: watch::Receiver<PolicyHash>,
    until: impl Future<Output = ()>,
) -> Ended {
    let limit = hub.limits.line_bytes;
    // The session ends at once with its only server.
    let only = hub.members.first().filter(|_| hub.is_alone()).and_then(|member| member.session().ok());
    let lost = async || match &only {
        Some(only) => lost(hub, only).await,
        None => std::future::pending().await,
    };
    let lost = lost();
    tokio::pin!(until, lost);
    let mut may_change = true;
    loop {
        consume_budget().await;
        let next = tokio::select! {
            biased;
            () = &mut until => return Ended::Asked,
            lost = &mut lost => return lost.into(),
            Some(ended) = ends.recv() => Next::Ended(ended),
            () = hub.client.gone() => return Ended::Client,
            changed = policy.changed(), if may_change => {
                may_change = changed.is_ok();
                Next::Policy
            }
            Some(_) = running.join_next() => continue,
            line = input.next() => match line {
                Ok(Some(line)) if line.trim_ascii().is_empty() => continue,
                Ok(Some(line)) => Next::Line(line),
                Ok(None) => return Ended::Client,
                Err(Broken::Io(error)) => return Ended::BadClient(bounded(&error.to_string())),
                Err(Broken::Oversized) => {
                    let why = format!("it sent a message larger than {limit} bytes");
                    hub.client.send(refusal::error("null", INVALID_REQUEST, &why)).await;
                    return Ended::BadClient(why);
                }
            },
        };
        let handle = async {
            match next {
                Next::Ended(ended) => return over(hub, ended).await,
                Next::Policy if may_change && hub.session.has_handshake() => {
                    hub.client.send(changed(TOOLS_CHANGED)).await;
                }
                Next::Policy => {}
                Next::Line(line) => from_client::line(hub, line, running).await,
            }
            None
        };
        // A client that does not read, or whose only server does not, blocks only itself.
        tokio::select! {
            biased;
            () = &mut until => return Ended::Asked,
            lost = &mut lost => return lost.into(),
            () = hub.client.gone() => return Ended::Client,
            ended = handle => if let Some(ended) = ended {
                return ended;
            },
        }
    }
}

enum Next {
    Ended(EndedServer),
    Policy,
    Line(Vec<u8>),
}

/// Returns once the only server is gone. A server that never answers the handshake counts as gone: otherwise its client would
/// wait forever without seeing a reason.
async fn lost(hub: &Hub, only: &ServerSession) -> ConnectionEnd {
    let limit = only.upstream.limits().start;
    tokio::select! {
        biased;
        lost = only.upstream.over() => lost,
        () = hub.session.unanswered(limit) => {
            let silent = ConnectionEnd::Silent(limit.as_secs());
            only.upstream.end(silent.clone());
            silent
        }
    }
}

/// Handles the end of the session with a server: its tools are gone, and everything else continues. Returns how the client's
/// session ends if there is no server left.
async fn over(hub: &Hub, (place, was_there, ended): EndedServer) -> Option<Ended> {
    let member = hub.members.get(place)?;
    if was_there {
        hub.listings.forget(place);
        for number in hub.open.unanswered_by_client(place) {
            hub.client.send(cancelled(number)).await;
        }
        warn!("the server `{}` is gone: {}", member.name, ended.unquoted());
    }
    if let unrecorded @ Ended::Unrecorded(_) = ended {
        return Some(unrecorded);
    }
    if hub.live().is_empty() {
        return Some(match ended {
            // The server was left out.
            Ended::Client | Ended::Asked => Ended::Server("no server is left".to_owned()),
            other => other,
        });
    }
    if was_there && member.took_part() && hub.session.has_handshake() {
        hub.client.send(changed(TOOLS_CHANGED)).await;
        for (list, method) in [(&PROMPTS, PROMPTS_CHANGED), (&RESOURCES, RESOURCES_CHANGED)] {
            if member.has(list.capability) == Some(true) {
                hub.client.send(changed(method)).await;
            }
        }
    }
    None
}

/// Returns the notification that a list has changed.
fn changed(method: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\"}}")
}

/// Lets running work finish for a limited time, and ends all servers. Returns the reason if something was not recorded.
async fn drain(hub: &Hub, ended: &Ended, running: &mut Running, ends: &mut EndedServers) -> Option<Blocked> {
    if *ended != Ended::Asked {
        let rest = async { while running.join_next().await.is_some() {} };
        tokio::select! {
            biased;
            () = hub.client.gone() => {}
            _ = timeout(hub.settings.drain, rest) => {}
        }
    }
    end_sessions(hub, ended).await;
    running.shutdown().await;
    // A handshake may have restarted a server in the meantime.
    end_sessions(hub, ended).await;
    let mut unrecorded = None;
    while let Ok((_, _, ended)) = ends.try_recv() {
        if let Ended::Unrecorded(why) = ended {
            unrecorded.get_or_insert(why);
        }
    }
    if hub.is_alone() {
        return unrecorded;
    }
    hub.close_episodes(ended);
    hub.user_turns.end(&hub.gate);
    hub.gate.end_session(&hub.turn, ended.of_session());
    let recorded = hub.gate.turn_is_over(&hub.turn, &ended.unquoted()).await;
    // Requests that are still open get no other answer.
    for place in 0..hub.members.len() {
        for id in hub.open.unanswered(place) {
            let line = refusal::error(&id.raw(), INTERNAL_ERROR, "the session has ended");
            let _ = timeout(LAST_WORDS, hub.client.send(line)).await;
        }
    }
    recorded.err().or(unrecorded)
}

/// Ends the sessions with all servers, and waits until they have ended.
async fn end_sessions(hub: &Hub, ended: &Ended) {
    // If there are several servers, the session with each ends separately, for its own reason.
    let ended = if hub.is_alone() || *ended == Ended::Asked { ended } else { &Ended::Client };
    for session in hub.members.iter().filter_map(|member| member.session().ok()) {
        session.end(ended);
    }
    let mut sessions = std::mem::take(&mut *hub.sessions());
    while sessions.join_next().await.is_some() {}
}

/// Guard that ends the sessions with the servers together with the client's session, however it ends.
struct Sessions(Arc<Hub>);

impl Drop for Sessions {
    fn drop(&mut self) {
        self.0.sessions.lock().abort_all();
        // Each call being judged holds the session in which it is judged.
        for session in self.0.members.iter().filter_map(|member| member.session().ok()) {
            session.running().abort_all();
        }
    }
}

const LAST_WORDS: Duration = Duration::from_secs(1);
