//! Messages from a server.

use std::ops::RangeInclusive;
use std::sync::Arc;

use omen_gate::mcp::{Broken, Lines, ServerProcess};
use omen_gate::{Fault, bounded};
use serde_json::Value;
use tokio::io::AsyncRead;
use tokio::sync::mpsc;
use tokio::task::consume_budget;
use tracing::warn;

use super::open_requests::{NotForwarded, ResponseTarget, ServerRequest};
use super::shared::Hub;
use crate::client::own_requests::ResponseMatch;
use crate::end::ConnectionEnd;
use crate::messages::methods::{self, ACKNOWLEDGED, RESOURCES, Route, Side, TOOLS};
use crate::messages::refusal::{self, INTERNAL_ERROR};
use crate::server::{Output, ServerSession, http_fault};
use omen_mcp::Id;
use omen_mcp::edit::{edited, member, meta};
use omen_mcp::frame::{Frame, INVALID_REQUEST, Kind, similar};
use omen_mcp::http::client::{RequestError, ServerEvent};
use omen_mcp::json;
use omen_mcp::methods::SUBSCRIPTION;

/// Reads messages to the end and passes each on to its recipient. Then the connection is over.
pub(crate) async fn read(
    hub: Arc<Hub>,
    session: Arc<ServerSession>,
    output: Output,
    process: Option<Arc<ServerProcess>>,
    limit: usize,
) {
    let from = FromServer { hub: &hub, session: &session };
    let lost = match output {
        Output::Lines(output) => from.lines(output, process.as_deref(), limit).await,
        Output::Messages(mut said) => {
            let lost = from.messages(&mut said).await;
            session.upstream.end(lost);
            // The session ends at the server too.
            said.close();
            while said.recv().await.is_some() {}
            return;
        }
    };
    if !matches!(lost, ConnectionEnd::Closed(_)) {
        // Nobody listens to the server any more.
        process.iter().for_each(|process| process.kill());
    }
    session.upstream.end(lost);
}

/// Server whose messages are being read.
#[derive(Clone, Copy)]
struct FromServer<'h> {
    hub: &'h Hub,
    session: &'h ServerSession,
}

impl FromServer<'_> {
    async fn lines(
        self,
        output: impl AsyncRead + Unpin,
        process: Option<&ServerProcess>,
        limit: usize,
    ) -> ConnectionEnd {
        let mut lines = Lines::new(output, limit);
        let mut last_long = None;
        loop {
            // However much the server sends at once, other tasks get their turn.
            consume_budget().await;
            match lines.next().await {
                Ok(Some(text)) if text.trim_ascii().is_empty() => {}
                Ok(Some(text)) => {
                    if let Err(why) = self.line(text, &mut last_long).await {
                        return ConnectionEnd::Malformed(why);
                    }
                }
                Ok(None) => {
                    let how = match process {
                        Some(process) => process.exit_soon().await,
                        None => None,
                    };
                    return ConnectionEnd::Closed(how.unwrap_or_else(|| "it closed its output".to_owned()));
                }
                Err(Broken::Io(error)) => return ConnectionEnd::Closed(bounded(&error.to_string())),
                Err(Broken::Oversized) => return ConnectionEnd::Oversized(u64::try_from(limit).unwrap_or(u64::MAX)),
            }
        }
    }

    async fn messages(self, said: &mut mpsc::Receiver<ServerEvent>) -> ConnectionEnd {
        loop {
            consume_budget().await;
            match said.recv().await {
                Some(ServerEvent::Message(frame)) => {
                    if let Err(why) = self.message(frame).await {
                        return ConnectionEnd::Malformed(why);
                    }
                }
                Some(ServerEvent::Failed(id, error)) => self.failed(&id, http_fault(error)).await,
                Some(ServerEvent::Note(note)) => warn!("{note}"),
                Some(ServerEvent::Lost(RequestError::Malformed(why))) => return ConnectionEnd::Malformed(why),
                Some(ServerEvent::Lost(RequestError::Died(why))) => return ConnectionEnd::Closed(why),
                Some(ServerEvent::Lost(error)) => return ConnectionEnd::Closed(error.to_string()),
                None => return ConnectionEnd::Closed("the connection was closed".to_owned()),
            }
        }
    }

    /// Handles a request that will not be answered, given its id.
    async fn failed(self, id: &Id, fault: Fault) {
        if let Some(number) = id.ours() {
            return self.session.upstream.failed(number, fault);
        }
        let ResponseTarget::Client { is_handshake } = self.hub.open.answered(id, self.session.place) else { return };
        if is_handshake {
            self.hub.session.answered(false);
        }
        // Nobody waits for the answer.
        if fault != Fault::Cancelled {
            warn!("a request has no answer: {}", fault.unquoted());
            self.hub.client.send(refusal::error(&id.raw(), INTERNAL_ERROR, &fault.to_string())).await;
        }
    }

    /// Handles a line. The last long result is kept, because the tool list is sent again before each call.
    async fn line(self, line: Vec<u8>, last_long: &mut Option<Frame>) -> Result<(), String> {
        let frame = match last_long.as_ref().and_then(|last| last.again(&line)) {
            Some(frame) => frame,
            None => Frame::read(line).map_err(|malformed| malformed.why)?,
        };
        if frame.kind == Kind::Result && LONG.contains(&frame.text().len()) {
            *last_long = Some(frame.clone());
        }
        self.message(frame).await
    }

    async fn message(self, frame: Frame) -> Result<(), String> {
        match frame.kind.clone() {
            Kind::Request(method) => self.request(&frame, &method).await,
            Kind::Notification(method) => {
                if let Some(line) = self.notification(&frame, &method) {
                    self.hub.client.send(line).await;
                }
                Ok(())
            }
            Kind::Result | Kind::Error | Kind::Unsure(_) => self.response(frame).await,
        }
    }

    async fn request(self, frame: &Frame, method: &str) -> Result<(), String> {
        let Some(id) = frame.id().cloned() else { return Ok(()) };
        if id.is_ours() {
            let why = format!("an id that begins with `{}` is reserved", omen_mcp::OURS);
            self.session.upstream.send(refusal::error(frame.raw_id(), INVALID_REQUEST, &why)).await;
            return Ok(());
        }
        if let Err(why) = self.session.settings.passages.request(method, Side::Server, frame) {
            let line = self.session.refused(frame.raw_id(), why).await;
            self.session.upstream.send(line).await;
            return Ok(());
        }
        let token = meta(frame, "progressToken").filter(|_| !self.hub.is_alone());
        let asked = ServerRequest {
            server: self.session.place,
            id: id.clone(),
            raw_id: frame.raw_id().to_owned(),
            raw_token: token.clone().map(|span| frame.raw(span).to_owned()),
            is_cancelled: false,
        };
        let number = self.hub.client.number();
        match self.hub.open.ask_client(number, asked) {
            Ok(()) if self.hub.is_alone() => self.hub.client.send(frame.text()).await,
            Ok(()) => {
                // Two servers may choose the same id, or the same progress token, so the client gets others.
                let edits = frame.id_span().into_iter().chain(token).map(|span| (span, Id::write(number))).collect();
                self.hub.client.send(edited(frame.text(), edits)).await;
            }
            Err(NotForwarded::InUse) => return Err(format!("the id `{id}` of its request is in use")),
            Err(NotForwarded::Full) => {
                let why = "the client has left too many requests unanswered";
                self.session.upstream.send(refusal::error(frame.raw_id(), INTERNAL_ERROR, why)).await;
            }
        }
        Ok(())
    }

    /// Returns the line for the client, if there is one.
    fn notification(self, frame: &Frame, method: &str) -> Option<String> {
        let (hub, place) = (self.hub, self.session.place);
        let route = methods::notification(method, Side::Server).map(|method| method.route);
        let mut number = None;
        match route {
            Some(Route::List(list)) if list.key == TOOLS.key => self.session.upstream.changed(),
            Some(Route::List(list)) if list.key == RESOURCES.key => hub.listings.forget(place),
            Some(Route::ById) => number = frame.requested().and_then(|id| hub.open.cancelled_by_server(place, &id)),
            _ => {}
        }
        let as_it_is = || frame.text().to_owned();
        if hub.is_alone() {
            return Some(as_it_is());
        }
        let dropped = |why: &str| {
            warn!("dropped the notification `{}`: {why}", bounded(method));
            None
        };
        if let Some(span) = meta(frame, SUBSCRIPTION) {
            let listens = Id::read(frame.raw(span)).is_some_and(|id| hub.open.listens(&id, place));
            return match listens {
                // Listening has been acknowledged for all servers at once.
                true => (method != ACKNOWLEDGED).then(as_it_is),
                false => dropped("the client does not listen to it"),
            };
        }
        match route {
            Some(Route::ByToken) => {
                let token = member(frame, "progressToken").and_then(|span| Id::read(frame.raw(span)));
                match token.is_some_and(|token| hub.open.has_token(&token, place)) {
                    true => Some(as_it_is()),
                    false => dropped("no request of this server has its token"),
                }
            }
            Some(Route::ById) => {
                let (id, span) = (frame.requested()?, member(frame, "requestId")?);
                if let Some(number) = number {
                    return Some(edited(frame.text(), vec![(span, Id::write(number))]));
                }
                // A server ends a subscription with this notification.
                let ends = hub.open.listens(&id, place);
                (ends && matches!(hub.open.answered(&id, place), ResponseTarget::Client { .. })).then(as_it_is)
            }
            Some(Route::ByUri) => {
                let uri = member(frame, "uri").and_then(|span| json::text(frame.text(), span)).unwrap_or_default();
                let owners = hub.listings.owners(&uri);
                match owners.is_empty() || owners.contains(&place) {
                    true => Some(as_it_is()),
                    false => dropped("the resource belongs to another server"),
                }
            }
            _ => Some(as_it_is()),
        }
    }

    async fn response(self, frame: Frame) -> Result<(), String> {
        let Some(id) = frame.id().cloned() else { return Ok(()) };
        let unknown = || Err(format!("a response to the unknown request `{id}`"));
        if id.is_ours() {
            return match self.session.upstream.answered(frame) {
                ResponseMatch::Open => Ok(()),
                ResponseMatch::Late => {
                    warn!("the server answered the request `{id}`, which is no longer open");
                    Ok(())
                }
                ResponseMatch::Nothing => unknown(),
            };
        }
        let is_handshake = match self.hub.open.answered(&id, self.session.place) {
            ResponseTarget::Client { is_handshake } => is_handshake,
            ResponseTarget::OneOfSeveral | ResponseTarget::Late | ResponseTarget::Forgotten => return Ok(()),
            ResponseTarget::Nothing => return unknown(),
        };
        if is_handshake {
            self.hub.session.answered(frame.kind == Kind::Result);
        }
        let malformed = match &frame.kind {
            Kind::Unsure(why) => Some(why.clone()),
            Kind::Result => match input_requests(&frame) {
                Ok(None) => None,
                Ok(Some(requests)) => match self.session.settings.passages.input_requests(&requests) {
                    Ok(()) => None,
                    Err(why) => {
                        let line = self.session.refused(frame.raw_id(), why).await;
                        self.hub.client.send(line).await;
                        return Ok(());
                    }
                },
                Err(why) => Some(why),
            },
            _ => None,
        };
        let line = match malformed {
            None => frame.text().as_bytes().to_vec(),
            Some(why) => {
                // A description of the flaw may quote a call.
                warn!("the server sent an invalid response");
                refusal::error(frame.raw_id(), INTERNAL_ERROR, &format!("the server's response is malformed: {why}"))
            }
        };
        self.hub.client.send(line).await;
        Ok(())
    }
}

/// Returns what a relayed result requests from the client, if anything (2026-07-28). The rest of the result is not read.
fn input_requests(response: &Frame) -> Result<Option<Value>, String> {
    let members = response.members().map_err(|flaw| flaw.to_string())?;
    if let Some(why) = members.iter().find_map(|member| similar(&member.key, &["inputRequests"])) {
        return Err(why);
    }
    let Some(requests) = members.iter().find(|member| member.key == "inputRequests") else { return Ok(None) };
    serde_json::from_str(response.raw(requests.span.clone())).map(Some).map_err(|error| error.to_string())
}

/// Sizes in bytes at which a line takes longer to parse than to compare, and may be kept.
const LONG: RangeInclusive<usize> = 1024..=256 * 1024;
