//! Wake-up from a pause, by a change of a file that the system reports, or by a signal.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use signal_hook::consts::{SIGINT, SIGTERM};

pub(super) struct Wake {
    is_stopped: Arc<AtomicBool>,
    changes: Receiver<()>,
    /// Watcher of the files. Without one, every pause has its full length.
    watcher: Option<RecommendedWatcher>,
    is_watched: bool,
}

impl Wake {
    pub(super) fn new(paths: &[PathBuf]) -> io::Result<Self> {
        let is_stopped = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // A second signal ends the process at once.
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&is_stopped))?;
            signal_hook::flag::register(signal, Arc::clone(&is_stopped))?;
        }
        let (sender, changes) = sync_channel(1);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Reads do not change a file. One notification is enough.
            if !event.is_ok_and(|event| matches!(event.kind, EventKind::Access(_))) {
                let _ = sender.try_send(());
            }
        });
        let mut watcher = watcher.ok();
        // The directories are watched, since a log may be replaced.
        let directories: BTreeSet<&Path> = paths.iter().filter_map(|path| path.parent()).collect();
        for directory in directories {
            let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
            if let Some(watcher) = &mut watcher {
                let _ = watcher.watch(directory, RecursiveMode::NonRecursive);
            }
        }
        Ok(Self { is_stopped, changes, watcher, is_watched: io::stderr().is_terminal() })
    }

    /// Returns whether a signal has arrived.
    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Returns whether a person sees standard error.
    pub(super) fn is_watched(&self) -> bool {
        self.is_watched
    }

    /// Waits for a change, at most a given time.
    pub(super) fn wait(&self, most: Duration) {
        if self.watcher.is_none() || self.changes.recv_timeout(most).is_err_and(is_over) {
            thread::sleep(most);
        }
    }
}

/// Returns whether the watcher has ended.
fn is_over(error: std::sync::mpsc::RecvTimeoutError) -> bool {
    error == std::sync::mpsc::RecvTimeoutError::Disconnected
}
