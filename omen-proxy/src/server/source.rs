//! Way in which a session reaches its server.

use std::fmt;
use std::sync::Arc;

use omen_gate::mcp::{Launch, ServerLimits, ServerProcess};
use omen_gate::{Fault, bounded};
use tokio::io::{AsyncRead, AsyncWrite};

use super::connection::{Connection, Output};
use crate::remote::Remote;

/// Way in which a session reaches its server. Each session has a separate server: a new process or a new connection.
#[derive(Clone)]
pub struct Source {
    limits: ServerLimits,
    /// Whether the server is reached over HTTP.
    pub(crate) has_address: bool,
    connect: Arc<dyn Fn() -> Result<Connection, Fault> + Send + Sync>,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Source {
    /// Starts a process for each session.
    #[must_use]
    pub fn process(launch: Launch) -> Self {
        let limits = *launch.limits_ref();
        let connect = move || {
            let (process, input, output) = ServerProcess::start(&launch)
                .map_err(|error| Fault::Unreachable { why: bounded(&format!("it could not be started: {error}")) })?;
            Ok(Connection { input: Box::new(input), output: Output::Lines(Box::new(output)), process: Some(process) })
        };
        Self { limits, has_address: false, connect: Arc::new(connect) }
    }

    /// Connects each session to streams: one that the server reads, and one that it writes.
    #[must_use]
    pub fn streams<I, O>(
        limits: ServerLimits,
        connect: impl Fn() -> Result<(I, O), Fault> + Send + Sync + 'static,
    ) -> Self
    where
        I: AsyncWrite + Send + Unpin + 'static,
        O: AsyncRead + Send + Unpin + 'static,
    {
        let connect = move || {
            let (input, output) = connect()?;
            Ok(Connection { input: Box::new(input), output: Output::Lines(Box::new(output)), process: None })
        };
        Self { limits, has_address: false, connect: Arc::new(connect) }
    }

    /// Reaches the server over Streamable HTTP, in a separate session for each session of the proxy. Must be used within a
    /// tokio runtime with time and I/O enabled.
    #[must_use]
    pub fn remote(remote: Remote) -> Self {
        let limits = *remote.server_limits();
        Self { limits, has_address: true, connect: Arc::new(move || Ok(remote.connect())) }
    }

    pub(crate) fn limits(&self) -> &ServerLimits {
        &self.limits
    }

    pub(crate) fn connect(&self) -> Result<Connection, Fault> {
        (self.connect)()
    }
}
