//! State shared by the client's session and the sessions with its servers.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use omen_base::Mutex;
use omen_gate::mcp::ServerLimits;
use omen_gate::{Blocked, CallRefusal, Gate, TurnId, bounded};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tracing::warn;

use super::member::Member;
use super::open_requests::OpenRequests;
use super::resources::Listings;
use crate::client::{Chain, Downstream, Elicitation, Rounds, UserTurns, names};
use crate::end::{ConnectionEnd, Ended};
use crate::episode::Episodes;
use crate::messages::refusal::{self, INTERNAL_ERROR, RefusalContext};
use crate::server::ServerSession;
use crate::settings::Settings;
use omen_mcp::handshake::{Era, Session};

/// State shared by the client's session and the sessions with its servers.
pub(crate) struct Hub {
    pub(crate) settings: Arc<Settings>,
    /// Gate of the proxy. Each session with a server has another gate beside it.
    pub(crate) gate: Gate,
    /// Session of the client. With several servers, the names of their sessions begin with it.
    pub(crate) turn: TurnId,
    /// Session under which the gate counts the client's calls.
    pub(crate) client_session: TurnId,
    pub(crate) session: Arc<Session>,
    pub(crate) client: Arc<Downstream>,
    pub(crate) members: Vec<Member>,
    pub(crate) open: OpenRequests,
    pub(crate) listings: Listings,
    pub(crate) user_turns: Arc<UserTurns>,
    /// Episodes of the session, if any are written.
    pub(crate) episodes: Option<Arc<Episodes>>,
    pub(super) limits: Limits,
    /// Messages that were logged once and are not repeated.
    pub(super) noted: Mutex<BTreeSet<String>>,
    /// Number of sessions with servers that have begun.
    pub(crate) begun: AtomicU64,
    pub(super) sessions: Mutex<JoinSet<()>>,
    /// Channel for ended sessions: index of the server, whether the session was the running one, and how it ended.
    pub(crate) ended: mpsc::UnboundedSender<EndedServer>,
}

pub(crate) type EndedServer = (usize, bool, Ended);

/// Limits shared by all servers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Maximum length of a client message.
    pub(super) line_bytes: usize,
    pub(super) open_requests: usize,
    /// Limits of each server's list.
    pub(super) items: usize,
    pub(super) pages: usize,
    pub(super) list_bytes: usize,
    /// Maximum time for a handshake or the list of one server.
    pub(super) answer: Duration,
}

impl Limits {
    pub(super) fn new(of_each: &ServerLimits) -> Self {
        Self {
            line_bytes: of_each.line_bytes,
            open_requests: of_each.open_requests,
            items: of_each.tools.max(MOST_ITEMS),
            pages: of_each.pages,
            list_bytes: of_each.list_bytes,
            answer: of_each.start,
        }
    }
}

impl fmt::Debug for Hub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hub").field("turn", &self.turn).finish_non_exhaustive()
    }
}

impl Hub {
    /// Returns whether there is only one server, to which everything goes.
    pub(crate) fn is_alone(&self) -> bool {
        self.members.len() == 1
    }

    /// Returns the tasks in which the sessions with servers run.
    pub(crate) fn sessions(&self) -> MutexGuard<'_, JoinSet<()>> {
        let mut sessions = self.sessions.lock();
        while sessions.try_join_next().is_some() {}
        sessions
    }

    /// Returns the confirmers that a call is offered to, in order.
    pub(crate) fn chain(&self, rounds: Option<&Arc<Rounds>>) -> Chain {
        chain(&self.settings, &self.client, &self.session, rounds)
    }

    /// Closes the session's episodes, if any are written.
    pub(crate) fn close_episodes(&self, ended: &Ended) {
        let note = self.episodes.as_ref().and_then(|episodes| episodes.close(&ended.unquoted()));
        note.iter().for_each(|note| warn!("{note}"));
    }

    /// Answers each request that waits for a server that is gone.
    pub(crate) async fn give_up(&self, session: &ServerSession, lost: &ConnectionEnd) {
        for id in self.open.unanswered(session.place) {
            let why = format!("the server is gone: {lost}");
            self.client.send(refusal::error(&id.raw(), INTERNAL_ERROR, &why)).await;
        }
    }

    /// Logs a message that would otherwise be repeated with each list.
    pub(super) fn note_once(&self, what: String) {
        let mut noted = self.noted.lock();
        if noted.len() >= MOST_NOTED {
            noted.clear();
        }
        if noted.insert(what.clone()) {
            warn!("{what}");
        }
    }

    /// Returns the indices of the servers that can be reached.
    pub(super) fn live(&self) -> Vec<usize> {
        let live = self.members.iter().enumerate().filter(|(_, member)| member.is_live());
        live.map(|(place, _)| place).collect()
    }

    pub(super) fn names(&self) -> String {
        names::shown(self.members.iter().map(|member| &member.name))
    }

    /// Answers a client request with a protocol error.
    pub(super) async fn refuse(&self, method: &str, raw_id: &str, code: i64, why: &str) {
        warn!("refused `{}` of the client: {why}", bounded(method));
        self.client.send(refusal::error(raw_id, code, why)).await;
    }

    /// Records why a call reaches no server, and returns the result that says so.
    pub(super) async fn refused_call(&self, raw_id: &str, era: Era, why: Blocked) -> Vec<u8> {
        warn!(code = %why.code, turn = %self.turn, "refused a call: {}: {}", why.code, why.unquoted());
        let why = match self.gate.refused(&self.turn, &why).await {
            Ok(()) => why,
            Err(unrecorded) => unrecorded,
        };
        // Which tool it would have been is not known, so neither is what it promises.
        let at = RefusalContext { id: raw_id, turn: &self.turn, call: None, era, promises: false };
        refusal::result(&CallRefusal::from(why), &at)
    }
}

pub(super) fn chain(
    settings: &Settings,
    client: &Arc<Downstream>,
    session: &Arc<Session>,
    rounds: Option<&Arc<Rounds>>,
) -> Chain {
    let client = settings.elicitation.map(|least| Elicitation {
        client: Arc::clone(client),
        session: Arc::clone(session),
        rounds: rounds.cloned(),
        least,
    });
    Chain { client, then: Arc::clone(&settings.confirmer) }
}

const MOST_NOTED: usize = 4096;

/// Maximum number of resources or prompts that a server may list; its tools have a separate limit.
const MOST_ITEMS: usize = 10_000;
