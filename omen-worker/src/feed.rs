//! What partitions are fed from: readers of the stream, which are started when there must be one more.

use std::sync::{Mutex, PoisonError};

use tokio::task::JoinSet;

use crate::intake::{self, Intake};
use crate::reader::Readers;

/// The readers of a worker. They end with this value.
pub(crate) struct Feed {
    readers: Readers,
    tasks: Mutex<JoinSet<()>>,
}

impl Feed {
    pub(crate) fn of(readers: Readers) -> Self {
        Self { readers, tasks: Mutex::default() }
    }

    /// Announces that a partition is being loaded: readers wait for those that will need the same messages.
    pub(crate) fn loading(&self) -> Loading<'_> {
        self.readers.loading.send_modify(|loading| *loading += 1);
        Loading(self)
    }

    /// The messages of a partition after a message of the stream.
    pub(crate) fn join(&self, partition: u16, after: u64) -> Intake {
        let (queue, intake) = intake::queue(after);
        let begun = self.readers.roster().join(partition, after, queue);
        if let Some(id) = begun {
            let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            while tasks.try_join_next().is_some() {}
            tasks.spawn(self.readers.clone().read(id));
        }
        intake
    }
}

/// A partition that is being loaded, as long as this value is there.
pub(crate) struct Loading<'f>(&'f Feed);

impl Drop for Loading<'_> {
    fn drop(&mut self) {
        self.0.readers.loading.send_modify(|loading| *loading = loading.saturating_sub(1));
    }
}
