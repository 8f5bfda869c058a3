//! Server of a client: its running session, and requests that the hub itself sends.

use std::sync::Arc;
use std::time::Duration;

use omen_base::Mutex;
use omen_gate::ServerName;
use omen_gate::mcp::Line;
use serde_json::{Map, Value};
use tokio::time::timeout;
use tracing::Instrument as _;

use crate::end::Ended;
use crate::messages::refusal::{self, INTERNAL_ERROR};
use crate::server::{AskError, ServerSession, Source, listed};
use omen_mcp::frame::{Frame, Kind};

/// Server of a client.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: ServerName,
    pub(crate) source: Source,
    state: Mutex<MemberState>,
}

/// State of a server as the hub knows it.
#[derive(Debug, Default)]
struct MemberState {
    /// `None` while the server cannot be reached.
    session: Option<Arc<ServerSession>>,
    lost: Option<String>,
    capabilities: Option<Map<String, Value>>,
}

/// Reason why a server does not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoAnswer {
    #[error("the server `{0}` is gone: {1}")]
    Gone(ServerName, String),
    #[error("the server `{0}` has not answered within {1:?}")]
    Slow(ServerName, Duration),
    #[error("the server `{0}` is not reading its messages")]
    Stuck(ServerName),
}

impl Member {
    pub(super) fn new(name: ServerName, source: Source) -> Self {
        Self { name, source, state: Mutex::default() }
    }

    /// Begins a session with the server. It replaces the previous one, whose messages no longer count.
    pub(crate) fn begin(&self, session: Arc<ServerSession>) {
        let before = std::mem::replace(
            &mut *self.state.lock(),
            MemberState { session: Some(session), ..MemberState::default() },
        );
        before.session.iter().for_each(|before| before.end(&Ended::Client));
    }

    pub(super) fn session(&self) -> Result<Arc<ServerSession>, NoAnswer> {
        let state = self.state.lock();
        state.session.clone().ok_or_else(|| {
            let why = state.lost.clone().unwrap_or_else(|| "its session has ended".to_owned());
            NoAnswer::Gone(self.name.clone(), why)
        })
    }

    /// Returns whether a session is the running one.
    pub(super) fn is_in(&self, number: u64) -> bool {
        self.state.lock().session.as_ref().is_some_and(|session| session.number == number)
    }

    /// Ends a session. Returns whether it was the running one, in which case the server can no longer be reached.
    pub(crate) fn lose(&self, number: u64, why: &str) -> bool {
        let mut state = self.state.lock();
        let session = state.session.take_if(|session| session.number == number);
        if session.is_some() {
            state.lost = Some(why.to_owned());
        }
        session.is_some()
    }

    /// Ends the running session: the server no longer takes part.
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

    /// Sends a line if there is room now, so that a server that does not read does not block others.
    pub(super) fn send(&self, line: impl Into<Line>) -> Result<(), NoAnswer> {
        self.session()?.upstream.try_send(line).map_err(|_| NoAnswer::Stuck(self.name.clone()))
    }

    /// Sends a request under one of the proxy's own ids, and waits for the response up to a limit. Dropping the future cancels
    /// the request.
    pub(super) async fn ask(&self, limit: Duration, line: impl FnOnce(&str) -> Vec<u8>) -> Result<Frame, NoAnswer> {
        let session = self.session()?;
        let answer = match timeout(limit, session.upstream.try_ask(line)).await {
            Err(_) => return Err(NoAnswer::Slow(self.name.clone(), limit)),
            Ok(answer) => answer,
        };
        // A server that was removed no longer answers.
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

    /// Requests a page of the server's tools, without those that may not be called.
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

    /// Returns a message that the proxy itself has written.
    fn own(&self, line: Vec<u8>) -> Result<Frame, NoAnswer> {
        Frame::read(line).map_err(|malformed| NoAnswer::Gone(self.name.clone(), malformed.why))
    }

    /// Returns whether the server has made the handshake that the client knows of.
    pub(super) fn took_part(&self) -> bool {
        self.state.lock().capabilities.is_some()
    }

    /// Sets the capabilities that the server has declared.
    pub(super) fn can(&self, capabilities: Map<String, Value>) {
        self.state.lock().capabilities = Some(capabilities);
    }

    /// Returns whether the server has declared a capability; `None` if it has not been asked.
    pub(super) fn has(&self, capability: &str) -> Option<bool> {
        Some(self.state.lock().capabilities.as_ref()?.contains_key(capability))
    }
}

/// Id of a message that only the proxy reads.
const NO_ID: &str = "0";
