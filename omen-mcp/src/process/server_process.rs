//! Server process without its protocol.

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

use super::launch::Launch;
use super::stderr_tail::StderrTail;
use super::{Exit, Process, Wish};

use std::io;
use std::sync::Arc;

/// Server process whose messages the caller reads and writes as bytes. It is started with the environment named in the
/// [`Launch`], under a guard if servers are [guarded](crate::guard_servers), in its own process group. Dropping this kills the
/// process and everything that it has started.
#[derive(Debug)]
pub struct ServerProcess {
    wish: watch::Sender<Wish>,
    exit: Exit,
    stderr: Arc<StderrTail>,
}

impl ServerProcess {
    /// Starts the process, and returns it with its standard input and output. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// If the process cannot be started.
    pub fn start(
        launch: &Launch,
    ) -> Result<(Self, impl AsyncWrite + Send + Unpin + use<>, impl AsyncRead + Send + Unpin + use<>), io::Error> {
        let (wish, wishes) = watch::channel(Wish::Live);
        let process = Process::start(launch, wishes)?;
        let Process { stdin, stdout, stderr, exit } = process;
        Ok((Self { wish, exit, stderr }, stdin, stdout))
    }

    /// Gives the process [`ServerLimits::stop`](crate::ServerLimits::stop) to end, and kills it otherwise. Returns when it
    /// has ended. Close its input first.
    pub async fn stop(&self) {
        self.wish.send_if_modified(|wish| {
            let further = *wish < Wish::Stop;
            if further {
                *wish = Wish::Stop;
            }
            further
        });
        self.exit.clone().wait().await;
    }

    /// Kills the process at once.
    pub fn kill(&self) {
        self.wish.send_replace(Wish::Kill);
    }

    /// Returns how the process ended, such as `exit status: 1`, if it ends soon: one that closes its output is about to end.
    pub async fn exit_soon(&self) -> Option<String> {
        self.exit.clone().soon().await
    }

    /// Returns how the process ended; `None` while it runs.
    #[must_use]
    pub fn exit(&self) -> Option<String> {
        self.exit.how()
    }

    /// Returns the last 4,096 bytes that the process wrote to its standard error. The text is foreign and may contain secrets.
    #[must_use]
    pub fn stderr(&self) -> String {
        self.stderr.text()
    }
}
