//! Beginning, running and ending of a session with a server.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use omen_gate::confirm::Confirmer;
use omen_gate::mcp::ServerProcess;
use omen_gate::server::ToolServer;
use omen_gate::{Fault, Gate, ServerName, TurnId};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::{Instrument as _, Span, info_span};

use super::from_server;
use super::shared::Hub;
use crate::client::Rounds;
use crate::end::{ConnectionEnd, Ended};
use crate::error::NotServed;
use crate::server::{Absent, Behind, Connection, Output, ServerSession, SpawnInSpan as _, Upstream};
use omen_mcp::outbox::{Outbox, OutboxWriter};

/// Begins a session with a server that was started or connected to. It replaces the previous session.
///
/// # Errors
/// If there is no gate for the session.
pub(crate) async fn start(hub: &Arc<Hub>, place: usize, connection: Connection) -> Result<(), NotServed> {
    let Some(member) = hub.members.get(place) else { return Ok(()) };
    let number = hub.begun.fetch_add(1, Ordering::Relaxed) + 1;
    // An only server has no turns other than its client's.
    let turn = if hub.is_alone() { Ok(hub.turn.clone()) } else { TurnId::new(format!("{}.m{number}", hub.turn)) };
    // INVARIANT: the name of a session leaves room for a number.
    let turn = turn.map_err(|error| NotServed::Server {
        server: member.name.clone(),
        fault: Fault::unreachable(&error.to_string()),
    })?;
    let span = if hub.is_alone() { Span::current() } else { info_span!("server", name = %member.name) };
    let limits = *member.source.limits();
    let settings = Arc::clone(&hub.settings);
    let rounds = settings.elicitation.and_then(Rounds::new).map(Arc::new);
    let chain = hub.chain(rounds.as_ref());
    let confirmer: Arc<dyn Confirmer> = match &hub.episodes {
        Some(episodes) => Arc::new(episodes.witness(Arc::new(chain))),
        None => Arc::new(chain),
    };
    let behind = Arc::new(OnceLock::new());
    let gate = gate_of(hub, &member.name, &behind, confirmer).await?;

    let Connection { input, output, process } = connection;
    let (to_server, writer) = Outbox::new(input, limits.unread_bytes);
    let upstream = Arc::new(Upstream::new(to_server.clone(), limits, Arc::clone(&hub.session)));
    // INVARIANT: it is set only once, here.
    let _ = behind.set(Arc::clone(&upstream));
    let session = Arc::new(ServerSession {
        errors: settings.config.servers.get(&member.name).map(|server| server.errors).unwrap_or_default(),
        settings,
        place,
        number,
        server: member.name.clone(),
        gate,
        upstream,
        user_turns: Arc::clone(&hub.user_turns),
        rounds,
        turn,
        client_session: hub.client_session.clone(),
        turns: AtomicU64::new(0),
        running: Default::default(),
        episodes: hub.episodes.clone(),
        left_out: Default::default(),
        unlisted: Default::default(),
        span: span.clone(),
        ending: watch::Sender::new(None),
    });
    hub.listings.forget(place);
    member.begin(Arc::clone(&session));
    let ends = ServerEnds { process: process.map(Arc::new), to_server, writer };
    hub.sessions().spawn(serve(Arc::clone(hub), session, output, ends).instrument(span));
    Ok(())
}

/// Creates a gate beside the proxy's, which calls only this server's tools.
async fn gate_of(
    hub: &Hub,
    server: &ServerName,
    behind: &Arc<OnceLock<Arc<Upstream>>>,
    confirmer: Arc<dyn Confirmer>,
) -> Result<Gate, NotServed> {
    let of = |name: &ServerName| -> Arc<dyn ToolServer> {
        if name == server { Arc::new(Behind(Arc::clone(behind))) } else { Arc::new(Absent) }
    };
    let servers: BTreeMap<_, _> = hub.settings.config.servers.keys().map(|name| (name.clone(), of(name))).collect();
    Ok(hub.gate.beside(servers, confirmer).await?)
}

/// Resources closed when the session ends.
struct ServerEnds {
    process: Option<Arc<ServerProcess>>,
    to_server: Outbox,
    writer: OutboxWriter,
}

/// Runs the session to its end. When this returns, its outcomes are in the log, and the server is not running.
async fn serve(hub: Arc<Hub>, session: Arc<ServerSession>, output: Output, ends: ServerEnds) {
    let ServerEnds { process, to_server, writer } = ends;
    let limits = *session.upstream.limits();
    let mut reader = JoinSet::new();
    let reading = from_server::read(Arc::clone(&hub), Arc::clone(&session), output, process.clone(), limits.line_bytes);
    reader.spawn_in_span(reading);
    let mut ending = session.ending.subscribe();
    let mut ended = tokio::select! {
        biased;
        // The sender is part of the session.
        Ok(ending) = ending.wait_for(Option::is_some) => ending.clone().unwrap_or(Ended::Client),
        lost = session.upstream.over() => lost.into(),
    };
    // From here on, nobody sends it further requests.
    let was_there =
        hub.members.get(session.place).is_some_and(|member| member.lose(session.number, &ended.to_string()));
    drain(&hub, &session, &ended).await;
    if hub.is_alone() {
        hub.close_episodes(&ended);
        hub.user_turns.end(&hub.gate);
    }
    session.gate.end_session(&session.turn, ended.of_session());
    if let Err(unrecorded) = session.gate.turn_is_over(&session.turn, &ended.unquoted()).await {
        ended = Ended::Unrecorded(unrecorded);
    }
    to_server.end();
    writer.finish(limits.stop).await;
    if let Some(process) = process {
        process.stop().await;
    }
    // Output from before the server's end still reaches the client.
    let _ = timeout(LAST_WORDS, reader.join_next()).await;
    reader.shutdown().await;
    session.upstream.end(ConnectionEnd::Stopped);
    // Nobody receives this once the client's session is over.
    let _ = hub.ended.send((session.place, was_there, ended));
}

/// Lets running work finish for a limited time. When this returns, all outcomes are in the log, including those of aborted work.
async fn drain(hub: &Hub, session: &ServerSession, ended: &Ended) {
    let mut running = std::mem::take(&mut *session.running());
    let rest = async {
        while running.join_next().await.is_some() {}
        // Requests passed on unchanged, while there is a server that could answer.
        while !hub.open.is_idle(session.place) && session.upstream.lost().is_none() {
            sleep(POLL).await;
        }
    };
    tokio::select! {
        biased;
        () = hub.client.gone() => {}
        _ = timeout(hub.settings.drain, rest) => {}
    }
    let lost = match ended {
        Ended::Asked => Some(ConnectionEnd::Stopped),
        _ => session.upstream.lost(),
    };
    if let Some(lost) = lost {
        let _ = timeout(LAST_WORDS, hub.give_up(session, &lost)).await;
    }
    running.shutdown().await;
    // A task that began at the moment when the session ended.
    let mut late = std::mem::take(&mut *session.running());
    late.shutdown().await;
}

const LAST_WORDS: Duration = Duration::from_secs(1);
const POLL: Duration = Duration::from_millis(5);
