//! State shared by both directions of a session with a server.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard};

use omen_base::Mutex;
use omen_gate::config::ServerErrors;
use omen_gate::order::owed_line;
use omen_gate::{BadName, Blocked, Gate, ServerName, TurnId};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};
use tracing::{Instrument as _, Span, warn};

use super::allowlist_check::AllowlistCheck;
use super::upstream::Upstream;
use crate::client::{Rounds, UserTurns};
use crate::end::Ended;
use crate::episode::Episodes;
use crate::messages::refusal;
use crate::settings::Settings;

pub(crate) struct ServerSession {
    pub(crate) settings: Arc<Settings>,
    /// Index of the server among those of the client.
    pub(crate) place: usize,
    /// Number of this session among those of the client's session.
    pub(crate) number: u64,
    pub(crate) server: ServerName,
    pub(crate) gate: Gate,
    pub(crate) upstream: Arc<Upstream>,
    /// Form in which the client sees the server's errors.
    pub(crate) errors: ServerErrors,
    /// Turns of the user that calls are part of.
    pub(crate) user_turns: Arc<UserTurns>,
    /// Rounds, if the client may ask its user.
    pub(crate) rounds: Option<Arc<Rounds>>,
    /// Turn of entries that belong to no call.
    pub(crate) turn: TurnId,
    /// Session whose calls `session_calls` limits: the client's, whichever of its servers this is.
    pub(crate) client_session: TurnId,
    pub(crate) turns: AtomicU64,
    /// Calls and lists being judged.
    pub(crate) running: Mutex<JoinSet<()>>,
    /// Episodes of the client's session, if any are written.
    pub(crate) episodes: Option<Arc<Episodes>>,
    /// Tools left out of a list, with the reasons: each is recorded only once.
    pub(crate) left_out: Mutex<BTreeSet<(String, String)>>,
    pub(crate) unlisted: AllowlistCheck,
    /// Span in which messages about the server are logged.
    pub(crate) span: Span,
    /// How the client's session, or this server's part in it, has ended.
    pub(crate) ending: watch::Sender<Option<Ended>>,
}

impl fmt::Debug for ServerSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerSession").field("server", &self.server).finish_non_exhaustive()
    }
}

impl ServerSession {
    /// Returns a new turn for a call: a number appended to the name of the session.
    pub(crate) fn next_turn(&self) -> Result<TurnId, BadName> {
        let number = self.turns.fetch_add(1, Ordering::Relaxed) + 1;
        TurnId::new(format!("{}.{number}", self.turn))
    }

    /// Returns the calls and lists being judged, without those that are over.
    pub(crate) fn running(&self) -> MutexGuard<'_, JoinSet<()>> {
        let mut running = self.running.lock();
        while running.try_join_next().is_some() {}
        running
    }

    /// Ends the session unless it has ended by itself. The first reason counts.
    pub(crate) fn end(&self, ended: &Ended) {
        self.ending.send_if_modified(|ending| {
            let is_first = ending.is_none();
            if is_first {
                *ending = Some(ended.clone());
            }
            is_first
        });
    }

    /// Records the refusal of a message that is not a call, and returns the line that says so.
    pub(crate) async fn refused(&self, raw_id: &str, why: Blocked) -> Vec<u8> {
        self.span.in_scope(|| warn!(code = %why.code, "{}: {}", why.code, why.unquoted()));
        refusal::not_passed(raw_id, &self.recorded(&self.turn, why).await)
    }

    /// Returns what the client's session owes under the order rules; empty if it owes nothing.
    pub(crate) fn owed_line(&self) -> String {
        owed_line(&self.gate.owed(&self.client_session))
    }

    /// Records a refusal and returns it. If it cannot be recorded, returns that failure instead (A1).
    pub(crate) async fn recorded(&self, turn: &TurnId, why: Blocked) -> Blocked {
        match self.gate.refused(turn, &why).await {
            Ok(()) => why,
            Err(unrecorded) => unrecorded,
        }
    }

    /// Returns whether something is left out of a list for the first time.
    pub(super) fn is_new(&self, tool: &str, why: &str) -> bool {
        let mut seen = self.left_out.lock();
        // Memory is bounded even if a server invents names without end.
        if seen.len() >= MOST_LEFT_OUT {
            seen.clear();
        }
        seen.insert((tool.to_owned(), why.to_owned()))
    }
}

/// Starts tasks in the span of their caller, so that their log messages show their origin.
pub(crate) trait SpawnInSpan<T> {
    fn spawn_in_span(&mut self, task: impl Future<Output = T> + Send + 'static) -> AbortHandle;
}

impl<T: Send + 'static> SpawnInSpan<T> for JoinSet<T> {
    fn spawn_in_span(&mut self, task: impl Future<Output = T> + Send + 'static) -> AbortHandle {
        self.spawn(task.in_current_span())
    }
}

const MOST_LEFT_OUT: usize = 4096;
