//! Tool server that is a child process.

use std::sync::Arc;

use async_trait::async_trait;
use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, ListToolsRequest, PaginatedRequestParams};

use super::connection::Connection;
use super::current::Current;
use super::listing::Listing;
use super::{Launch, answer};
use crate::call::{Answer, Fault, Tool};
use crate::server::{Dispatch, ToolServer};

/// Server of the Model Context Protocol as a child process.
///
/// - A call never starts the process: this type cannot decide whether a tool that was running may run again. A call to
///   a server that has died fails with [`Fault::Unreachable`].
/// - A list does: if the process has died, or its connection was given up, it is restarted, at most once per list, and
///   lists its tools. A gate asks for the list before each call, so the next request after a death finds a live server,
///   whose tools are checked against their pins as usual. A server that dies each time fails each list once.
/// - A stopped server stays stopped until [`restart`](Self::restart).
/// - The server is offered no capabilities: no roots, no sampling, no elicitation.
/// - Supported protocol versions are those that begin with `initialize`, up to 2025-11-25.
/// - Dropping the server kills the process and everything that it has started. [`stop`](Self::stop) is gentler.
///
/// ```no_run
/// use omen_gate::mcp::{Launch, StdioServer};
/// use omen_gate::server::ToolServer;
///
/// # async fn example() -> Result<(), omen_gate::Fault> {
/// let server = StdioServer::start(Launch::new("config_store").arg("settings.json")).await?;
/// for tool in server.list().await? {
///     println!("{}: {}", tool.name, tool.description.unwrap_or_default());
/// }
/// server.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct StdioServer {
    launch: Launch,
    current: Current<Connection>,
    /// Whether the server should run. Locked while the process is started or stopped, so two lists never start two processes.
    wanted: tokio::sync::Mutex<bool>,
}

impl StdioServer {
    /// Starts the process and performs the handshake. Must be called within a tokio runtime with time and I/O enabled,
    /// which has to outlive the server.
    ///
    /// # Errors
    /// - [`Fault::Unreachable`] if the process cannot be started or ends before the handshake, with the end of its
    ///   standard error in the text; also if the protocol version is unsupported.
    /// - [`Fault::Timeout`] if the handshake takes longer than [`ServerLimits::start`](super::ServerLimits::start).
    /// - [`Fault::Refused`], [`Fault::Malformed`] or [`Fault::Oversized`], depending on the server's answer.
    pub async fn start(launch: Launch) -> Result<Self, Fault> {
        let revision = Arc::default();
        let connection = Connection::open(&launch, Arc::clone(&revision)).await?;
        Ok(Self { launch, current: Current::new(connection, revision), wanted: true.into() })
    }

    /// Restarts the process, killing the old one if it still runs. The tool list counts as changed.
    ///
    /// # Errors
    /// As for [`start`](Self::start). The server is then left unchanged.
    pub async fn restart(&self) -> Result<(), Fault> {
        let mut wanted = self.wanted.lock().await;
        self.start_anew().await?;
        *wanted = true;
        Ok(())
    }

    /// Closes the server's input, gives it [`ServerLimits::stop`](super::ServerLimits::stop) to end, and kills it otherwise.
    /// Returns when the process has ended. Open calls end with [`Fault::Died`].
    pub async fn stop(&self) {
        let mut wanted = self.wanted.lock().await;
        *wanted = false;
        self.connection().stop().await;
    }

    /// Returns how the process ended, such as `exit status: 1`; `None` while it runs.
    #[must_use]
    pub fn exit(&self) -> Option<String> {
        self.connection().exit()
    }

    /// Returns the last 4,096 bytes that the process wrote to its standard error. The text is foreign and may contain secrets.
    #[must_use]
    pub fn stderr(&self) -> String {
        self.connection().stderr()
    }

    /// Restarts a lost process unless another caller has already done so. Fails if the server was stopped.
    async fn revive(&self, lost: &Arc<Connection>) -> Result<Arc<Connection>, Fault> {
        let wanted = self.wanted.lock().await;
        let current = self.connection();
        if !Arc::ptr_eq(&current, lost) {
            return Ok(current);
        }
        if !*wanted {
            return Err(Fault::Unreachable { why: "it was stopped".to_owned() });
        }
        self.start_anew().await
    }

    /// Starts a new process and kills the old one. Call only with `wanted` held.
    async fn start_anew(&self) -> Result<Arc<Connection>, Fault> {
        let connection = Arc::new(Connection::open(&self.launch, self.current.counter()).await?);
        self.current.replace(Arc::clone(&connection)).kill();
        Ok(connection)
    }

    /// Lists the tools of a single run of the process: a restart in between must not mix two lists.
    async fn list_of(&self, connection: &Connection) -> Result<Vec<Tool>, Fault> {
        let mut listing = Listing::new(self.launch.limits_ref());
        let mut cursor = None;
        loop {
            let params = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
            let request = ListToolsRequest { params, ..ListToolsRequest::default() };
            cursor = listing.page(connection.ask(ClientRequest::ListToolsRequest(request)).await?)?;
            if cursor.is_none() {
                return Ok(listing.finish());
            }
        }
    }

    fn connection(&self) -> Arc<Connection> {
        self.current.get()
    }
}

#[async_trait]
impl ToolServer for StdioServer {
    async fn list(&self) -> Result<Vec<Tool>, Fault> {
        let connection = self.connection();
        if !connection.is_lost() {
            match self.list_of(&connection).await {
                // The process was already dead, unnoticed, or died when asked: the second attempt decides.
                Err(Fault::Died { .. } | Fault::Unreachable { .. }) if connection.is_lost() => {}
                listed => return listed,
            }
        }
        let connection = self.revive(&connection).await?;
        self.list_of(&connection).await
    }

    async fn call(&self, dispatch: Dispatch) -> Result<Answer, Fault> {
        let connection = dispatch.revision().map_or_else(|| Some(self.connection()), |seen| self.current.at(seen));
        let Some(connection) = connection else {
            return Err(Fault::unreachable("it was restarted after the tool was checked"));
        };
        let (tool, args) = dispatch.into_parts();
        let params = CallToolRequestParams::new(tool.as_str().to_owned()).with_arguments(args);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        answer::read(connection.ask(request).await?)
    }

    fn revision(&self) -> u64 {
        self.current.revision()
    }
}
