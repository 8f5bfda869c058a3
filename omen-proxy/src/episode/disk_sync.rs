//! Waiting for the disk, on a thread where nothing else has to wait.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

/// Function that waits until the log is on disk.
pub(super) type Sync = dyn Fn() -> io::Result<()> + Send + std::marker::Sync;

/// State of the log's synchronization to disk, if anyone waits for it. Once a sync has failed, the content of the disk is
/// unknown, so the failure is permanent.
#[derive(Clone, Default)]
pub(super) struct DiskSync {
    sync: Option<Arc<Sync>>,
    failed: Arc<OnceLock<String>>,
}

impl fmt::Debug for DiskSync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskSync").field("failed", &self.failed).finish_non_exhaustive()
    }
}

impl DiskSync {
    pub(super) fn by(sync: Arc<Sync>) -> Self {
        Self { sync: Some(sync), failed: Arc::default() }
    }

    /// Waits until everything written is on disk, on a thread that may block.
    pub(super) async fn wait(&self) -> Result<(), String> {
        let here = self.clone();
        if here.sync.is_none() {
            return Ok(());
        }
        let waited = tokio::task::spawn_blocking(move || here.now()).await;
        waited.unwrap_or_else(|_| Err(self.keep("the thread that waits for the disk has stopped")))
    }

    /// Same as [`wait`](Self::wait), on this thread.
    pub(super) fn now(&self) -> Result<(), String> {
        let Some(sync) = &self.sync else { return Ok(()) };
        match self.failed.get() {
            Some(why) => Err(why.clone()),
            None => sync().map_err(|error| self.keep(&error.to_string())),
        }
    }

    fn keep(&self, why: &str) -> String {
        self.failed.get_or_init(|| format!("the log of the episodes could not be flushed to disk: {why}")).clone()
    }
}
