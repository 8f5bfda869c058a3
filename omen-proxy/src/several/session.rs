//! The session of a client with several servers, from its start to its end.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use omen_gate::config::PolicyHash;
use omen_gate::mcp::{Broken, Lines, ServerLimits};
use omen_gate::{Gate, ServerName, TurnId, bounded};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};
use tokio::task::consume_budget;
use tokio::time::timeout;
use tracing::warn;

use super::from_client::{self, Running};
use super::hub::{Hub, Limits};
use super::member::Member;
use super::start::start;
use crate::asked::cancelled;
use crate::downstream::Downstream;
use crate::end::Ended;
use crate::from_client::INTERNAL_ERROR;
use crate::not_served::NotServed;
use crate::proxy::Proxy;
use crate::refusal;
use crate::reload::LIST_CHANGED;
use crate::source::Source;
use omen_mcp::frame::INVALID_REQUEST;
use omen_mcp::outbox::Outbox;

/// A session that has not begun.
pub(crate) struct OfClient {
    pub(super) proxy: Proxy,
    pub(super) servers: Vec<(ServerName, Source)>,
    pub(super) limits: ServerLimits,
    pub(super) turn: TurnId,
    pub(super) gate: Gate,
    pub(super) policy: watch::Receiver<PolicyHash>,
}

type EndedServers = mpsc::UnboundedReceiver<(usize, u64, Ended)>;

impl OfClient {
    /// Its client is an end of our own, which has bounded what it sends.
    pub(crate) fn bounded_by_its_client(mut self) -> Self {
        self.limits.line_bytes = usize::MAX;
        self
    }

    /// Serves it to its end.
    pub(crate) async fn serve(
        self,
        client: (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
        until: impl Future<Output = ()> + Send,
    ) -> Result<Ended, NotServed> {
        let mut connections = Vec::new();
        for (server, source) in &self.servers {
            let connect = source.connect();
            // Those that run already end when they are dropped.
            connections.push(connect.map_err(|fault| NotServed::Server { server: server.clone(), fault })?);
        }
        let drains = self.proxy.drains();
        let (client_out, client_writer) = Outbox::new(client.1, self.limits.unread_bytes);
        let (ended, mut ends) = mpsc::unbounded_channel();
        let stop = watch::Sender::new(false);
        let members = self.servers.into_iter().map(|(name, source)| Member::new(name, source)).collect();
        let downstream = Downstream::new(client_out.clone());
        let limits = limits(&self.limits);
        let hub = Hub::new(self.proxy, self.gate, self.turn, downstream, members, limits, ended, stop);
        let _sessions = Sessions(Arc::clone(&hub));
        for (server, connection) in connections.into_iter().enumerate() {
            start(&hub, server, connection);
        }

        let mut running = Running::new();
        let ended = relay(&hub, client.0, &mut running, &mut ends, self.policy, until).await;
        let drained = drain(&hub, &ended, &mut running, &mut ends, drains).await;
        running.shutdown().await;
        let recorded = hub.gate.turn_is_over(&hub.turn, &ended.unquoted()).await;
        client_out.end();
        client_writer.finish(LAST_WORDS).await;
        Ok(match (recorded, drained) {
            (Err(why), _) | (Ok(()), Some(why)) => Ended::Unrecorded(why),
            (Ok(()), None) => ended,
        })
    }
}

fn limits(of_each: &ServerLimits) -> Limits {
    Limits {
        line_bytes: of_each.line_bytes,
        unread_bytes: of_each.unread_bytes,
        open_requests: of_each.open_requests,
        items: of_each.tools.max(MOST_ITEMS),
        pages: of_each.pages,
        list_bytes: of_each.list_bytes,
        answer: of_each.start,
    }
}

/// Reads what the client sends, until the session ends.
async fn relay(
    hub: &Arc<Hub>,
    input: impl AsyncRead + Unpin,
    running: &mut Running,
    ends: &mut EndedServers,
    mut policy: watch::Receiver<PolicyHash>,
    until: impl Future<Output = ()>,
) -> Ended {
    let limit = hub.limits.line_bytes;
    let mut lines = Lines::new(input, limit);
    tokio::pin!(until);
    let mut may_change = true;
    loop {
        consume_budget().await;
        let next = tokio::select! {
            biased;
            () = &mut until => return Ended::Asked,
            Some((server, session, ended)) = ends.recv() => Next::Ended(server, session, ended),
            () = hub.client.gone() => return Ended::Client,
            changed = policy.changed(), if may_change => {
                may_change = changed.is_ok();
                Next::Policy
            }
            Some(_) = running.join_next() => continue,
            line = lines.next() => match line {
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
                Next::Ended(server, session, ended) => return over(hub, server, session, ended).await,
                Next::Policy if may_change && hub.session.has_handshake() => hub.client.send(LIST_CHANGED).await,
                Next::Policy => {}
                Next::Line(line) => from_client::line(hub, line, running).await,
            }
            None
        };
        // A client that does not read holds up itself, and nothing else.
        tokio::select! {
            biased;
            () = &mut until => return Ended::Asked,
            () = hub.client.gone() => return Ended::Client,
            ended = handle => if let Some(ended) = ended {
                return ended;
            },
        }
    }
}

enum Next {
    Ended(usize, u64, Ended),
    Policy,
    Line(Vec<u8>),
}

/// The session with a server is over: its tools are gone, and the rest goes on. Gives how the client's session ends, if there is
/// no server any more.
async fn over(hub: &Hub, server: usize, session: u64, ended: Ended) -> Option<Ended> {
    let member = hub.members.get(server)?;
    let was_there = member.is_in(session);
    if was_there {
        let why = ended.to_string();
        member.lose(&why);
        hub.listings.forget(server);
        let (waiting, asked) = hub.open.gone(server);
        for id in waiting {
            let why = format!("the server `{}` is gone: {why}", member.name);
            hub.client.send(refusal::error(&id.raw(), INTERNAL_ERROR, &why)).await;
        }
        for number in asked {
            hub.client.send(cancelled(number)).await;
        }
        warn!("the server `{}` is gone: {}", member.name, ended.unquoted());
    }
    if let unrecorded @ Ended::Unrecorded(_) = ended {
        return Some(unrecorded);
    }
    if hub.live().is_empty() {
        return Some(match ended {
            // It was left out.
            Ended::Client | Ended::Asked => Ended::Server("no server is left".to_owned()),
            other => other,
        });
    }
    if was_there && hub.session.has_handshake() {
        hub.client.send(LIST_CHANGED).await;
        for (capability, changed) in CHANGED {
            if member.has(capability) == Some(true) {
                hub.client.send(changed).await;
            }
        }
    }
    None
}

/// Lets what runs come to its end, for some time, and ends all servers. Gives what could not be recorded.
async fn drain(
    hub: &Hub,
    ended: &Ended,
    running: &mut Running,
    ends: &mut EndedServers,
    limit: Duration,
) -> Option<omen_gate::Blocked> {
    if *ended == Ended::Asked {
        hub.stop.send_replace(true);
    } else {
        let rest = async { while running.join_next().await.is_some() {} };
        tokio::select! {
            biased;
            () = hub.client.gone() => {}
            _ = timeout(limit, rest) => {}
        }
        hub.members.iter().for_each(Member::end);
    }
    let mut sessions = std::mem::take(&mut *hub.sessions.lock().unwrap_or_else(PoisonError::into_inner));
    // One whose server does not read has not seen that its client is gone.
    let all_end = async { while sessions.join_next().await.is_some() {} };
    if timeout(limit + LAST_WORDS, all_end).await.is_err() {
        hub.stop.send_replace(true);
    }
    while sessions.join_next().await.is_some() {}
    let mut unrecorded = None;
    while let Ok((server, _, ended)) = ends.try_recv() {
        if let Some(member) = hub.members.get(server) {
            member.lose(&ended.to_string());
        }
        if let Ended::Unrecorded(why) = ended {
            unrecorded.get_or_insert(why);
        }
    }
    // What is still open has no answer any more.
    for server in 0..hub.members.len() {
        let (waiting, _) = hub.open.gone(server);
        for id in waiting {
            let line = refusal::error(&id.raw(), INTERNAL_ERROR, "the session has ended");
            let _ = timeout(LAST_WORDS, hub.client.send(line)).await;
        }
    }
    unrecorded
}

/// The sessions with the servers end with the client's, whatever becomes of it.
struct Sessions(Arc<Hub>);

impl Drop for Sessions {
    fn drop(&mut self) {
        self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }
}

const CHANGED: [(&str, &str); 2] = [
    ("prompts", r#"{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}"#),
    ("resources", r#"{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}"#),
];

/// How many resources or prompts a server may list; its tools have a limit of their own.
const MOST_ITEMS: usize = 10_000;

const LAST_WORDS: Duration = Duration::from_secs(1);
