//! A tool server that is a child process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, ListToolsRequest, PaginatedRequestParams};

use super::connection::Connection;
use super::listing::Listing;
use super::{Launch, answer};
use crate::Fault;
use crate::server::{Dispatch, ToolServer};
use crate::tool::{Answer, Tool};

/// A server of the Model Context Protocol as a child process.
///
/// - A server that has died stays dead, and what is asked of it is [`Fault::Unreachable`], until somebody calls
///   [`restart`](Self::restart): whether a tool that was running may run again is not for this type to say.
/// - It offers a server no capability: no roots, no sampling, no elicitation.
/// - It speaks the versions of the protocol that begin with `initialize`, up to 2025-11-25.
/// - When it is dropped, the process is killed with all that it has started. [`stop`](Self::stop) is kinder.
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
    revision: Arc<AtomicU64>,
    current: Mutex<Arc<Connection>>,
}

impl StdioServer {
    /// Starts the process and shakes hands. Must be called within a runtime of tokio, with its timer and its driver of
    /// input and output, which has to outlive the server.
    ///
    /// # Errors
    /// - [`Fault::Unreachable`] if the process cannot be started or ends before the handshake; the end of what it
    ///   wrote to its standard error is in the text. Also if it speaks no version of the protocol that we know.
    /// - [`Fault::Timeout`] if the handshake takes longer than [`Limits::start`](super::Limits::start).
    /// - [`Fault::Refused`], [`Fault::Malformed`] and [`Fault::Oversized`] as its answer was.
    pub async fn start(launch: Launch) -> Result<Self, Fault> {
        let revision = Arc::default();
        let connection = Connection::open(&launch, Arc::clone(&revision)).await?;
        Ok(Self { launch, revision, current: Mutex::new(Arc::new(connection)) })
    }

    /// Starts the process anew, and kills the old one if it still runs. The list of tools counts as changed.
    ///
    /// # Errors
    /// As [`start`](Self::start). Then the server stays as it was.
    pub async fn restart(&self) -> Result<(), Fault> {
        let connection = Arc::new(Connection::open(&self.launch, Arc::clone(&self.revision)).await?);
        let old = std::mem::replace(&mut *self.lock(), connection);
        self.revision.fetch_add(1, Ordering::Release);
        old.kill();
        Ok(())
    }

    /// Closes the server's input, gives it [`Limits::stop`](super::Limits::stop) to end, and kills it otherwise.
    /// Returns when the process has ended. Open calls end with [`Fault::Died`].
    pub async fn stop(&self) {
        self.connection().stop().await;
    }

    /// How the process ended, such as `exit status: 1`, or none while it runs.
    #[must_use]
    pub fn exit(&self) -> Option<String> {
        self.connection().exit()
    }

    /// The last 4,096 bytes of what the process wrote to its standard error. It is foreign text, and may hold secrets.
    #[must_use]
    pub fn stderr(&self) -> String {
        self.connection().stderr()
    }

    fn connection(&self) -> Arc<Connection> {
        Arc::clone(&self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Arc<Connection>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ToolServer for StdioServer {
    async fn list(&self) -> Result<Vec<Tool>, Fault> {
        // All pages of one run: a restart in between must not mix two lists.
        let connection = self.connection();
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

    async fn call(&self, dispatch: Dispatch) -> Result<Answer, Fault> {
        let (tool, args) = dispatch.into_parts();
        let params = CallToolRequestParams::new(tool.as_str().to_owned()).with_arguments(args);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        answer::read(self.connection().ask(request).await?)
    }

    fn revision(&self) -> u64 {
        self.revision.load(Ordering::Acquire)
    }
}
