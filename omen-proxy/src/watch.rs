//! Notification when the configuration file changes or the process receives SIGHUP.
//!
//! The file is read twice a second. A file system watch would be triggered by every entry of an audit log in the same folder, and
//! reports nothing about remote file systems or links whose targets change.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use omen_gate::{Gate, ReloadError, Reloaded, regular_file};
use tokio::time::sleep;

/// Maximum time for which a change may go unnoticed.
const PERIOD: Duration = Duration::from_millis(500);

/// Time that a writer of the file may take from its first to its last byte. A file that is read too early yields an error
/// or the old policy, and is read again when it is complete.
const SETTLE: Duration = Duration::from_millis(100);

/// Changes of a file.
pub struct Changes {
    path: PathBuf,
    /// Content of the file when it was last read; `None` if it could not be read.
    seen: Option<Vec<u8>>,
    hangup: Hangup,
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Error for a file that cannot be watched.
#[derive(Debug, thiserror::Error)]
#[error("cannot watch `{path}`: {why}")]
pub struct NotWatched {
    /// Path of the file.
    pub path: PathBuf,
    /// Cause of the failure.
    pub why: String,
}

impl Changes {
    /// Watches a file from now on. SIGHUP then no longer ends this process. Must be called within a tokio runtime with
    /// I/O enabled.
    ///
    /// # Errors
    /// If the system cannot watch the file.
    pub fn watch(path: &Path) -> Result<Self, NotWatched> {
        let not_watched = |error: io::Error| NotWatched { path: path.to_owned(), why: error.to_string() };
        let path = std::path::absolute(path).map_err(not_watched)?;
        let hangup = Hangup::new().map_err(not_watched)?;
        let seen = contents(&path);
        Ok(Self { path, seen, hangup })
    }

    /// Waits until the file has changed, or SIGHUP requests a reload.
    pub async fn next(&mut self) {
        loop {
            tokio::select! {
                () = sleep(PERIOD) => {
                    if self.read().await == self.seen {
                        continue;
                    }
                    sleep(SETTLE).await;
                    let now = self.read().await;
                    if now != self.seen {
                        self.seen = now;
                        return;
                    }
                }
                () = self.hangup.next() => {
                    self.seen = self.read().await;
                    return;
                }
            }
        }
    }

    /// Returns the current content of the file. Its file system may be slow.
    async fn read(&self) -> Option<Vec<u8>> {
        let path = self.path.clone();
        tokio::task::spawn_blocking(move || contents(&path)).await.unwrap_or_default()
    }

    /// Reloads the file in a gate whenever it changes, and reports the result. Ends when dropped.
    pub async fn reload(mut self, gate: Gate, report: impl Fn(Result<Reloaded, ReloadError>)) {
        loop {
            self.next().await;
            report(gate.reload_file(&self.path).await);
        }
    }
}

fn contents(path: &Path) -> Option<Vec<u8>> {
    regular_file::read(path, omen_gate::config::MAX_BYTES as u64).ok()
}

/// Receiver of SIGHUP. On systems without this signal, it waits forever.
struct Hangup {
    #[cfg(unix)]
    signal: tokio::signal::unix::Signal,
}

impl Hangup {
    #[cfg_attr(not(unix), expect(clippy::unnecessary_wraps, reason = "it may fail on Unix"))]
    fn new() -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            signal: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) {
        #[cfg(unix)]
        if self.signal.recv().await.is_some() {
            return;
        }
        std::future::pending().await
    }
}
