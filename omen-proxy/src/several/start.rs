//! How a session with one of several servers begins, runs and ends.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use omen_gate::bounded;
use tokio::io::{duplex, split};
use tokio::time::{sleep, timeout};
use tracing::{Instrument as _, info_span};

use super::from_servers;
use super::hub::Hub;
use crate::connection::Connection;
use crate::end::Ended;
use crate::shared::SpawnInSpan as _;
use omen_mcp::outbox::Outbox;

/// The pipe between the two is short: what waits is bounded elsewhere.
const PIPE: usize = 64 << 10;

/// How long what a session has said last may take to reach the client.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Begins a session with a server that was started or connected to. It takes the place of the one before.
pub(super) fn start(hub: &Arc<Hub>, server: usize, connection: Connection) {
    let Some(member) = hub.members.get(server) else { return };
    let number = hub.begun.fetch_add(1, Ordering::Relaxed) + 1;
    let turn = format!("{}.m{number}", hub.turn);
    let (near, far) = duplex(PIPE);
    let (from, to) = split(far);
    let (out, writer) = Outbox::new(to, hub.limits.unread_bytes);
    member.begin(number, out);
    hub.listings.forget(server);
    let mut stop = hub.stop.subscribe();
    let hub_of_stop = Arc::clone(hub);
    let until = async move {
        let left = async {
            if let Some(member) = hub_of_stop.members.get(server) {
                member.left(number).await;
            }
            sleep(hub_of_stop.proxy.drains()).await;
        };
        tokio::select! {
            // If it cannot be asked to stop any more, it has been.
            _ = stop.wait_for(|stop| *stop) => {}
            // Nobody hears it any more, and it may wait for a server that does not read.
            () = left => {}
        }
    };
    let limits = *member.source.limits();
    let name = member.name.clone();
    let hub_of_task = Arc::clone(hub);
    let mut sessions = hub.sessions.lock().unwrap_or_else(PoisonError::into_inner);
    while sessions.try_join_next().is_some() {}
    sessions.spawn_in_span(async move {
        let hub = hub_of_task;
        let serve = async {
            // INVARIANT: the name of a session leaves room for a number.
            let turn = turn.parse().map_err(|error| format!("{error}"))?;
            let proxy = hub.proxy.with(&name, turn, hub.turn.clone(), hub.gate.clone());
            let ended = proxy.serve_connection(limits, connection, split(near), until);
            let ended = ended.instrument(info_span!("server", %name)).await;
            ended.map_err(|error| error.to_string())
        };
        let reading = from_servers::read(Arc::clone(&hub), server, number, from);
        tokio::pin!(serve, reading);
        let (ended, is_read) = tokio::select! {
            biased;
            ended = &mut serve => (ended, false),
            // Nothing more comes from it, and it ends.
            () = &mut reading => (serve.await, true),
        };
        if !is_read {
            let _ = timeout(LAST_WORDS, reading).await;
        }
        writer.finish(Duration::ZERO).await;
        let ended = ended.unwrap_or_else(|why| Ended::Server(bounded(&why)));
        // Nobody hears it once the client's session is over.
        let _ = hub.ended.send((server, number, ended));
    });
}
