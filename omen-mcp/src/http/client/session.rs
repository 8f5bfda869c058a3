//! State shared by the requests of one session: the id given by the server, and the open requests.

use std::collections::HashMap;
use std::sync::Arc;

use hyper::HeaderMap;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use omen_base::{Mutex, bounded};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::task::AbortHandle;

use super::body::single;
use super::error::RequestError;
use super::extra_headers::hidden;
use super::limits::RemoteLimits;
use super::sender::Sender;
use crate::edit;
use crate::frame::Frame;
use crate::frame::id::Id;
use crate::handshake::Era;
use crate::http::JSON;
use crate::http::mcp_headers::{METHOD, NAME, SESSION_ID, VERSION, encoded, name_of, stated_version};
use crate::http::memory_limit::Room;
use crate::http::param_headers::Params;
use crate::limits::ServerLimits;
use crate::methods::{CALL, method_of, required_name};

/// State shared by all sessions with a server.
pub(super) struct RemoteParts {
    pub(super) sender: Sender,
    pub(super) server: ServerLimits,
    pub(super) limits: RemoteLimits,
    pub(super) room: Room,
}

/// State shared by the requests of one session.
pub(super) struct RemoteSession {
    pub(super) remote: Arc<RemoteParts>,
    said: mpsc::Sender<ServerEvent>,
    state: Mutex<RemoteSessionState>,
    pub(super) params: Params,
}

#[derive(Debug, Default)]
struct RemoteSessionState {
    /// Whether the handshake was answered.
    is_begun: bool,
    id: Option<HeaderValue>,
    version: Option<HeaderValue>,
    /// Protocol version stated by the last request that needed no handshake.
    stated: Option<HeaderValue>,
    open: HashMap<Id, OpenRequest>,
}

/// Output of a server.
#[derive(Debug)]
pub enum ServerEvent {
    /// A message.
    Message(Frame),
    /// A request will not be answered.
    Failed(Id, RequestError),
    /// The session is over: it has died, or the server has violated the protocol.
    Lost(RequestError),
    /// A note for the operator.
    Note(String),
}

#[derive(Debug)]
pub(super) struct OpenRequest {
    pub(super) era: Era,
    pub(super) task: AbortHandle,
}

/// Reason why a request gets no answer, and whether the session is over with it.
#[derive(Debug)]
pub(super) struct Interruption {
    pub(super) error: RequestError,
    pub(super) lost: Option<RequestError>,
}

impl From<RequestError> for Interruption {
    fn from(error: RequestError) -> Self {
        Self { error, lost: None }
    }
}

const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
/// Maximum length of a session id that is accepted.
const LONGEST_ID: usize = 1024;

impl RemoteSession {
    pub(super) fn new(remote: Arc<RemoteParts>, said: mpsc::Sender<ServerEvent>) -> Self {
        Self { remote, said, state: Mutex::default(), params: Params::default() }
    }

    /// Passes something on to the session. If nobody receives it, the end of the session shows that.
    pub(super) async fn say(&self, said: ServerEvent) {
        let _ = self.said.send(said).await;
    }

    /// Same as [`say`](Self::say), for callers that cannot wait: the reader from the session must not depend on the
    /// session's reading. If there is no room, notes are lost, and the rest is passed on later.
    pub(super) fn say_soon(&self, said: ServerEvent) {
        let Err(TrySendError::Full(said)) = self.said.try_send(said) else { return };
        if !matches!(said, ServerEvent::Note(_)) {
            let queue = self.said.clone();
            // At most one for each open request.
            tokio::spawn(async move { queue.send(said).await });
        }
    }

    /// Returns once the session is over.
    pub(super) async fn closed(&self) {
        self.said.closed().await;
    }

    /// Registers a request that is about to be sent.
    pub(super) fn open(&self, id: Id, era: Era, task: impl FnOnce() -> AbortHandle) {
        // Held until the task is registered, because the task needs the lock to end.
        let mut state = self.state.lock();
        let task = task();
        state.open.insert(id, OpenRequest { era, task });
    }

    /// Removes a request that is over.
    pub(super) fn close(&self, id: &Id) -> Option<OpenRequest> {
        self.state.lock().open.remove(id)
    }

    /// Returns the headers of a POST in the session.
    pub(super) fn of_session(&self) -> HeaderMap {
        let state = self.state.lock();
        let mut headers = posted();
        let own = [(SESSION_ID, &state.id), (VERSION, &state.version)];
        headers
            .extend(own.into_iter().filter_map(|(name, value)| Some((HeaderName::from_static(name), value.clone()?))));
        headers
    }

    /// Returns the headers of a request that needs no session.
    pub(super) fn of_request(&self, frame: &Frame) -> Result<HeaderMap, RequestError> {
        // A request that cannot be sent as the protocol requires is not sent.
        let unsent = |what: &str| RequestError::NotSent(format!("the request cannot be sent: {what}"));
        let value = |name: &str, text: &str| {
            HeaderValue::from_str(text).map_err(|_| unsent(&format!("invalid value of the header `{name}`")))
        };
        let method = method_of(frame);
        let mut headers = posted();
        let version = value(VERSION, &stated_version(frame).unwrap_or_default())?;
        self.state.lock().stated = Some(version.clone());
        headers.insert(VERSION, version);
        headers.insert(METHOD, value(METHOD, method.unwrap_or_default())?);
        if required_name(method).is_some() {
            let name = name_of(frame).ok_or_else(|| unsent("it has no name or URI for the header `Mcp-Name`"))?;
            headers.insert(NAME, value(NAME, &encoded(&name))?);
        }
        if method == Some(CALL) {
            headers.extend(self.params.headers(frame).map_err(|why| unsent(&why))?);
        }
        Ok(headers)
    }

    /// Returns the headers of a notification, whatever the era of the session; `None` if it cannot be sent.
    pub(super) fn of_notification(&self, method: &str) -> Option<HeaderMap> {
        if self.is_begun() {
            return Some(self.of_session());
        }
        let mut headers = posted();
        headers.insert(VERSION, self.state.lock().stated.clone()?);
        headers.insert(METHOD, HeaderValue::from_str(method).ok()?);
        Some(headers)
    }

    pub(super) fn is_begun(&self) -> bool {
        self.state.lock().is_begun
    }

    /// Returns whether the server has given the session an id.
    pub(super) fn has_id(&self) -> bool {
        self.state.lock().id.is_some()
    }

    /// Begins the session after the handshake was answered with this result.
    pub(super) fn begin(&self, headers: &HeaderMap, result: &Frame) -> Result<(), RequestError> {
        let id = match single(headers, SESSION_ID)? {
            Some(id) if (1..=LONGEST_ID).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic()) => {
                hidden(id)
            }
            Some(_) => return Err(RequestError::Malformed("invalid header `mcp-session-id`".into())),
            None => None,
        };
        result.members().map_err(|flaw| RequestError::Malformed(flaw.to_string()))?;
        let version = edit::text(result, "protocolVersion").map(|version| {
            let bad = |_| RequestError::Malformed(format!("invalid `protocolVersion` `{}`", bounded(&version)));
            HeaderValue::from_str(&version).map_err(bad)
        });
        let version = version.transpose()?;
        let mut state = self.state.lock();
        (state.is_begun, state.id, state.version) = (true, id, version);
        Ok(())
    }

    /// Checks that an answer names no other session: a server that changes the id of a session has mixed up two.
    pub(super) fn same_session(&self, headers: &HeaderMap) -> Result<(), Interruption> {
        let lost = |error: RequestError| Interruption { error: error.clone(), lost: Some(error) };
        let state = self.state.lock();
        // Before the handshake, an id has no meaning.
        if !state.is_begun {
            return Ok(());
        }
        let said = single(headers, SESSION_ID).map_err(|error| lost(RequestError::Malformed(error.to_string())))?;
        match (said, &state.id) {
            (None, _) => Ok(()),
            (Some(said), Some(own)) if said.as_bytes() == own.as_bytes() => Ok(()),
            (Some(_), _) => Err(lost(RequestError::Malformed("it changed the id of the session".into()))),
        }
    }
}

/// Returns the reason for a session that has ended on the server's side.
pub(super) fn gone() -> RequestError {
    RequestError::Died("it has ended the session (HTTP 404)".into())
}

fn posted() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, JSON);
    headers.insert(ACCEPT, BOTH);
    headers
}
