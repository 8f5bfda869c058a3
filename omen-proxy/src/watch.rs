//! Another configuration when its file changes, or when the process gets SIGHUP.
//!
//! The file is read twice a second. A watch by the system would be woken by every entry of an audit log in the same folder, and reports
//! nothing of file systems of other machines and of links that come to lead elsewhere.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use omen_gate::{Gate, ReloadError, Reloaded, regular};
use tokio::time::sleep;

/// How long a change may stay unseen.
const PERIOD: Duration = Duration::from_millis(500);

/// How long a writer of the file may take from its first to its last byte. A file that is read too early gives an error or
/// the old policy, and is read again when it is complete.
const SETTLE: Duration = Duration::from_millis(100);

/// The changes of a file.
pub struct Changes {
    path: PathBuf,
    /// What it was when it was read last; none if it could not be.
    seen: Option<Vec<u8>>,
    hangup: Hangup,
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes").field("path", &self.path).finish_non_exhaustive()
    }
}

/// A file that cannot be watched.
#[derive(Debug, thiserror::Error)]
#[error("cannot watch `{path}`: {why}")]
pub struct NotWatched {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

impl Changes {
    /// Watches a file from now on. From then on, SIGHUP does not end this process. Must be called within a runtime of
    /// tokio, with its driver of input and output.
    ///
    /// # Errors
    /// If the system cannot watch it.
    pub fn of(path: &Path) -> Result<Self, NotWatched> {
        let not_watched = |error: io::Error| NotWatched { path: path.to_owned(), why: error.to_string() };
        let path = std::path::absolute(path).map_err(not_watched)?;
        let hangup = Hangup::new().map_err(not_watched)?;
        let seen = contents(&path);
        Ok(Self { path, seen, hangup })
    }

    /// Waits until the file is another one, or SIGHUP asks for it to be read again.
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

    /// The file as it is now. Its file system may be slow.
    async fn read(&self) -> Option<Vec<u8>> {
        let path = self.path.clone();
        tokio::task::spawn_blocking(move || contents(&path)).await.unwrap_or_default()
    }

    /// Puts the file in force in a gate whenever it changes, and reports what came of it. Ends when it is dropped.
    pub async fn reload(mut self, gate: Gate, report: impl Fn(Result<Reloaded, ReloadError>)) {
        loop {
            self.next().await;
            report(gate.reload_file(&self.path).await);
        }
    }
}

fn contents(path: &Path) -> Option<Vec<u8>> {
    regular::read(path, omen_gate::config::MAX_BYTES as u64).ok()
}

/// SIGHUP, where there is such a thing.
#[cfg(unix)]
struct Hangup(tokio::signal::unix::Signal);

#[cfg(unix)]
impl Hangup {
    fn new() -> io::Result<Self> {
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()).map(Self)
    }

    async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending().await
        }
    }
}

#[cfg(not(unix))]
struct Hangup;

#[cfg(not(unix))]
impl Hangup {
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
    fn new() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        std::future::pending().await
    }
}
