//! What the client's session and the sessions with its servers share.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use omen_gate::{Blocked, Gate, TurnId, bounded};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tracing::warn;

use super::member::Member;
use super::names;
use super::open::Open;
use super::resources::Listings;
use crate::downstream::Downstream;
use crate::end::Ended;
use crate::proxy::Proxy;
use crate::refusal::{self, Place, Refusal};
use omen_mcp::handshake::{Era, Session};

pub(super) struct Hub {
    pub(super) proxy: Proxy,
    pub(super) gate: Gate,
    /// The session of the client. Those with the servers have names that begin with it.
    pub(super) turn: TurnId,
    pub(super) session: Session,
    pub(super) client: Downstream,
    pub(super) members: Vec<Member>,
    pub(super) open: Open,
    pub(super) listings: Listings,
    pub(super) limits: Limits,
    /// What was noted once, and is not again.
    noted: Mutex<BTreeSet<String>>,
    /// How many sessions with servers have begun.
    pub(super) begun: AtomicU64,
    pub(super) sessions: Mutex<JoinSet<()>>,
    /// The number of a server, that of its session, and how it ended.
    pub(super) ended: mpsc::UnboundedSender<(usize, u64, Ended)>,
    pub(super) stop: watch::Sender<bool>,
}

/// What all servers together are given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The longest message of the client.
    pub(super) line_bytes: usize,
    pub(super) unread_bytes: usize,
    pub(super) open_requests: usize,
    /// Of each server's list.
    pub(super) items: usize,
    pub(super) pages: usize,
    pub(super) list_bytes: usize,
    /// How long a handshake, or the list of one server, may take.
    pub(super) answer: Duration,
}

impl fmt::Debug for Hub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hub").field("turn", &self.turn).finish_non_exhaustive()
    }
}

impl Hub {
    #[expect(clippy::too_many_arguments, reason = "it is put together in one place")]
    pub(super) fn new(
        proxy: Proxy,
        gate: Gate,
        turn: TurnId,
        client: Downstream,
        members: Vec<Member>,
        limits: Limits,
        ended: mpsc::UnboundedSender<(usize, u64, Ended)>,
        stop: watch::Sender<bool>,
    ) -> Arc<Self> {
        Arc::new(Self {
            proxy,
            gate,
            turn,
            session: Session::default(),
            client,
            members,
            open: Open::new(limits.open_requests),
            listings: Listings::default(),
            limits,
            noted: Mutex::default(),
            begun: AtomicU64::new(0),
            sessions: Mutex::default(),
            ended,
            stop,
        })
    }

    /// Logs something that would otherwise be repeated with each list.
    pub(super) fn note_once(&self, what: String) {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.len() >= MOST_NOTED {
            noted.clear();
        }
        if noted.insert(what.clone()) {
            warn!("{what}");
        }
    }

    /// The servers that can be reached, by their numbers.
    pub(super) fn live(&self) -> Vec<usize> {
        let live = self.members.iter().enumerate().filter(|(_, member)| member.is_live());
        live.map(|(number, _)| number).collect()
    }

    pub(super) fn member(&self, name: &str) -> Option<usize> {
        self.members.iter().position(|member| member.name.as_str() == name)
    }

    pub(super) fn names(&self) -> String {
        names::shown(self.members.iter().map(|member| &member.name))
    }

    /// Answers a request of the client with an error of the protocol.
    pub(super) async fn refuse(&self, method: &str, raw_id: &str, code: i64, why: &str) {
        warn!("refused `{}` of the client: {why}", bounded(method));
        self.client.send(refusal::error(raw_id, code, why)).await;
    }

    /// Records why a call reaches no server, and gives the result that says so.
    pub(super) async fn refused_call(&self, raw_id: &str, era: Era, why: Blocked) -> Vec<u8> {
        warn!(code = %why.code, turn = %self.turn, "refused a call: {}: {}", why.code, why.unquoted());
        let why = self.recorded(why).await;
        // Which tool it would have been is not known, so neither is what it promises.
        Refusal::from(why).result(&Place { id: raw_id, turn: &self.turn, call: None, era, promises: false })
    }

    /// Records a refusal that belongs to no call.
    pub(super) async fn recorded(&self, why: Blocked) -> Blocked {
        match self.gate.refused(&self.turn, &why).await {
            Ok(()) => why,
            Err(unrecorded) => unrecorded,
        }
    }
}

const MOST_NOTED: usize = 4096;
