//! Connection to a running server: its process, the handshake, and the requests sent to it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use rmcp::model::{ClientCapabilities, ClientConfig, ClientRequest, Implementation, ProtocolVersion};
use rmcp::service::{ClientInitializeError, PeerRequestOptions, RequestHandle, RunningService, ServiceError};
use rmcp::{ClientHandler, RoleClient, ServiceExt as _};
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::Launch;
use super::link::{End, Link};
use super::transport::{Pipes, unpack};
use crate::base::bounded;
use crate::call::Fault;
use omen_mcp::StderrTail;
use omen_mcp::process::{EXIT, Exit, Process, Wish};

/// Run of a server. The process is killed when this value is dropped.
#[derive(Debug)]
pub(super) struct Connection {
    service: RunningService<RoleClient, Client>,
    link: Arc<Link>,
    exit: Exit,
    stderr: Arc<StderrTail>,
    runtime: Handle,
}

/// The gate as a client of a server, without any capabilities.
#[derive(Clone, Copy, Debug)]
struct Client;

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let name = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), name)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }
}

impl Connection {
    /// Starts the server and performs the handshake.
    pub(super) async fn open(launch: &Launch, revision: Arc<AtomicU64>) -> Result<Self, Fault> {
        let limits = *launch.limits_ref();
        let link = Arc::new(Link::new(revision));
        let process = Process::start(launch, link.wishes())
            .map_err(|error| Fault::Unreachable { why: bounded(&format!("it could not be started: {error}")) })?;
        let (mut exit, stderr) = (process.exit.clone(), Arc::clone(&process.stderr));
        // On timeout, dropping these values also kills the process.
        let shaken = timeout(limits.start, Client.serve(Pipes::new(process, limits, Arc::clone(&link)))).await;
        let service = match shaken {
            Err(_) => return Err(Fault::Timeout { after: limits.start }),
            Ok(Err(error)) => {
                let end = match (&error, link.ended()) {
                    // Its input is broken; that its output is broken too has not been noticed yet.
                    (ClientInitializeError::TransportError { .. }, None) => exit.soon().await.map(End::Closed),
                    (_, end) => end,
                };
                return Err(not_shaken(&error, end, &stderr));
            }
            Ok(Ok(service)) => service,
        };
        let connection = Self { service, link, exit, stderr, runtime: Handle::current() };
        let version = connection.service.peer_info().map(|info| info.protocol_version.clone());
        match version.filter(|version| ProtocolVersion::KNOWN_VERSIONS.contains(version) && version.has_initialize()) {
            Some(_) => Ok(connection),
            None => Err(Fault::Unreachable { why: "unsupported protocol version".to_owned() }),
        }
    }

    /// Sends a request. Dropping the future notifies the server that the request is cancelled.
    pub(super) async fn ask(&self, request: ClientRequest) -> Result<Map<String, Value>, Fault> {
        if let Some(end) = self.link.ended() {
            return Err(end.before());
        }
        let sent = self.service.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
        let Ok(handle) = sent else {
            return Err(self.end().before());
        };
        let mut open = Open { handle: Some(handle), runtime: &self.runtime };
        // An answer that has arrived counts even if the server has died since.
        let answer = tokio::select! {
            biased;
            answer = open.answer() => answer,
            end = self.link.over() => return Err(end.during()),
        };
        match answer {
            RequestResult::With(answer) => answer,
            // The line was not written to its end, so the server cannot have read it.
            RequestResult::NotSent(why) => Err(Fault::Unreachable { why }),
            RequestResult::Deaf => Err(self.deaf().await.before()),
            RequestResult::Never => Err(self.end().during()),
        }
    }

    /// Returns how the connection to a server that no longer reads ended, after reading the server's earlier output.
    async fn deaf(&self) -> End {
        if timeout(EXIT, self.link.over()).await.is_err() {
            self.link.end(End::Closed("it closed its input".to_owned()));
        }
        self.end()
    }

    /// Returns how the connection ended, if the SDK reports that it has.
    fn end(&self) -> End {
        self.link.ended().unwrap_or_else(|| End::Closed("the connection was closed".to_owned()))
    }

    /// Closes the server's input, gives the server time to end, and kills it otherwise. Returns when the process has ended.
    pub(super) async fn stop(&self) {
        self.link.end(End::Stopped);
        self.service.cancellation_token().cancel();
        self.exit.clone().wait().await;
    }

    /// Kills the server at once.
    pub(super) fn kill(&self) {
        self.link.end(End::Stopped);
        self.link.wish(Wish::Kill);
    }

    /// Returns whether no more requests can be sent. Processes left behind by a server may hold its streams open after
    /// the server itself has ended.
    pub(super) fn is_lost(&self) -> bool {
        self.link.ended().is_some() || self.exit().is_some()
    }

    /// Returns how the process ended, if it has.
    pub(super) fn exit(&self) -> Option<String> {
        self.exit.how()
    }

    pub(super) fn stderr(&self) -> String {
        self.stderr.text()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.link.wish(Wish::Kill);
    }
}

enum RequestResult {
    With(Result<Map<String, Value>, Fault>),
    NotSent(String),
    /// The request was not sent, because the server has closed its input.
    Deaf,
    Never,
}

/// Open request. If it is dropped before its response, the server is notified.
struct Open<'c> {
    handle: Option<RequestHandle<RoleClient>>,
    runtime: &'c Handle,
}

impl Open<'_> {
    async fn answer(&mut self) -> RequestResult {
        let Some(handle) = &mut self.handle else { return RequestResult::Never };
        let answer = (&mut handle.rx).await;
        self.handle = None;
        match answer {
            Ok(Ok(result)) => unpack(result).map_or(RequestResult::Never, RequestResult::With),
            Ok(Err(ServiceError::TransportSend(error))) => match error.error.downcast_ref::<io::Error>() {
                Some(error) if error.kind() == io::ErrorKind::BrokenPipe => RequestResult::Deaf,
                _ => RequestResult::NotSent(bounded(&error.error.to_string())),
            },
            Ok(Err(_)) | Err(_) => RequestResult::Never,
        }
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if let Some(handle) = self.handle.take() {
            self.runtime.spawn(handle.cancel(Some("nobody is waiting for the answer".to_owned())));
        }
    }
}

/// Returns the fault for a failed handshake. No tool has run, and what the server wrote to its standard error was
/// written before it was notified.
fn not_shaken(error: &ClientInitializeError, end: Option<End>, stderr: &StderrTail) -> Fault {
    match (end, error) {
        (Some(End::Closed(how)), _) => {
            let words = stderr.text();
            let why = match words.trim() {
                "" => format!("it ended before the handshake: {how}"),
                words => format!("it ended before the handshake: {how}; its stderr ends with `{}`", bounded(words)),
            };
            Fault::Unreachable { why }
        }
        (Some(end), _) => end.during(),
        (None, ClientInitializeError::JsonRpcError(error)) => {
            Fault::Refused { code: i64::from(error.code.0), message: bounded(&error.message) }
        }
        (None, error) => Fault::Unreachable { why: bounded(&format!("the handshake failed: {error}")) },
    }
}
