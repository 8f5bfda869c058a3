//! State shared by the requests of one session: the id given by the server, and the open requests.

use std::collections::HashMap;
use std::sync::Arc;

use hyper::HeaderMap;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use omen_base::Mutex;
use omen_gate::{Fault, bounded};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::task::AbortHandle;

use super::body::{hidden, single};
use super::inner::Inner;

use crate::end::Lost;
use crate::methods;
use crate::server::Said;
use omen_mcp::frame::Frame;
use omen_mcp::handshake::Era;
use omen_mcp::mcp_headers::{METHOD, NAME, SESSION_ID, VERSION, encoded, method_of, name_of, stated_version};
use omen_mcp::param_headers::Params;
use omen_mcp::{Id, edit};

pub(super) struct Link {
    pub(super) remote: Arc<Inner>,
    said: mpsc::Sender<Said>,
    state: Mutex<State>,
    pub(super) params: Params,
}

#[derive(Debug, Default)]
struct State {
    /// Whether the handshake was answered.
    is_begun: bool,
    id: Option<HeaderValue>,
    version: Option<HeaderValue>,
    /// Protocol version stated by the last request that needed no handshake.
    stated: Option<HeaderValue>,
    open: HashMap<Id, Asked>,
}

/// Open request.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) era: Era,
    pub(super) task: AbortHandle,
}

/// Reason why a request gets no answer, and whether the session is over with it.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) fault: Fault,
    pub(super) lost: Option<Lost>,
}

impl From<Fault> for Broken {
    fn from(fault: Fault) -> Self {
        Self { fault, lost: None }
    }
}

const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
pub(super) const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
/// Maximum length of a session id that is accepted.
const LONGEST_ID: usize = 1024;

impl Link {
    pub(super) fn new(remote: Arc<Inner>, said: mpsc::Sender<Said>) -> Self {
        Self { remote, said, state: Mutex::default(), params: Params::default() }
    }

    /// Passes something on to the session. If nobody receives it, the end of the session shows that.
    pub(super) async fn say(&self, said: Said) {
        let _ = self.said.send(said).await;
    }

    /// Same as [`say`](Self::say), for callers that cannot wait: the reader from the session must not depend on the
    /// session's reading. If there is no room, notes are lost, and the rest is passed on later.
    pub(super) fn say_soon(&self, said: Said) {
        let Err(TrySendError::Full(said)) = self.said.try_send(said) else { return };
        if !matches!(said, Said::Note(_)) {
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
        state.open.insert(id, Asked { era, task });
    }

    /// Removes a request that is over.
    pub(super) fn close(&self, id: &Id) -> Option<Asked> {
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
    pub(super) fn of_request(&self, frame: &Frame) -> Result<HeaderMap, Fault> {
        // A request that cannot be sent as the protocol requires is not sent.
        let unsent = |what: &str| Fault::unreachable(&format!("the request cannot be sent: {what}"));
        let value = |name: &str, text: &str| {
            HeaderValue::from_str(text).map_err(|_| unsent(&format!("invalid value of the header `{name}`")))
        };
        let method = method_of(frame);
        let mut headers = posted();
        let version = value(VERSION, &stated_version(frame).unwrap_or_default())?;
        self.state.lock().stated = Some(version.clone());
        headers.insert(VERSION, version);
        headers.insert(METHOD, value(METHOD, method.unwrap_or_default())?);
        if let header @ Some(_) = methods::header(method) {
            let name =
                name_of(frame, header).ok_or_else(|| unsent("it has no name or URI for the header `Mcp-Name`"))?;
            headers.insert(NAME, value(NAME, &encoded(&name))?);
        }
        if method == Some(methods::CALL) {
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
    pub(super) fn begin(&self, headers: &HeaderMap, result: &Frame) -> Result<(), Fault> {
        let id = match single(headers, SESSION_ID)? {
            Some(id) if (1..=LONGEST_ID).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic()) => {
                hidden(id)
            }
            Some(_) => return Err(Fault::malformed("invalid header `mcp-session-id`")),
            None => None,
        };
        result.members().map_err(|flaw| Fault::malformed(&flaw.to_string()))?;
        let version = match edit::text(result, "protocolVersion") {
            None => None,
            Some(version) => Some(
                HeaderValue::from_str(&version)
                    .map_err(|_| Fault::malformed(&format!("invalid `protocolVersion` `{}`", bounded(&version))))?,
            ),
        };
        let mut state = self.state.lock();
        (state.is_begun, state.id, state.version) = (true, id, version);
        Ok(())
    }

    /// Checks that an answer names no other session: a server that changes the id of a session has mixed up two.
    pub(super) fn same_session(&self, headers: &HeaderMap) -> Result<(), Broken> {
        let lost = |why: &str| Broken { fault: Fault::malformed(why), lost: Some(Lost::Malformed(why.to_owned())) };
        let state = self.state.lock();
        // Before the handshake, an id has no meaning.
        if !state.is_begun {
            return Ok(());
        }
        match (single(headers, SESSION_ID).map_err(|fault| lost(&fault.to_string()))?, &state.id) {
            (None, _) => Ok(()),
            (Some(said), Some(own)) if said.as_bytes() == own.as_bytes() => Ok(()),
            (Some(_), _) => Err(lost("it changed the id of the session")),
        }
    }
}

/// Returns the reason for a session that has ended on the server's side.
pub(super) fn gone() -> Lost {
    Lost::Closed("it has ended the session (HTTP 404)".to_owned())
}

fn posted() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, BOTH);
    headers
}
