//! Lines to and from a server, as the SDK's messages.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{
    ClientNotification, ClientRequest, CustomRequest, CustomResult, ErrorCode, ErrorData, JsonRpcMessage, PingRequest,
    RequestId, ServerRequest, ServerResult,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Map, Value};
use tokio::process::ChildStdout;

use super::Limits;
use super::lines::{Broken, Lines};
use super::link::{End, Link};
use super::message::{Message, Outcome, RpcError};
use super::process::{Exit, Process, Wish};
use super::writer::Writer;
use crate::bounded;

/// The notification that makes a list of tools stale.
const TOOLS_CHANGED: &str = "notifications/tools/list_changed";

/// The client's end of a server's standard streams.
///
/// INVARIANT: `receive` gives an answer only to a request that is open, and after the link is ended it gives nothing.
#[derive(Debug)]
pub(super) struct Pipes {
    lines: Lines<ChildStdout>,
    /// None once the input of the server is to be closed.
    writer: Option<Writer>,
    open: HashMap<i64, Asked>,
    limits: Limits,
    link: Arc<Link>,
    exit: Exit,
}

/// What a request was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// The SDK's own, which wants its own types.
    Handshake,
    /// Ours, whose answer is kept as it is.
    Ours,
    /// Ours, and cancelled. The server may answer it all the same.
    Abandoned,
}

impl Pipes {
    pub(super) fn new(process: Process, limits: Limits, link: Arc<Link>) -> Self {
        let Process { stdin, stdout, exit, stderr: _ } = process;
        Self {
            lines: Lines::new(stdout, limits.line_bytes),
            writer: Some(Writer::new(stdin, limits.unread_bytes)),
            open: HashMap::new(),
            limits,
            link,
            exit,
        }
    }

    /// Notes what goes out, and gives it to the writer.
    fn start(
        &mut self,
        message: &TxJsonRpcMessage<RoleClient>,
    ) -> io::Result<impl Future<Output = io::Result<()>> + Send + use<>> {
        let writer = self.writer.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        match message {
            JsonRpcMessage::Request(request) => {
                let RequestId::Number(id) = request.id else {
                    return Err(io::Error::other("requests are numbered"));
                };
                if self.open.len() >= self.limits.open_requests {
                    return Err(io::Error::other("the server has left too many requests unanswered"));
                }
                let asked = match request.request {
                    ClientRequest::CallToolRequest(_) | ClientRequest::ListToolsRequest(_) => Asked::Ours,
                    _ => Asked::Handshake,
                };
                let written = writer.write(line)?;
                self.open.insert(id, asked);
                return Ok(written);
            }
            JsonRpcMessage::Notification(note) => {
                if let ClientNotification::CancelledNotification(note) = &note.notification
                    && let Some(RequestId::Number(id)) = note.params.request_id
                    && let Some(asked) = self.open.get_mut(&id)
                {
                    *asked = Asked::Abandoned;
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        writer.write(line)
    }

    /// The next message that the SDK is to see, or how the connection ended.
    async fn next(&mut self) -> Result<RxJsonRpcMessage<RoleClient>, End> {
        loop {
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
                Message::Request { id, method } => return Ok(request(id, method)),
                Message::Answer { id, outcome } => match self.open.remove(&id) {
                    Some(Asked::Ours) => return Ok(ours(id, outcome)),
                    Some(Asked::Handshake) => return handshake(id, outcome).map_err(End::Malformed),
                    Some(Asked::Abandoned) => {}
                    None => return Err(End::Malformed(format!("an answer to `{id}`, which was not asked"))),
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
        // A server that does not read never sees its input closed, but it has no longer to live than others.
        self.link.wish(Wish::Stop);
        self.writer = None;
        Ok(())
    }
}

/// A request of the server, without what it asks for: the SDK answers a ping, and refuses all others.
fn request(id: RequestId, method: String) -> RxJsonRpcMessage<RoleClient> {
    let request = if method == "ping" {
        ServerRequest::PingRequest(PingRequest::default())
    } else {
        ServerRequest::CustomRequest(CustomRequest::new(method, None))
    };
    JsonRpcMessage::request(request, id)
}

/// An answer that the SDK hands on as it is: `Ok` or `Err`, as [`unpack`] takes it apart.
fn ours(id: i64, outcome: Outcome) -> RxJsonRpcMessage<RoleClient> {
    let body = match outcome {
        Outcome::Result(result) => Value::Object(result),
        // INVARIANT: a result is an object, so that an array is an error.
        Outcome::Error(RpcError { code, message }) => Value::Array(vec![code.into(), message.into()]),
    };
    JsonRpcMessage::response(ServerResult::CustomResult(CustomResult(body)), RequestId::Number(id))
}

/// Takes apart what [`ours`] has put together.
pub(super) fn unpack(result: ServerResult) -> Option<Result<Map<String, Value>, (i64, String)>> {
    match result {
        ServerResult::CustomResult(CustomResult(Value::Object(result))) => Some(Ok(result)),
        ServerResult::CustomResult(CustomResult(error)) => serde_json::from_value(error).ok().map(Err),
        _ => None,
    }
}

/// An answer that the SDK reads for itself.
fn handshake(id: i64, outcome: Outcome) -> Result<RxJsonRpcMessage<RoleClient>, String> {
    match outcome {
        Outcome::Result(result) => {
            let result = serde_json::from_value(Value::Object(result))
                .map_err(|error| bounded(&format!("the handshake was not answered: {error}")))?;
            Ok(JsonRpcMessage::response(ServerResult::InitializeResult(result), RequestId::Number(id)))
        }
        Outcome::Error(RpcError { code, message }) => {
            let code = ErrorCode(i32::try_from(code).unwrap_or(ErrorCode::INTERNAL_ERROR.0));
            Ok(JsonRpcMessage::error(ErrorData::new(code, bounded(&message), None), Some(RequestId::Number(id))))
        }
    }
}
