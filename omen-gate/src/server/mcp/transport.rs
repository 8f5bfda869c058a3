//! Lines to and from a server, as messages of the SDK.

use std::io;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{
    ClientNotification, ClientRequest, ClientResult, CustomResult, ErrorCode, ErrorData, JsonRpcMessage, RequestId,
    ServerResult,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Map, Value};
use tokio::process::ChildStdout;
use tokio::task::consume_budget;

use super::ServerLimits;
use super::link::{End, Link};
use super::message::{Message, RpcError, RpcResult};
use super::requests::{Answers, RequestOrigin, Requests};
use crate::base::bounded;
use crate::call::Fault;
use omen_mcp::Line;
use omen_mcp::outbox::Outbox;
use omen_mcp::process::{Exit, Process, Wish};
use omen_mcp::{Broken, Lines};

/// Notification that makes a tool list stale.
const TOOLS_CHANGED: &str = "notifications/tools/list_changed";

/// The client's end of a server's standard streams.
///
/// INVARIANT: `receive` returns an answer only to an open request, and nothing after the link has ended.
#[derive(Debug)]
pub(super) struct Pipes {
    lines: Lines<ChildStdout>,
    /// `None` once the server's input is to be closed.
    out: Option<Outbox>,
    requests: Requests,
    limits: ServerLimits,
    link: Arc<Link>,
    exit: Exit,
}

impl Pipes {
    pub(super) fn new(process: Process, limits: ServerLimits, link: Arc<Link>) -> Self {
        let Process { stdin, stdout, exit, stderr: _ } = process;
        Self {
            lines: Lines::new(stdout, limits.line_bytes),
            out: Some(Outbox::new(stdin, limits.unread_bytes).0),
            requests: Requests::new(limits.open_requests),
            limits,
            link,
            exit,
        }
    }

    /// Tracks an outgoing message and queues it.
    fn start(
        &mut self,
        message: &TxJsonRpcMessage<RoleClient>,
    ) -> io::Result<impl Future<Output = io::Result<()>> + Send + use<>> {
        let out = self.out.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        let line = line(message)?;
        match message {
            JsonRpcMessage::Request(request) => {
                let RequestId::Number(id) = request.id else {
                    return Err(io::Error::other("requests are numbered"));
                };
                if self.requests.are_full() {
                    return Err(io::Error::other("the server has left too many requests unanswered"));
                }
                let asked = match request.request {
                    ClientRequest::CallToolRequest(_) | ClientRequest::ListToolsRequest(_) => RequestOrigin::Ours,
                    _ => RequestOrigin::Handshake,
                };
                let written = out.try_write(line)?;
                self.requests.ask(id, asked);
                return Ok(written);
            }
            JsonRpcMessage::Notification(note) => {
                if let ClientNotification::CancelledNotification(note) = &note.notification
                    && let Some(RequestId::Number(id)) = note.params.request_id
                {
                    // Abandoned whether or not the server can be notified.
                    self.requests.abandon(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        out.try_write(line)
    }

    /// Answers a request from the server: a ping with a result, all others with a refusal.
    ///
    /// Done here because the SDK starts a task for each request and bounds neither the tasks nor the ids that it stores
    /// for them: a server that asks faster than it is answered could exhaust the memory.
    fn reply(&self, id: RequestId, method: &str) {
        let answer: TxJsonRpcMessage<RoleClient> = if method == "ping" {
            JsonRpcMessage::response(ClientResult::empty(()), id)
        } else {
            let refusal =
                ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "this client does not support requests from servers", None);
            JsonRpcMessage::error(refusal, Some(id))
        };
        // A server that does not read its input gets no answer, whether or not it waits for one.
        if let (Some(out), Ok(line)) = (&self.out, line(&answer)) {
            let _ = out.try_send(line);
        }
    }

    /// Returns the next message for the SDK, or how the connection ended.
    async fn next(&mut self) -> Result<RxJsonRpcMessage<RoleClient>, End> {
        loop {
            // However much the server sends at once, other tasks get their turn, since answers also have to be written.
            // Dropping the future here loses nothing.
            consume_budget().await;
            let line = match self.lines.next().await {
                Ok(Some(line)) => line,
                Ok(None) => {
                    let how = self.exit.soon().await;
                    return Err(End::Closed(how.unwrap_or_else(|| "it closed its output".to_owned())));
                }
                Err(Broken::Io(error)) => return Err(End::Closed(bounded(&error.to_string()))),
                Err(Broken::Oversized) => return Err(End::Oversized(self.limits.line_bytes)),
            };
            if line.trim_ascii().is_empty() {
                continue;
            }
            match Message::read(&line).map_err(End::Malformed)? {
                Message::Notification { method } if method == TOOLS_CHANGED => self.link.changed(),
                Message::Notification { .. } => {}
                Message::Request { id, method } => self.reply(id, &method),
                Message::Answer { id, outcome } => match self.requests.answer(id) {
                    Answers::Open(RequestOrigin::Ours) => return Ok(ours(id, outcome)),
                    Answers::Open(RequestOrigin::Handshake) => return handshake(id, outcome).map_err(End::Malformed),
                    Answers::Abandoned => {}
                    Answers::Nothing => {
                        return Err(End::Malformed(format!("a response to the unknown request `{id}`")));
                    }
                },
            }
        }
    }
}

impl Transport<RoleClient> for Pipes {
    type Error = io::Error;

    fn send(&mut self, message: TxJsonRpcMessage<RoleClient>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let written = self.start(&message);
        async move { written?.await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        if self.link.ended().is_some() {
            return None;
        }
        match self.next().await {
            Ok(message) => Some(message),
            Err(end) => {
                self.link.end(end);
                None
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // A server that does not read never sees its input closed, but it gets no more time than others.
        self.link.wish(Wish::Stop);
        self.out = None;
        Ok(())
    }
}

fn line(message: &TxJsonRpcMessage<RoleClient>) -> serde_json::Result<Line> {
    serde_json::to_vec(message).map(Line::new)
}

/// Builds an answer that the SDK passes on unchanged; [`unpack`] takes it apart.
fn ours(id: i64, outcome: RpcResult) -> RxJsonRpcMessage<RoleClient> {
    let body = match outcome {
        RpcResult::Result(result) => Value::Object(result),
        // INVARIANT: a result is an object, so an array is an error, and a string is not an answer.
        RpcResult::Error(RpcError { code, message }) => Value::Array(vec![code.into(), message.into()]),
        RpcResult::Malformed(why) => Value::String(why),
    };
    JsonRpcMessage::response(ServerResult::CustomResult(CustomResult(body)), RequestId::Number(id))
}

/// Takes apart an answer built by [`ours`].
pub(super) fn unpack(result: ServerResult) -> Option<Result<Map<String, Value>, Fault>> {
    match result {
        ServerResult::CustomResult(CustomResult(Value::Object(result))) => Some(Ok(result)),
        ServerResult::CustomResult(CustomResult(Value::String(why))) => Some(Err(Fault::malformed(&why))),
        ServerResult::CustomResult(CustomResult(error)) => {
            let (code, message) = serde_json::from_value::<(i64, String)>(error).ok()?;
            Some(Err(Fault::refused(code, &message)))
        }
        _ => None,
    }
}

/// Builds an answer that the SDK reads itself.
fn handshake(id: i64, outcome: RpcResult) -> Result<RxJsonRpcMessage<RoleClient>, String> {
    match outcome {
        RpcResult::Result(result) => {
            let result = serde_json::from_value(Value::Object(result))
                .map_err(|error| bounded(&format!("the server rejected the handshake: {error}")))?;
            Ok(JsonRpcMessage::response(ServerResult::InitializeResult(result), RequestId::Number(id)))
        }
        RpcResult::Malformed(why) => Err(why),
        RpcResult::Error(RpcError { code, message }) => {
            let code = ErrorCode(i32::try_from(code).unwrap_or(ErrorCode::INTERNAL_ERROR.0));
            Ok(JsonRpcMessage::error(ErrorData::new(code, bounded(&message), None), Some(RequestId::Number(id))))
        }
    }
}
