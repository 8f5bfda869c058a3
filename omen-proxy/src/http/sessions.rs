//! Running sessions: how they begin, are found, and end.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use omen_base::Mutex;
use omen_gate::order::SessionEnd;
use omen_gate::{Blocked, TurnId};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tracing::{Instrument as _, info};

use super::limits::HttpLimits;
use super::refused::Refused;
use super::session::{Of, Session};
use crate::end::Ended;
use crate::hub::ClientSessions;

/// Sessions of a proxy, all with one gate and one log.
pub(super) struct Sessions {
    behind: ClientSessions,
    /// Prefix of the names of their turns.
    name: TurnId,
    limits: HttpLimits,
    stop: watch::Sender<bool>,
    room: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Sessions by the ids that their clients send.
    known: HashMap<String, Arc<Session>>,
    /// Session of the requests that need none.
    common: Option<Arc<Session>>,
    begun: u64,
    tasks: JoinSet<()>,
    unrecorded: Option<Blocked>,
}

/// Session not yet known to anyone. Dropping this ends the session.
pub(super) struct Beginning {
    pub(super) session: Arc<Session>,
    sessions: Arc<Sessions>,
    is_known: bool,
}

impl Sessions {
    pub(super) fn new(behind: ClientSessions, name: TurnId, limits: HttpLimits) -> Arc<Self> {
        let room = Arc::new(Semaphore::new(limits.sessions.min(Semaphore::MAX_PERMITS)));
        let stop = watch::Sender::new(false);
        Arc::new(Self { behind, name, limits, stop, room, state: Mutex::default() })
    }

    /// Begins a session for one client.
    pub(super) fn begin(self: &Arc<Self>) -> Result<Beginning, Refused> {
        let session = self.start(&mut self.state.lock(), Of::OneClient)?;
        Ok(Beginning { session, sessions: Arc::clone(self), is_known: false })
    }

    /// Returns the session of all requests that need none. It begins with the first such request, and again if it has ended.
    pub(super) fn common(self: &Arc<Self>) -> Result<Arc<Session>, Refused> {
        let mut state = self.state.lock();
        if let Some(session) = state.common.as_ref().filter(|session| !session.has_ended()) {
            return Ok(Arc::clone(session));
        }
        let session = self.start(&mut state, Of::AllRequests)?;
        state.common = Some(Arc::clone(&session));
        Ok(session)
    }

    pub(super) fn find(&self, id: &str) -> Option<Arc<Session>> {
        let state = self.state.lock();
        state.known.get(id).filter(|session| !session.has_ended()).cloned()
    }

    /// Ends the session with an id, if there is one.
    pub(super) fn end(&self, id: &str) -> bool {
        let ended = self.state.lock().known.remove(id);
        ended.is_some_and(|session| {
            let was_open = !session.has_ended();
            session.end();
            was_open
        })
    }

    fn start(self: &Arc<Self>, state: &mut State, kind: Of) -> Result<Arc<Session>, Refused> {
        while state.tasks.try_join_next().is_some() {}
        if *self.stop.borrow() {
            let help = "start the proxy again";
            return Err(Refused::new(StatusCode::SERVICE_UNAVAILABLE, "the proxy is stopping", help));
        }
        let Ok(permit) = Arc::clone(&self.room).try_acquire_owned() else {
            let reason = format!("{} sessions run already", self.limits.sessions);
            let help = "end a session with DELETE, try again later, or ask the operator for --max-sessions";
            return Err(Refused::new(StatusCode::SERVICE_UNAVAILABLE, reason, help));
        };
        let number = state.begun + 1;
        let turn = TurnId::new(format!("{}.s{number}", self.name)).map_err(|error| {
            Refused::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string(), "start the proxy again")
        })?;
        state.begun = number;
        let is_common = matches!(kind, Of::AllRequests);
        let (session, sent) = Session::new(number, kind, self.limits.kept);
        let mut behind = self.behind.session(turn);
        // A single session for the gate, however often it begins: a pause must not lift what forbids a call.
        if is_common {
            behind.client_session = self.name.clone();
        }
        // Messages from the client were bounded on arrival and may have become longer since; a session shared by several clients
        // must not end because of that.
        behind.limits.line_bytes = usize::MAX;
        let (sessions, own) = (Arc::clone(self), Arc::clone(&session));
        let mut stop = self.stop.subscribe();
        let until = async move {
            // If it can no longer be asked to stop, it has been asked.
            let _ = stop.wait_for(|stop| *stop).await;
        };
        session.span.in_scope(|| info!("begun"));
        let span = session.span.clone();
        let serving = async move {
            let ended = Arc::clone(&own).serve(sent, behind, until).await;
            let how = ended.as_ref().map_or_else(ToString::to_string, ToString::to_string);
            info!("ended: {how}");
            let mut state = sessions.state.lock();
            state.known.retain(|_, session| !Arc::ptr_eq(session, &own));
            state.common.take_if(|session| Arc::ptr_eq(session, &own));
            if let Ok(Ended::Unrecorded(why)) = ended {
                state.unrecorded.get_or_insert(why);
            }
            drop(permit);
        };
        state.tasks.spawn(serving.instrument(span));
        Ok(session)
    }

    /// Ends unused sessions, for as long as it is polled.
    pub(super) async fn end_idle(self: Arc<Self>) {
        let often = (self.limits.idle / 4).max(Duration::from_millis(10));
        loop {
            sleep(often).await;
            let state = self.state.lock();
            let now = Instant::now();
            for session in state.known.values().chain(&state.common) {
                let is_idle = |since: Instant| now.saturating_duration_since(since) >= self.limits.idle;
                if !session.has_ended() && session.streams.idle_since().is_some_and(is_idle) {
                    session.span.in_scope(|| info!("ending: nobody uses it"));
                    session.end();
                }
            }
        }
    }

    /// Asks all sessions to stop and waits until they have ended. Returns the reason if something could not be recorded.
    pub(super) async fn stop(&self) -> Option<Blocked> {
        self.stop.send_replace(true);
        let mut tasks = std::mem::take(&mut self.state.lock().tasks);
        while tasks.join_next().await.is_some() {}
        let owed = self.behind.gate.end_session(&self.name, SessionEnd::Closed);
        let mut unrecorded = self.state.lock().unrecorded.take();
        if !owed.is_empty() {
            let recorded = self.behind.gate.turn_is_over(&self.name, "the proxy was stopped").await;
            unrecorded = unrecorded.or(recorded.err());
        }
        unrecorded
    }
}

impl Beginning {
    /// Makes the session known under an id that nobody can guess.
    pub(super) fn known(mut self) -> Result<String, Refused> {
        let mut bytes = [0; 24];
        getrandom::fill(&mut bytes).map_err(|error| {
            let reason = format!("there are no random numbers for the id of the session: {error}");
            Refused::new(StatusCode::INTERNAL_SERVER_ERROR, reason, "check the operating system")
        })?;
        let id = base16ct::lower::encode_string(&bytes);
        self.sessions.state.lock().known.insert(id.clone(), Arc::clone(&self.session));
        self.is_known = true;
        // If the session has just ended, it was removed from the table before it was added.
        if self.session.has_ended() {
            self.sessions.state.lock().known.remove(&id);
        }
        Ok(id)
    }
}

impl Drop for Beginning {
    fn drop(&mut self) {
        if !self.is_known {
            self.session.end();
        }
    }
}
