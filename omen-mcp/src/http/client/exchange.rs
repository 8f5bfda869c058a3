//! Single request, and everything sent in answer to it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::http::response::Parts;
use hyper::{Method, StatusCode};
use omen_base::bounded;
use tokio::time::timeout;

use super::body::{broken, media_type, message, whole};
use super::error::RequestError;
use super::legacy;
use super::session::{Interruption, RemoteSession, ServerEvent, gone};
use super::sse::Parser;
use crate::frame::id::Id;
use crate::frame::{Frame, Kind};
use crate::handshake::Era;
use crate::http::{MediaType, next};
use crate::methods::{INITIALIZE, LIST_TOOLS, LISTEN, method_of};

/// Sends a request once and passes the answer on to the session.
pub(super) async fn ask(session: Arc<RemoteSession>, frame: Frame, era: Era) {
    let (Some(id), Some(method)) = (frame.id(), method_of(&frame)) else { return };
    let asking = Asking { session: &session, id, method, era };
    let Err(broken) = asking.exchange(&frame).await else { return };
    session.close(id);
    session.say(ServerEvent::Failed(id.clone(), broken.error)).await;
    if let Some(lost) = broken.lost {
        session.say(ServerEvent::Lost(lost)).await;
    }
}

/// Request waiting for its answer.
pub(super) struct Asking<'a> {
    pub(super) session: &'a RemoteSession,
    id: &'a Id,
    method: &'a str,
    era: Era,
}

/// Time that a stream may take to end after the answer, after which its connection can be reused.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// Maximum number of bytes read from the body of a response that is not an answer.
const MOST_OF_A_REFUSAL: usize = 64 << 10;

impl Asking<'_> {
    async fn exchange(&self, frame: &Frame) -> Result<(), Interruption> {
        let headers = match self.era {
            Era::Stateless => self.session.of_request(frame)?,
            Era::Handshake => self.session.of_session(),
        };
        let (remote, limit) = (&self.session.remote, self.session.remote.limits.answer);
        let body = Bytes::copy_from_slice(frame.text().as_bytes());
        let (head, body) = remote.sender.send(Method::POST, headers, body, limit).await?.into_parts();
        if self.era == Era::Handshake {
            self.session.same_session(&head.headers)?;
        }
        if head.status != StatusCode::OK {
            return self.refused(&head, body).await;
        }
        match media_type(&head.headers)? {
            MediaType::Json => {
                let mut held = remote.room.hold();
                let bytes = timeout(limit, whole(body, remote.server.line_bytes, &mut held)).await;
                let bytes = bytes.map_err(|_| RequestError::Timeout(limit))??;
                let answer = message(bytes, &remote.sender.headers)?;
                if !is_response(&answer) {
                    return Err(RequestError::Malformed("the body is not a response".into()).into());
                }
                self.answered(&head, answer).await
            }
            MediaType::Events => self.events(&head, body).await,
        }
    }

    /// Handles a response, which must belong to this request.
    async fn answered(&self, head: &Parts, answer: Frame) -> Result<(), Interruption> {
        if answer.id() != Some(self.id) {
            let other = answer.id().map(ToString::to_string).unwrap_or_default();
            return Err(RequestError::Malformed(format!("a response to another request, `{other}`")).into());
        }
        if answer.kind == Kind::Result {
            match self.method {
                INITIALIZE => self.session.begin(&head.headers, &answer)?,
                LIST_TOOLS if self.era == Era::Stateless => self.session.params.learn(&answer),
                _ => {}
            }
        }
        // Closed before anyone can give another request this id.
        self.session.close(self.id);
        self.session.say(ServerEvent::Message(answer)).await;
        Ok(())
    }

    /// Handles a status other than that of an answer. A protocol error may come with it.
    async fn refused(&self, head: &Parts, body: Incoming) -> Result<(), Interruption> {
        let limits = &self.session.remote.limits;
        let is_gone = self.era == Era::Handshake && head.status == StatusCode::NOT_FOUND && self.session.has_id();
        let mut held = self.session.remote.room.hold();
        let error = match media_type(&head.headers) {
            Ok(MediaType::Json) if !head.status.is_success() => {
                let body = timeout(limits.notice, whole(body, MOST_OF_A_REFUSAL, &mut held)).await;
                let body = body.ok().and_then(Result::ok);
                body.and_then(|body| message(body, &self.session.remote.sender.headers).ok())
            }
            _ => None,
        };
        match error.filter(|error| error.kind == Kind::Error && error.id() == Some(self.id)) {
            Some(error) if !is_gone => self.answered(head, error).await,
            _ => Err(Interruption { error: RequestError::of_status(head.status), lost: is_gone.then(gone) }),
        }
    }

    async fn events(&self, head: &Parts, mut body: Incoming) -> Result<(), Interruption> {
        let remote = &self.session.remote;
        let mut parser = Parser::new(remote.server.line_bytes, remote.room.hold());
        // A subscription is silent until something changes.
        let idle = (self.method != LISTEN).then_some(remote.limits.idle);
        let (mut bytes, mut tries) = (Bytes::new(), 0);
        loop {
            match event(&mut parser, &mut body, &mut bytes, idle).await {
                Ok(Some(data)) => {
                    tries = 0;
                    let said = message(data, &remote.sender.headers)?;
                    match &said.kind {
                        Kind::Request(method) if self.era == Era::Stateless => {
                            let method = bounded(method);
                            let why = format!("the server sent the request `{method}`, which this era does not have");
                            return Err(RequestError::Malformed(why).into());
                        }
                        Kind::Request(_) | Kind::Notification(_) => self.session.say(ServerEvent::Message(said)).await,
                        _ => {
                            self.answered(head, said).await?;
                            self.drain(&mut parser, &mut body, &mut bytes).await;
                            return Ok(());
                        }
                    }
                }
                // The stream is over or broken, and may be resumed elsewhere. The request is not sent again.
                Ok(None) | Err(RequestError::Died(_)) if self.era == Era::Handshake => {
                    body = legacy::resume(self.session, &parser, &mut tries).await?;
                    parser.begin();
                    bytes.clear();
                }
                Ok(None) => return Err(RequestError::Died("the stream ended before the answer".into()).into()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Reads data after the answer, none of which counts.
    async fn drain(&self, parser: &mut Parser, body: &mut Incoming, bytes: &mut Bytes) {
        let rest = async { event(parser, body, bytes, None).await };
        if let Ok(Ok(Some(_))) = timeout(LAST_WORDS, rest).await {
            let note = "dropped a message that the server sent after its answer".to_owned();
            self.session.say(ServerEvent::Note(note)).await;
        }
    }
}

fn is_response(frame: &Frame) -> bool {
    matches!(frame.kind, Kind::Result | Kind::Error | Kind::Unsure(_))
}

/// Returns the data of the next event; `None` at the end of the stream.
pub(super) async fn event(
    parser: &mut Parser,
    body: &mut Incoming,
    bytes: &mut Bytes,
    idle: Option<Duration>,
) -> Result<Option<Vec<u8>>, RequestError> {
    loop {
        if let Some(data) = parser.take(bytes)? {
            return Ok(Some(data));
        }
        // However much the server sends at once, other tasks get their turn.
        tokio::task::consume_budget().await;
        let more = match idle {
            Some(idle) => timeout(idle, next(body)).await.map_err(|_| RequestError::Timeout(idle))?,
            None => next(body).await,
        };
        match more.map_err(|error| broken(&error))? {
            Some(data) => *bytes = data,
            None => return Ok(None),
        }
    }
}
