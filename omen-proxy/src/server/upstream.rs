//! The server's side: messages to it, requests sent to it under the proxy's own ids, and the server as the gate calls it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use omen_gate::Fault;
use omen_gate::mcp::{Line, ServerLimits};
use omen_gate::server::{Dispatch, ToolServer};
use omen_gate::tool::{Answer, Tool};
use tokio::sync::watch;

use super::list_cache::ToolListCache;
use crate::client::own_requests::{OwnRequests, ResponseMatch, cancelled};
use crate::end::ConnectionEnd;
use omen_mcp::Id;
use omen_mcp::frame::Frame;
use omen_mcp::handshake::Session;
use omen_mcp::outbox::{Full, Outbox};

/// Reason why a request has no answer.
#[derive(Debug)]
pub(crate) enum AskError {
    /// There was no room for the request, and it was not sent.
    Full,
    Fault(Fault),
}

impl From<Fault> for AskError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Server behind the proxy. The reader of its messages passes on responses to the proxy's own requests.
#[derive(Debug)]
pub(crate) struct Upstream {
    out: Outbox,
    limits: ServerLimits,
    session: Arc<Session>,
    own_requests: OwnRequests,
    lost: watch::Sender<Option<ConnectionEnd>>,
    revision: AtomicU64,
    last_listed: ToolListCache,
}

impl Upstream {
    pub(crate) fn new(out: Outbox, limits: ServerLimits, session: Arc<Session>) -> Self {
        Self {
            out,
            limits,
            session,
            own_requests: OwnRequests::default(),
            lost: watch::Sender::new(None),
            revision: AtomicU64::new(0),
            last_listed: ToolListCache::default(),
        }
    }

    pub(crate) fn limits(&self) -> &ServerLimits {
        &self.limits
    }

    /// Sends a line. If the server has ended, everyone who waits for it notices.
    pub(crate) async fn send(&self, line: impl Into<Line>) {
        let _ = self.out.send(line).await;
    }

    /// Sends a line if there is room now, so that a server that does not read does not block others.
    pub(crate) fn try_send(&self, line: impl Into<Line>) -> Result<(), Full> {
        self.out.try_send(line)
    }

    /// Sends a request under one of the proxy's own ids, and waits for the response. Dropping the future cancels the request.
    pub(crate) async fn ask(&self, line: impl FnOnce(&str) -> Vec<u8>) -> Result<Frame, Fault> {
        match self.ask_by(line, true).await {
            Ok(answer) => Ok(answer),
            Err(AskError::Fault(fault)) => Err(fault),
            // INVARIANT: the request has waited for room.
            Err(AskError::Full) => Err(Fault::unreachable("it is not reading its messages")),
        }
    }

    /// Same as [`ask`](Self::ask), but only if there is room for the request now.
    pub(crate) async fn try_ask(&self, line: impl FnOnce(&str) -> Vec<u8>) -> Result<Frame, AskError> {
        self.ask_by(line, false).await
    }

    async fn ask_by(&self, line: impl FnOnce(&str) -> Vec<u8>, waits: bool) -> Result<Frame, AskError> {
        if let Some(lost) = self.lost() {
            return Err(lost.before().into());
        }
        let mut open = self.own_requests.open(|number| self.out.send_now(cancelled(number)));
        let line = line(&Id::write(open.number()));
        if waits {
            open.is_sent();
            tokio::select! {
                biased;
                sent = self.out.send(line) => if sent.is_err() {
                    open.is_over();
                    return Err(self.over().await.before().into());
                },
                lost = self.over() => {
                    open.is_over();
                    return Err(lost.before().into());
                }
            }
        } else {
            self.out.try_send(line).map_err(|Full| AskError::Full)?;
            open.is_sent();
        }
        // An answer that has arrived counts even if the server has ended since.
        tokio::select! {
            biased;
            answer = open.answer() => {
                answer.unwrap_or_else(|| Err(Fault::died("the connection was closed"))).map_err(AskError::from)
            }
            lost = self.over() => {
                open.is_over();
                Err(lost.during().into())
            }
        }
    }

    /// Accepts a response to one of the proxy's own requests.
    pub(crate) fn answered(&self, response: Frame) -> ResponseMatch {
        match response.id().and_then(Id::ours) {
            Some(number) => self.own_requests.answered(number, response),
            None => ResponseMatch::Nothing,
        }
    }

    /// Records that one of the proxy's own requests will get no answer.
    pub(crate) fn failed(&self, number: u64, fault: Fault) {
        // It does not matter if nobody waits for the request any more.
        let _ = self.own_requests.failed(number, fault);
    }

    /// Marks the tool list as possibly changed.
    pub(crate) fn changed(&self) {
        self.revision.fetch_add(1, Ordering::Release);
    }

    /// Ends the connection; only the first reason counts.
    pub(crate) fn end(&self, lost: ConnectionEnd) {
        self.changed();
        self.lost.send_if_modified(|seen| {
            let first = seen.is_none();
            if first {
                *seen = Some(lost);
            }
            first
        });
    }

    pub(crate) fn lost(&self) -> Option<ConnectionEnd> {
        self.lost.borrow().clone()
    }

    /// Waits for the connection to end.
    pub(crate) async fn over(&self) -> ConnectionEnd {
        let mut lost = self.lost.subscribe();
        match lost.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(lost)) => lost.clone(),
            // Unreachable: the sender is `self`.
            _ => ConnectionEnd::Stopped,
        }
    }

    /// Returns whether a tool promises structured answers, as far as it was listed.
    pub(crate) fn promises(&self, tool: &str) -> bool {
        self.last_listed.promises(tool)
    }

    /// Requests the list, page by page.
    async fn list(&self) -> Result<Arc<[Tool]>, Fault> {
        let mut pages = self.last_listed.begin(&self.limits);
        let mut cursor: Option<String> = None;
        loop {
            let Some(meta) = self.session.own_params() else {
                return Err(Fault::unreachable("the session has not begun"));
            };
            let cursor_member = match cursor.map(|cursor| serde_json::to_string(&cursor)) {
                Some(Ok(cursor)) => Some(format!("\"cursor\":{cursor}")),
                _ => None,
            };
            let members = [Some(meta).filter(|meta| !meta.is_empty()), cursor_member];
            let params = members.into_iter().flatten().collect::<Vec<_>>().join(",");
            let response = self
                .ask(|id| {
                    let head = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/list\"");
                    format!("{head},\"params\":{{{params}}}}}").into_bytes()
                })
                .await?;
            cursor = pages.take(&response)?;
            if cursor.is_none() {
                return Ok(pages.finish());
            }
        }
    }
}

/// Server as seen by the gate: what the gate lets through is what the client sent, byte for byte except for its id.
#[derive(Debug)]
pub(crate) struct Behind(pub(crate) Arc<OnceLock<Arc<Upstream>>>);

impl Behind {
    fn server(&self) -> Result<&Upstream, Fault> {
        self.0.get().map(Arc::as_ref).ok_or_else(|| Fault::unreachable("it has not been started"))
    }
}

#[async_trait]
impl ToolServer for Behind {
    async fn list(&self) -> Result<Vec<Tool>, Fault> {
        Ok(self.list_shared().await?.to_vec())
    }

    async fn list_shared(&self) -> Result<Arc<[Tool]>, Fault> {
        self.server()?.list().await
    }

    async fn call(&self, dispatch: Dispatch) -> Result<Answer, Fault> {
        let server = self.server()?;
        let Some(request) = dispatch.request() else {
            return Err(Fault::unreachable("the call is not one that the client has sent"));
        };
        let response = server.ask(|id| request.frame().with_id(id)).await?;
        dispatch.read_response(response)
    }

    fn revision(&self) -> u64 {
        self.0.get().map_or(0, |server| server.revision.load(Ordering::Acquire))
    }
}

/// Configured server that does not belong to a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Absent;

#[async_trait]
impl ToolServer for Absent {
    async fn list(&self) -> Result<Vec<Tool>, Fault> {
        Err(Fault::unreachable("this session has another server"))
    }

    async fn call(&self, _: Dispatch) -> Result<Answer, Fault> {
        Err(Fault::unreachable("this session has another server"))
    }
}
