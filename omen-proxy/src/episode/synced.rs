//! Waiting for the disk, where nothing else has to wait for it.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

/// Waits until the log is on the disk.
pub(super) type Sync = dyn Fn() -> io::Result<()> + Send + std::marker::Sync;

/// How a log gets onto its disk, if somebody waits for that. Once it has failed, it is not known what is there, so it has
/// failed for good.
#[derive(Clone, Default)]
pub(super) struct Synced {
    sync: Option<Arc<Sync>>,
    failed: Arc<OnceLock<String>>,
}

impl fmt::Debug for Synced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Synced").field("failed", &self.failed).finish_non_exhaustive()
    }
}

impl Synced {
    pub(super) fn by(sync: Arc<Sync>) -> Self {
        Self { sync: Some(sync), failed: Arc::default() }
    }

    /// What was written is on the disk when this returns; on a thread that may wait for it.
    pub(super) async fn wait(&self) -> Result<(), String> {
        let here = self.clone();
        if here.sync.is_none() {
            return Ok(());
        }
        let waited = tokio::task::spawn_blocking(move || here.now()).await;
        waited.unwrap_or_else(|_| Err(self.keep("the thread that waits for the disk has ended")))
    }

    /// The same on this thread.
    pub(super) fn now(&self) -> Result<(), String> {
        let Some(sync) = &self.sync else { return Ok(()) };
        match self.failed.get() {
            Some(why) => Err(why.clone()),
            None => sync().map_err(|error| self.keep(&error.to_string())),
        }
    }

    fn keep(&self, why: &str) -> String {
        self.failed.get_or_init(|| format!("the log of the episodes is not on the disk: {why}")).clone()
    }
}
