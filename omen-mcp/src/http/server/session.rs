//! Session behind HTTP: the messages from its clients, and the routing of messages to them.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use omen_base::{Mutex, bounded};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tracing::{Span, info_span, warn};

use super::rewrite;
use super::streams::{ClientRequest, InUse, Reader, Streams};
use crate::edit;
use crate::frame::{Frame, INTERNAL_ERROR, Kind, error_response};
use crate::http::param_headers::Params;
use crate::line::Line;
use crate::methods::{CANCELLED, PROGRESS};
use crate::outbox::OutboxReader;

/// Session behind HTTP. Its client sends its id (up to 2025-11-25). Requests without an id (2026-07-28) share a
/// session, in which their request ids and tokens are replaced by the server's own, since each client chooses its own.
pub(super) struct HttpSession {
    owner: SessionOwner,
    /// `None` once nothing more is sent.
    to: Mutex<Option<mpsc::Sender<Line>>>,
    pub(super) streams: Arc<Streams>,
    /// Protocol version agreed on.
    version: OnceLock<String>,
    /// Arguments that clients repeat in headers, as far as they have seen the tool list.
    pub(super) params: Params,
    /// Span in which messages about the session are logged.
    pub(super) span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionOwner {
    /// One client, with a handshake.
    OneClient,
    /// All requests that need no session.
    AllRequests,
}

/// Reason why a message was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unsent {
    Ended,
    /// The server does not read.
    Stuck,
}

/// Time that a message may wait for a server that does not read.
const STUCK: Duration = Duration::from_secs(30);

impl HttpSession {
    /// Creates a session, and the receiver of its client's messages.
    pub(super) fn new(number: u64, owner: SessionOwner, kept: usize) -> (Arc<Self>, mpsc::Receiver<Line>) {
        let (to, lines) = mpsc::channel(1);
        let session = Arc::new(Self {
            owner,
            to: Mutex::new(Some(to)),
            streams: Arc::new(Streams::new(kept)),
            version: OnceLock::new(),
            params: Params::default(),
            span: info_span!("session", number),
        });
        (session, lines)
    }

    /// Sends a message of the client once there is room for it. A dropped future has sent either the whole message or nothing.
    pub(super) async fn send(&self, line: Line) -> Result<(), Unsent> {
        let to = self.to.lock().clone().ok_or(Unsent::Ended)?;
        match timeout(STUCK, to.send(line)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Unsent::Ended),
            Err(_) => Err(Unsent::Stuck),
        }
    }

    /// Ends the session as a client does by closing its end.
    pub(super) fn end(&self) {
        drop(self.to.lock().take());
    }

    pub(super) fn has_ended(&self) -> bool {
        self.to.lock().as_ref().is_none_or(mpsc::Sender::is_closed)
    }

    pub(super) fn version(&self) -> Option<&str> {
        self.version.get().map(String::as_str)
    }

    /// Sends a notification or a response from the client.
    pub(super) async fn tell(&self, frame: &Frame) -> Result<(), Unsent> {
        self.streams.is_used();
        let cancelled = match &frame.kind {
            Kind::Notification(method) if method == CANCELLED => frame.requested(),
            _ => None,
        };
        self.send(frame.text().into()).await?;
        // The cancelled request gets no response.
        if let Some((number, _)) = cancelled.and_then(|id| self.streams.asked(&id)) {
            self.streams.close(number);
        }
        Ok(())
    }

    /// Opens the stream of a request, and a reader for it. Returns the reader, and the request to send as a single line.
    pub(super) fn open(&self, frame: &Frame) -> Result<(Reader, Line), InUse> {
        let mut line = None;
        let number = self.streams.open(|number| {
            let (asked, text) = match self.owner {
                SessionOwner::OneClient => (rewrite::as_it_is(frame), frame.text().to_owned()),
                SessionOwner::AllRequests => rewrite::of_client(frame, number),
            };
            line = Some(Line::new(text));
            asked
        })?;
        self.streams.read(number, None).zip(line).ok_or(InUse)
    }

    /// Cancels a request whose client has gone away.
    pub(super) fn cancel(self: Arc<Self>, number: u64, asked: &ClientRequest) {
        self.streams.close(number);
        let line = rewrite::cancelled(&asked.id);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { self.send(line.into()).await });
        }
    }

    /// Routes the server's messages for the client to the right stream.
    pub(super) async fn route(self: Arc<Self>, mut lines: OutboxReader) {
        while let Some(line) = lines.next().await {
            match Frame::read(line.into_message()) {
                Ok(frame) => match self.owner {
                    SessionOwner::OneClient => self.for_the_client(&frame).await,
                    SessionOwner::AllRequests => self.for_a_request(&frame).await,
                },
                // An answer to no request: the message that it answers was refused on arrival.
                Err(malformed) => self.note(&format!("dropped a message to the client: {}", malformed.unquoted)),
            }
        }
        self.streams.end();
    }

    async fn for_the_client(&self, frame: &Frame) {
        let text = frame.text();
        match &frame.kind {
            Kind::Request(_) => self.push(self.streams.likely(), text, false).await,
            Kind::Notification(method) => {
                let named = (method == PROGRESS).then(|| rewrite::progress_token(frame)).flatten();
                let asked = named.and_then(|(token, _)| self.streams.of_token(&token));
                self.push(asked.map_or_else(|| self.streams.likely(), |(number, _)| number), text, false).await;
            }
            Kind::Result | Kind::Error | Kind::Unsure(_) => {
                let Some((number, _)) = frame.id().and_then(|id| self.streams.asked(id)) else {
                    return frame.id().into_iter().for_each(|id| self.streams.answered(id));
                };
                if self.version.get().is_none()
                    && let Some(version) = edit::text(frame, "protocolVersion")
                {
                    let _ = self.version.set(version);
                }
                self.push(number, text, true).await;
            }
        }
    }

    async fn for_a_request(&self, frame: &Frame) {
        match &frame.kind {
            Kind::Request(method) => {
                self.note(&format!(
                    "refused `{}` of the server: this era has no requests from servers",
                    bounded(method)
                ));
                self.refuse(frame).await;
            }
            Kind::Notification(method) => {
                if method == CANCELLED {
                    // A server ends a subscription with this notification; here, the end of the stream indicates it.
                    if let Some((number, _)) = frame.requested().and_then(|id| self.streams.asked(&id)) {
                        self.streams.close(number);
                    }
                    return;
                }
                match rewrite::for_its_client(frame, &self.streams) {
                    Some((number, text)) => self.push(number, text, false).await,
                    None => match self.streams.only() {
                        Some(number) => self.push(number, frame.text(), false).await,
                        None => self.note(&format!(
                            "dropped the notification `{}`: it does not say which of the requests it belongs to",
                            bounded(method)
                        )),
                    },
                }
            }
            Kind::Result | Kind::Error | Kind::Unsure(_) => {
                let Some((number, asked)) = frame.id().and_then(|id| self.streams.asked(id)) else {
                    // The client of the request has gone.
                    return frame.id().into_iter().for_each(|id| self.streams.answered(id));
                };
                if asked.lists && frame.kind == Kind::Result {
                    self.params.learn(frame);
                }
                self.push(number, rewrite::response(frame, &asked), true).await;
            }
        }
    }

    /// Puts a message on a stream. A request lost because of it is answered, since its server would otherwise wait forever.
    async fn push(&self, number: u64, message: impl Into<Line>, is_last: bool) {
        let lost = self.streams.push(number, message.into().into_message(), is_last).await;
        if !lost.is_empty() {
            self.note(&format!("dropped {} messages that the client did not read", lost.len()));
        }
        for message in lost {
            if let Ok(frame) = Frame::read(message.to_vec())
                && matches!(frame.kind, Kind::Request(_))
            {
                self.refuse(&frame).await;
            }
        }
    }

    /// Answers a server's request that no client receives.
    async fn refuse(&self, frame: &Frame) {
        let line = error_response(frame.raw_id(), INTERNAL_ERROR, "no client reads this request");
        let _ = self.send(line.into()).await;
    }

    /// Logs something about the session, even from a task of another one.
    fn note(&self, what: &str) {
        self.span.in_scope(|| warn!("{what}"));
    }
}
