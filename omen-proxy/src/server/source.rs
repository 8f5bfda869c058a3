//! Way in which a session reaches its server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use omen_gate::config::{Endpoint, HeaderSource, Limits};
use omen_gate::mcp::{Launch, ServerLimits, ServerProcess};
use omen_gate::{Fault, bounded};
use omen_mcp::http::client::{BadRemote, Remote, RemoteLimits, SentHeaders};
use tokio::io::{AsyncRead, AsyncWrite};

use super::connection::{Connection, Output};

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

    /// Reaches the server over Streamable HTTP, in a separate session for each session of the proxy, with the limits of a
    /// configuration. Must be used within a tokio runtime with time and I/O enabled.
    ///
    /// # Errors
    /// If a variable for a header is missing, or anything needed for an encrypted connection.
    pub fn configured(endpoint: &Endpoint, limits: &Limits) -> Result<Self, BadRemote> {
        let longest = limits.call_timeout_seconds.max(limits.list_timeout_seconds);
        // The gate's own time limits end first, and their messages say more.
        let answer = Duration::from_secs(u64::from(longest) + 5);
        let mut remote = RemoteLimits::default();
        (remote.answer, remote.idle) = (answer.max(remote.answer), answer.max(remote.idle));
        Self::remote(endpoint, limits.into(), remote)
    }

    /// Same as [`configured`](Self::configured), with these limits.
    ///
    /// # Errors
    /// As for [`configured`](Self::configured).
    pub fn remote(endpoint: &Endpoint, limits: ServerLimits, remote: RemoteLimits) -> Result<Self, BadRemote> {
        let mut headers = SentHeaders::default();
        for (name, source) in endpoint.headers() {
            match source {
                HeaderSource::Text(text) => headers.add(name, text)?,
                HeaderSource::Env { variable, prefix } => headers.add_variable(name, prefix, variable)?,
            }
        }
        let remote = Remote::new(endpoint.url(), endpoint.ca_file.as_deref(), headers, limits, remote)?;
        let connect = move || {
            let (input, output) = remote.connect();
            Ok(Connection { input: Box::new(input), output: Output::Messages(output), process: None })
        };
        Ok(Self { limits, has_address: true, connect: Arc::new(connect) })
    }

    pub(crate) fn limits(&self) -> &ServerLimits {
        &self.limits
    }

    pub(crate) fn connect(&self) -> Result<Connection, Fault> {
        (self.connect)()
    }
}
