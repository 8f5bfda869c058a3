//! What the two directions of a session share.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use omen_gate::config::ServerErrors;
use omen_gate::{BadName, Gate, ServerName, TurnId};
use tokio::task::{AbortHandle, JoinSet};
use tracing::Instrument as _;

use crate::downstream::Downstream;
use crate::episode::Episodes;
use crate::mrtr::Rounds;
use crate::policy::Passages;
use crate::relayed::Relayed;
use crate::unlisted::Unlisted;
use crate::upstream::Upstream;
use crate::user_turns::UserTurns;
use omen_mcp::Id;
use omen_mcp::handshake::Session;

/// A session: one client, one server, the gate between them.
pub(crate) struct Shared {
    pub(crate) gate: Gate,
    pub(crate) server: ServerName,
    pub(crate) session: Arc<Session>,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) downstream: Arc<Downstream>,
    pub(crate) passages: Passages,
    /// The turns of the user that calls are part of.
    pub(crate) user_turns: UserTurns,
    /// What the client reads of the server's errors.
    pub(crate) errors: ServerErrors,
    /// If the client may ask its user.
    pub(crate) rounds: Option<Arc<Rounds>>,
    pub(crate) show_blocked: bool,
    /// The turn of what belongs to no call.
    pub(crate) session_turn: TurnId,
    /// The session whose calls `session_calls` limits: that of the client, whichever of its servers this is in front of.
    pub(crate) client_session: TurnId,
    pub(crate) turns: AtomicU64,
    /// The requests of the client that are judged. Who takes one out of here has the last word on it.
    pub(crate) calls: Mutex<HashMap<Id, AbortHandle>>,
    pub(crate) from_client: Relayed,
    pub(crate) from_server: Relayed,
    /// The episodes of the session, if they are written.
    pub(crate) episodes: Option<Arc<Episodes>>,
    /// The tools that were left out of a list, and why: each is recorded once.
    pub(crate) left_out: Mutex<BTreeSet<(String, String)>>,
    pub(crate) unlisted: Unlisted,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("server", &self.server).finish_non_exhaustive()
    }
}

impl Shared {
    /// A turn of its own for a call: its number follows the name of the session.
    pub(crate) fn next_turn(&self) -> Result<TurnId, BadName> {
        let number = self.turns.fetch_add(1, Ordering::Relaxed) + 1;
        TurnId::new(format!("{}.{number}", self.session_turn))
    }

    pub(crate) fn calls(&self) -> MutexGuard<'_, HashMap<Id, AbortHandle>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether something is left out of a list for the first time.
    pub(crate) fn is_new(&self, tool: &str, why: &str) -> bool {
        let mut seen = self.left_out.lock().unwrap_or_else(PoisonError::into_inner);
        // A server that makes up names without end is not remembered without end.
        if seen.len() >= MOST_LEFT_OUT {
            seen.clear();
        }
        seen.insert((tool.to_owned(), why.to_owned()))
    }
}

/// Begins tasks in the span of their caller, so that what they log says whose it is.
pub(crate) trait SpawnInSpan<T> {
    fn spawn_in_span(&mut self, task: impl Future<Output = T> + Send + 'static) -> AbortHandle;
}

impl<T: Send + 'static> SpawnInSpan<T> for JoinSet<T> {
    fn spawn_in_span(&mut self, task: impl Future<Output = T> + Send + 'static) -> AbortHandle {
        self.spawn(task.in_current_span())
    }
}

const MOST_LEFT_OUT: usize = 4096;
