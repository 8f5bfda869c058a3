//! One of the servers of a client: the session with it that runs, and requests of the hub's own.

use std::sync::Arc;
use std::time::Duration;

use omen_base::Mutex;
use omen_gate::ServerName;
use omen_gate::mcp::Line;
use serde_json::{Map, Value};
use tokio::time::timeout;
use tracing::Instrument as _;

use crate::end::Ended;
use crate::refusal::{self, INTERNAL_ERROR};
use crate::server::{AskError, ServerSession, Source, listed};
use omen_mcp::frame::{Frame, Kind};

/// One of the servers of a client.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: ServerName,
    pub(crate) source: Source,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// None while it cannot be reached.
    session: Option<Arc<ServerSession>>,
    lost: Option<String>,
    capabilities: Option<Map<String, Value>>,
}

/// Why there is no answer of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoAnswer {
    #[error("the server `{0}` is gone: {1}")]
    Gone(ServerName, String),
    #[error("the server `{0}` has not answered within {1:?}")]
    Slow(ServerName, Duration),
    #[error("the server `{0}` does not read its messages")]
    Stuck(ServerName),
}

impl Member {
    pub(super) fn new(name: ServerName, source: Source) -> Self {
        Self { name, source, state: Mutex::default() }
    }

    /// A session with it begins. It takes the place of the one before, whose messages count no longer.
    pub(crate) fn begin(&self, session: Arc<ServerSession>) {
        let before = std::mem::replace(&mut *self.state.lock(), State { session: Some(session), ..State::default() });
        before.session.iter().for_each(|before| before.end(&Ended::Client));
    }

    /// The session that runs.
    pub(super) fn session(&self) -> Result<Arc<ServerSession>, NoAnswer> {
        let state = self.state.lock();
        state.session.clone().ok_or_else(|| {
            let why = state.lost.clone().unwrap_or_else(|| "its session has ended".to_owned());
            NoAnswer::Gone(self.name.clone(), why)
        })
    }

    /// Whether a session is the one that runs.
    pub(super) fn is_in(&self, number: u64) -> bool {
        self.state.lock().session.as_ref().is_some_and(|session| session.number == number)
    }

    /// A session is over. Whether it was the one that ran: then the server cannot be reached any more.
    pub(crate) fn lose(&self, number: u64, why: &str) -> bool {
        let mut state = self.state.lock();
        let session = state.session.take_if(|session| session.number == number);
        if session.is_some() {
            state.lost = Some(why.to_owned());
        }
        session.is_some()
    }

    /// Ends the session that runs: the server takes no part any more.
    pub(super) fn leave(&self, why: &str) {
        let session = self.state.lock().session.clone();
        if let Some(session) = session {
            session.end(&Ended::Client);
            self.lose(session.number, why);
        }
    }

    pub(super) fn is_live(&self) -> bool {
        self.state.lock().session.is_some()
    }

    /// Sends a line, if there is room now: a server that does not read holds up no other.
    pub(super) fn send(&self, line: impl Into<Line>) -> Result<(), NoAnswer> {
        self.session()?.upstream.try_send(line).map_err(|_| NoAnswer::Stuck(self.name.clone()))
    }

    /// Sends a request under an id of the proxy's own, and waits for the response, but not longer than this. Dropping the future
    /// cancels the request.
    pub(super) async fn ask(&self, limit: Duration, line: impl FnOnce(&str) -> Vec<u8>) -> Result<Frame, NoAnswer> {
        let session = self.session()?;
        let answer = match timeout(limit, session.upstream.try_ask(line)).await {
            Err(_) => return Err(NoAnswer::Slow(self.name.clone(), limit)),
            Ok(answer) => answer,
        };
        // One that was taken away does not answer any more.
        if !self.is_in(session.number) {
            self.session()?;
        }
        let malformed =
            |why: &str| refusal::error(NO_ID, INTERNAL_ERROR, &format!("the server's response is malformed: {why}"));
        let error = match answer {
            Err(AskError::Full) => return Err(NoAnswer::Stuck(self.name.clone())),
            Err(AskError::Fault(fault)) => match session.upstream.lost() {
                Some(lost) => return Err(NoAnswer::Gone(self.name.clone(), Ended::from(lost).to_string())),
                None => refusal::error(NO_ID, INTERNAL_ERROR, &fault.to_string()),
            },
            Ok(frame) => match &frame.kind {
                Kind::Unsure(why) => malformed(why),
                _ => return Ok(frame),
            },
        };
        self.own(error)
    }

    /// Asks for a page of its tools, of which those are left out that may not be called.
    pub(super) async fn ask_tools(
        &self,
        limit: Duration,
        line: impl FnOnce(&str) -> Vec<u8>,
    ) -> Result<Frame, NoAnswer> {
        let session = self.session()?;
        let asked = self.own(line(NO_ID))?;
        let span = session.span.clone();
        match timeout(limit, listed(session, asked).instrument(span)).await {
            Ok(page) => self.own(page),
            Err(_) => Err(NoAnswer::Slow(self.name.clone(), limit)),
        }
    }

    /// A message that the proxy has written itself.
    fn own(&self, line: Vec<u8>) -> Result<Frame, NoAnswer> {
        Frame::read(line).map_err(|malformed| NoAnswer::Gone(self.name.clone(), malformed.why))
    }

    /// Whether it has made the handshake that the client knows of.
    pub(super) fn took_part(&self) -> bool {
        self.state.lock().capabilities.is_some()
    }

    /// What it has said that it can do.
    pub(super) fn can(&self, capabilities: Map<String, Value>) {
        self.state.lock().capabilities = Some(capabilities);
    }

    /// Whether it has said that it can do something; nothing if it has not been asked.
    pub(super) fn has(&self, capability: &str) -> Option<bool> {
        Some(self.state.lock().capabilities.as_ref()?.contains_key(capability))
    }
}

/// The id of a message that no one but the proxy reads.
const NO_ID: &str = "0";
