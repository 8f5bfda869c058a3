//! Running sessions: how they begin, are found, and end.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use omen_base::Mutex;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tracing::{Instrument as _, info};

use super::limits::HttpLimits;
use super::refusal::Refusal;
use super::session::{HttpSession, SessionOwner};
use crate::line::Line;
use crate::outbox::{Outbox, OutboxWriter};

/// Session that begins, as seen by the program that serves it.
pub struct SessionChannels {
    /// Number of the session, which no other session of the endpoint has.
    pub number: u64,
    /// Whether the session is that of all requests that need none, from whichever clients.
    pub is_shared: bool,
    /// Messages from clients, which were bounded on arrival.
    pub input: mpsc::Receiver<Line>,
    /// Messages for clients.
    pub output: (Outbox, OutboxWriter),
    /// Completes when the session has to stop.
    pub until: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// Session that is being served. Its output describes how it has ended.
pub(super) type ServedSession = Pin<Box<dyn Future<Output = String> + Send>>;

/// Function that begins to serve a session, or returns the reason why it cannot.
pub(super) type Begin = Box<dyn Fn(SessionChannels) -> Result<ServedSession, String> + Send + Sync>;

/// Sessions of an endpoint.
pub(super) struct Sessions {
    begin: Begin,
    limits: HttpLimits,
    /// Maximum number of bytes that wait to be sorted into the streams of a session.
    unread_bytes: usize,
    stop: watch::Sender<bool>,
    room: Arc<Semaphore>,
    state: Mutex<RunningSessions>,
}

#[derive(Default)]
struct RunningSessions {
    /// Sessions by the ids that their clients send.
    known: HashMap<String, Arc<HttpSession>>,
    /// Session of the requests that need none.
    common: Option<Arc<HttpSession>>,
    begun: u64,
    tasks: JoinSet<()>,
}

/// Session not yet known to anyone. Dropping this ends the session.
pub(super) struct Beginning {
    pub(super) session: Arc<HttpSession>,
    sessions: Arc<Sessions>,
    is_known: bool,
}

impl Sessions {
    pub(super) fn new(begin: Begin, limits: HttpLimits, unread_bytes: usize) -> Arc<Self> {
        let room = Arc::new(Semaphore::new(limits.sessions.min(Semaphore::MAX_PERMITS)));
        let stop = watch::Sender::new(false);
        Arc::new(Self { begin, limits, unread_bytes, stop, room, state: Mutex::default() })
    }

    /// Begins a session for one client.
    pub(super) fn begin(self: &Arc<Self>) -> Result<Beginning, Refusal> {
        let session = self.start(&mut self.state.lock(), SessionOwner::OneClient)?;
        Ok(Beginning { session, sessions: Arc::clone(self), is_known: false })
    }

    /// Returns the session of all requests that need none. It begins with the first such request, and again if it has ended.
    pub(super) fn common(self: &Arc<Self>) -> Result<Arc<HttpSession>, Refusal> {
        let mut state = self.state.lock();
        if let Some(session) = state.common.as_ref().filter(|session| !session.has_ended()) {
            return Ok(Arc::clone(session));
        }
        let session = self.start(&mut state, SessionOwner::AllRequests)?;
        state.common = Some(Arc::clone(&session));
        Ok(session)
    }

    pub(super) fn find(&self, id: &str) -> Option<Arc<HttpSession>> {
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

    fn start(self: &Arc<Self>, state: &mut RunningSessions, owner: SessionOwner) -> Result<Arc<HttpSession>, Refusal> {
        while state.tasks.try_join_next().is_some() {}
        if *self.stop.borrow() {
            let help = "try again after it has been restarted";
            return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping", help));
        }
        let Ok(permit) = Arc::clone(&self.room).try_acquire_owned() else {
            let reason = format!("{} sessions are open, which is the maximum", self.limits.sessions);
            let help = "end a session with DELETE, try again later, or ask the operator to allow more";
            return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, reason, help));
        };
        state.begun += 1;
        let number = state.begun;
        let (session, input) = HttpSession::new(number, owner, self.limits.kept);
        let own = Arc::clone(&session);
        let output = Outbox::read_by(self.unread_bytes, move |lines| own.route(lines));
        let mut stop = self.stop.subscribe();
        let until = Box::pin(async move {
            // If it can no longer be asked to stop, it has been asked.
            let _ = stop.wait_for(|stop| *stop).await;
        });
        let is_shared = owner == SessionOwner::AllRequests;
        let served = (self.begin)(SessionChannels { number, is_shared, input, output, until });
        let served = served.map_err(|reason| {
            Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, reason, "ask the operator to restart the server")
        })?;
        let (sessions, own) = (Arc::clone(self), Arc::clone(&session));
        session.span.in_scope(|| info!("begun"));
        let span = session.span.clone();
        let serving = async move {
            let how = served.await;
            own.end();
            own.streams.end();
            info!("ended: {how}");
            let mut state = sessions.state.lock();
            state.known.retain(|_, session| !Arc::ptr_eq(session, &own));
            state.common.take_if(|session| Arc::ptr_eq(session, &own));
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

    /// Asks all sessions to stop and waits until they have ended.
    pub(super) async fn stop(&self) {
        self.stop.send_replace(true);
        let mut tasks = std::mem::take(&mut self.state.lock().tasks);
        while tasks.join_next().await.is_some() {}
    }
}

impl Beginning {
    /// Makes the session known under an id that nobody can guess.
    pub(super) fn known(mut self) -> Result<String, Refusal> {
        let mut bytes = [0; 24];
        getrandom::fill(&mut bytes).map_err(|error| {
            let reason = format!("there are no random numbers for the id of the session: {error}");
            Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, reason, "check the operating system")
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
