//! Endpoint: handling of an HTTP request.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{HeaderName, HeaderValue, VARY};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use omen_base::bounded;
use tokio::time::timeout;
use tracing::warn;

use super::access::Access;
use super::body::Body;
use super::connection_limit::Place;
use super::headers::{
    LAST_EVENT_ID, Modern, SESSION_ID, VERSION, check_accept, check_content, check_mirrored, check_params,
    is_stateless, single,
};
use super::limits::HttpLimits;
use super::reading::Reading;
use super::refusal::Refusal;
use super::session::{HttpSession, Unsent};
use super::sessions::Sessions;
use super::sse::{self, EventFormat, GuardedReader, OnGone, event_id};
use super::streams::{Event, Reader, STANDING};
use crate::edit::member;
use crate::frame::{Frame, INVALID_PARAMS, Kind};
use crate::methods::{CALL, INITIALIZE, method_of};

/// Path of the endpoint.
pub const PATH: &str = "/mcp";

pub(super) struct Endpoint {
    pub(super) access: Access,
    pub(super) limits: HttpLimits,
    pub(super) reading: Reading,
    /// Time that a server may take for the handshake.
    pub(super) start: Duration,
    pub(super) sessions: Arc<Sessions>,
}

const BOTH: [&str; 2] = ["application/json", "text/event-stream"];

impl Endpoint {
    /// Answers a request, and holds the place of its connection from the point at which it must not be closed for another one.
    ///
    /// With a token, that point is reached once the head has presented the token. Without one, anyone can send a head, and the
    /// rest of the request as slowly as they like, so the point is reached only once the body has arrived.
    pub(super) async fn answer(self: Arc<Self>, request: Request<Incoming>, place: Arc<Place>) -> Response<Body> {
        let mut serving = None;
        let serves = || {
            serving.get_or_insert_with(|| place.serves());
        };
        let mut response = self.respond(request, serves).await;
        response.body_mut().serving = Some(serving.unwrap_or_else(|| place.serves()));
        response
    }

    async fn respond(&self, request: Request<Incoming>, mut serves: impl FnMut()) -> Response<Body> {
        let (head, body) = request.into_parts();
        let is_preflight = head.method == Method::OPTIONS && head.headers.contains_key("origin");
        let origin = match self.access.admit(&head.uri, &head.headers, is_preflight) {
            Ok(origin) => origin,
            Err(refused) => return self.refuse(refused),
        };
        if self.access.has_token() {
            serves();
        }
        let answered = if head.uri.path() != PATH {
            let reason = format!("there is nothing at `{}`", bounded(head.uri.path()));
            Err(Refusal::new(StatusCode::NOT_FOUND, reason, format!("the endpoint is `{PATH}`")))
        } else if is_preflight {
            Ok(preflight())
        } else {
            match head.method {
                Method::POST => self.post(&head.headers, body, serves).await,
                Method::GET => self.get(&head.headers),
                Method::DELETE => self.delete(&head.headers),
                _ => {
                    let reason = format!("the method `{}` is not supported", bounded(head.method.as_str()));
                    Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, reason, "send GET, POST or DELETE"))
                }
            }
        };
        let mut response = answered.unwrap_or_else(|refused| self.refuse(refused));
        if let Some(origin) = origin.and_then(|origin| HeaderValue::from_str(&origin).ok()) {
            let headers = response.headers_mut();
            headers.insert("access-control-allow-origin", origin);
            headers.insert("access-control-expose-headers", HeaderValue::from_static(SESSION_ID));
            headers.insert(VARY, HeaderValue::from_static("origin"));
        }
        response
    }

    fn refuse(&self, refused: Refusal) -> Response<Body> {
        warn!("{}", refused.note());
        refused.response()
    }

    async fn post(
        &self,
        headers: &HeaderMap,
        body: Incoming,
        mut serves: impl FnMut(),
    ) -> Result<Response<Body>, Refusal> {
        check_content(headers)?;
        check_accept(headers, &BOTH)?;
        // The room is taken until the message is passed on.
        let (bytes, _room) = self.reading.read(body).await?;
        serves();
        let frame = Frame::read(bytes).map_err(|malformed| {
            let help = "send one message of JSON-RPC 2.0";
            Refusal::new(StatusCode::BAD_REQUEST, malformed.why, help).code(malformed.code)
        })?;
        check_mirrored(&frame, headers)?;
        match &frame.kind {
            Kind::Request(method) => match Modern::from_frame(&frame) {
                Some(modern) => {
                    modern.check(&frame, headers)?;
                    self.ask_without_session(headers, &frame).await
                }
                None if method == INITIALIZE => self.initialize(headers, &frame).await,
                None => self.ask(headers, &frame).await,
            },
            _ => {
                let session = self.session(headers)?;
                session.tell(&frame).await.map_err(|unsent| unsent_because(unsent, &frame))?;
                Ok(bare(StatusCode::ACCEPTED))
            }
        }
    }

    /// Handles a handshake, which begins a session.
    async fn initialize(&self, headers: &HeaderMap, frame: &Frame) -> Result<Response<Body>, Refusal> {
        if single(headers, SESSION_ID)?.is_some() {
            let help = "omit `Mcp-Session-Id` to begin another session";
            let refused = Refusal::new(StatusCode::BAD_REQUEST, "the session is already initialized", help);
            return Err(refused.with_id(frame.raw_id()));
        }
        let beginning = self.sessions.begin().map_err(|refused| refused.with_id(frame.raw_id()))?;
        let session = Arc::clone(&beginning.session);
        let gone = || {
            let help = "check that the server starts on its own, and try again";
            Refusal::new(StatusCode::BAD_GATEWAY, "the server has not answered the handshake", help)
                .with_id(frame.raw_id())
        };
        let (mut reader, line) = session.open(frame).map_err(|_| gone())?;
        session.send(line).await.map_err(|_| gone())?;
        let answer = timeout(self.start, reader.next()).await.map_err(|_| gone())?.ok_or_else(gone)?;
        let mut response = Body::json(StatusCode::OK, answer.message.clone());
        // An error begins no session.
        if Frame::read(answer.message.to_vec()).is_ok_and(|answer| answer.kind == Kind::Result) {
            let id = beginning.known()?;
            if let Ok(id) = HeaderValue::from_str(&id) {
                response.headers_mut().insert(SESSION_ID, id);
            }
        }
        Ok(response)
    }

    /// Handles a request of a session.
    async fn ask(&self, headers: &HeaderMap, frame: &Frame) -> Result<Response<Body>, Refusal> {
        let session = self.session(headers).map_err(|refused| refused.with_id(frame.raw_id()))?;
        let reader = asked_in(&session, frame).await?;
        Ok(sse::respond(GuardedReader { reader, gone: None }, None, self.form(&session)))
    }

    /// Handles a request that needs no session. Closing the connection cancels it.
    async fn ask_without_session(&self, headers: &HeaderMap, frame: &Frame) -> Result<Response<Body>, Refusal> {
        let session = self.sessions.common().map_err(|refused| refused.with_id(frame.raw_id()))?;
        if method_of(frame) == Some(CALL) {
            check_params(frame, headers, session.params.headers(frame))?;
        }
        let reader = asked_in(&session, frame).await?;
        let number = reader.number();
        let asked = reader.asked();
        let cancels = Arc::clone(&session);
        let gone: OnGone = Box::new(move || {
            if let Some(asked) = asked {
                cancels.cancel(number, &asked);
            }
        });
        let mut guarded = GuardedReader { reader, gone: Some(gone) };
        let form = EventFormat { is_numbered: false, is_primed: false, keep_alive: self.limits.keep_alive };
        match timeout(self.limits.keep_alive, guarded.reader.next()).await {
            Ok(Some(Event { message, is_last: true, .. })) => Ok(Body::json(status_of(&message), message)),
            Ok(Some(first)) => Ok(sse::respond(guarded, Some(first), form)),
            Ok(None) => {
                let help = "send the request again; if it was a call, first check what it did";
                Err(Refusal::new(StatusCode::BAD_GATEWAY, "the server has ended", help).with_id(frame.raw_id()))
            }
            Err(_) => Ok(sse::respond(guarded, None, form)),
        }
    }

    /// Opens a stream for messages that belong to no request, or one that is resumed.
    fn get(&self, headers: &HeaderMap) -> Result<Response<Body>, Refusal> {
        check_accept(headers, &["text/event-stream"])?;
        let session = self.session(headers)?;
        let (stream, after) = match single(headers, LAST_EVENT_ID)? {
            None => (STANDING, None),
            Some(id) => {
                let (stream, event) = event_id(id).ok_or_else(|| {
                    let reason = format!("invalid `Last-Event-ID` `{}`", bounded(id));
                    Refusal::new(StatusCode::BAD_REQUEST, reason, "send the id of an event of this session")
                })?;
                (stream, Some(event))
            }
        };
        let reader = session.streams.read(stream, after).ok_or_else(|| {
            let reason = "the events after that one are no longer kept";
            Refusal::new(StatusCode::GONE, reason, "open a stream without `Last-Event-ID`")
        })?;
        let form = EventFormat { is_primed: false, ..self.form(&session) };
        Ok(sse::respond(GuardedReader { reader, gone: None }, None, form))
    }

    fn delete(&self, headers: &HeaderMap) -> Result<Response<Body>, Refusal> {
        // The session is checked as for any other request.
        self.session(headers)?;
        if let Some(id) = single(headers, SESSION_ID)? {
            self.sessions.end(id);
        }
        Ok(bare(StatusCode::NO_CONTENT))
    }

    /// Returns the session that a request names, in the agreed version.
    fn session(&self, headers: &HeaderMap) -> Result<Arc<HttpSession>, Refusal> {
        let Some(id) = single(headers, SESSION_ID)? else {
            if is_stateless(headers)? {
                let reason = "missing field `io.modelcontextprotocol/protocolVersion` in `_meta`";
                let help = "set it in `_meta` of each request to the value of `MCP-Protocol-Version`";
                return Err(Refusal::new(StatusCode::BAD_REQUEST, reason, help).code(INVALID_PARAMS));
            }
            let help = "send `initialize` first, or the version of the protocol in `_meta`";
            return Err(Refusal::new(StatusCode::BAD_REQUEST, "missing header `Mcp-Session-Id`", help));
        };
        let Some(session) = self.sessions.find(id) else {
            let help = "send `initialize` without `Mcp-Session-Id` to begin another one";
            return Err(Refusal::new(StatusCode::NOT_FOUND, "there is no session with this id", help));
        };
        if let (Some(said), Some(agreed)) = (single(headers, VERSION)?, session.version())
            && said != agreed
        {
            let reason =
                format!("the session has the version `{}`, and the request `{}`", bounded(agreed), bounded(said));
            let help = "send the version that was agreed on as `MCP-Protocol-Version`";
            return Err(Refusal::new(StatusCode::BAD_REQUEST, reason, help));
        }
        Ok(session)
    }

    /// Returns the form of events. Events without data were introduced in 2025-11-25; older clients do not expect them.
    fn form(&self, session: &HttpSession) -> EventFormat {
        let is_primed = session.version().is_some_and(|version| version >= "2025-11-25");
        EventFormat { is_numbered: true, is_primed, keep_alive: self.limits.keep_alive }
    }
}

/// Sends a request in a session, and returns the reader of messages for its client.
async fn asked_in(session: &HttpSession, frame: &Frame) -> Result<Reader, Refusal> {
    let (reader, line) = session.open(frame).map_err(|_| in_use(frame))?;
    let number = reader.number();
    session.send(line).await.map_err(|unsent| {
        session.streams.unasked(number);
        unsent_because(unsent, frame)
    })?;
    Ok(reader)
}

fn in_use(frame: &Frame) -> Refusal {
    let reason = format!("the id `{}` is in use", bounded(frame.raw_id()));
    Refusal::new(StatusCode::CONFLICT, reason, "give each request a unique id")
}

fn unsent_because(unsent: Unsent, frame: &Frame) -> Refusal {
    let refused = match unsent {
        Unsent::Ended => {
            let help = "send `initialize` without `Mcp-Session-Id` to begin another one";
            Refusal::new(StatusCode::NOT_FOUND, "the session has ended", help)
        }
        Unsent::Stuck => {
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "the server is not reading its messages", "try again later")
        }
    };
    if matches!(frame.kind, Kind::Request(_)) { refused.with_id(frame.raw_id()) } else { refused }
}

/// Returns the status that the protocol defines for some errors (2026-07-28).
fn status_of(message: &Bytes) -> StatusCode {
    let frame = Frame::read(message.to_vec()).ok().filter(|frame| frame.kind == Kind::Error);
    let code = frame.and_then(|frame| frame.raw(member(&frame, "code")?).parse::<i64>().ok());
    match code {
        Some(-32_601) => StatusCode::NOT_FOUND,
        Some(-32_700 | -32_600 | -32_022..=-32_020) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

fn bare(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::default());
    *response.status_mut() = status;
    response
}

/// Returns the response to a browser's preflight for a request from an allowed page.
fn preflight() -> Response<Body> {
    let mut response = bare(StatusCode::NO_CONTENT);
    let mut set = |name, value| {
        drop(response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value)))
    };
    set("access-control-allow-methods", "GET, POST, DELETE");
    set(
        "access-control-allow-headers",
        "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id",
    );
    set("access-control-max-age", "600");
    response
}
