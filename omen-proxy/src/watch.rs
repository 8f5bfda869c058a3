//! Another configuration when its file changes, or when the process gets SIGHUP.
//!
//! What is watched is the folder of the file: editors replace a file by another one of its name. A file system that reports no
//! changes, such as that of another machine, leaves SIGHUP.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use omen_gate::{Gate, ReloadError, Reloaded, regular};
use tokio::sync::mpsc;
use tokio::time::sleep;

/// How long a writer of the file may take from its first to its last byte. A file that is read too early gives an error or
/// the old policy, and is read again when it is complete.
const SETTLE: Duration = Duration::from_millis(100);

/// The changes of a file.
pub struct Changes {
    path: PathBuf,
    /// What it was when it was read last; none if it could not be.
    seen: Option<Vec<u8>>,
    touched: mpsc::Receiver<()>,
    hangup: Hangup,
    /// It watches as long as it lives.
    _watcher: RecommendedWatcher,
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
        let not_watched = |why: String| NotWatched { path: path.to_owned(), why };
        let absolute = std::path::absolute(path).map_err(|error| not_watched(error.to_string()))?;
        let name = absolute.file_name().map(ToOwned::to_owned);
        let folder = absolute.parent().unwrap_or(Path::new("."));
        // A link may come to lead elsewhere by a change of whatever name.
        let is_link = absolute.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
        let (touch, touched) = mpsc::channel(1);
        let on_event = move |event: notify::Result<Event>| {
            // What could not be reported may have been a change.
            let is_ours = event.map_or(true, |event| {
                let is_change = !matches!(event.kind, notify::EventKind::Access(_));
                let is_named = |path: &PathBuf| path.file_name() == name.as_deref();
                is_change && (is_link || event.paths.is_empty() || event.paths.iter().any(is_named))
            });
            if is_ours {
                // One that waits already is for this one, too.
                let _ = touch.try_send(());
            }
        };
        let mut watcher = notify::recommended_watcher(on_event).map_err(|error| not_watched(error.to_string()))?;
        watcher.watch(folder, RecursiveMode::NonRecursive).map_err(|error| not_watched(error.to_string()))?;
        let hangup = Hangup::new().map_err(|error| not_watched(error.to_string()))?;
        let seen = contents(&absolute);
        Ok(Self { path: absolute, seen, touched, hangup, _watcher: watcher })
    }

    /// Waits until the file is another one, or SIGHUP asks for it to be read again.
    pub async fn next(&mut self) {
        loop {
            tokio::select! {
                touched = self.touched.recv() => {
                    if touched.is_none() {
                        // The watcher has ended: SIGHUP is left.
                        self.hangup.next().await;
                        return;
                    }
                    sleep(SETTLE).await;
                    // What came in the meantime is read with the rest.
                    let _ = self.touched.try_recv();
                    let now = contents(&self.path);
                    if now != self.seen {
                        self.seen = now;
                        return;
                    }
                }
                () = self.hangup.next() => {
                    self.seen = contents(&self.path);
                    return;
                }
            }
        }
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
