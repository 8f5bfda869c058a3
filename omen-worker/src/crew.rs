//! The partitions that a worker has: each is judged by a task of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::{JoinError, JoinHandle, JoinSet};

use crate::failure::Failure;
use crate::partition;
use crate::shared::Shared;

/// The partitions that are judged here.
pub(crate) struct Crew {
    shared: Arc<Shared>,
    running: BTreeMap<u16, Running>,
    /// Those that are to end. Each returns why it did not commit everything, if so.
    leaving: JoinSet<Result<(), Failure>>,
}

/// A partition that is judged until it has to stop.
struct Running {
    stop: watch::Sender<bool>,
    task: JoinHandle<Result<(), Failure>>,
}

impl Crew {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, running: BTreeMap::new(), leaving: JoinSet::new() }
    }

    /// Begins what is new, and lets go what others have now.
    pub(crate) fn assign(&mut self, owned: &BTreeSet<u16>) {
        for (_, Running { stop, task }) in self.running.extract_if(.., |partition, _| !owned.contains(partition)) {
            let _ = stop.send(true);
            self.leaving.spawn(async move { task.await.unwrap_or_else(|panic| Err(stopped_by(&panic))) });
        }
        for partition in owned {
            // A task ends by itself only if it panics.
            if self.running.get(partition).is_some_and(|running| !running.task.is_finished()) {
                continue;
            }
            let (stop, stopped) = watch::channel(false);
            let (shared, partition) = (Arc::clone(&self.shared), *partition);
            let task = tokio::spawn(async move { partition::run(&shared, partition, stopped).await });
            self.running.insert(partition, Running { stop, task });
        }
    }

    /// Forgets the tasks that have ended.
    pub(crate) fn collect(&mut self) {
        while self.leaving.try_join_next().is_some() {}
    }

    /// Ends all. Returns why one of them did not commit everything, if so.
    pub(crate) async fn stop(&mut self) -> Result<(), Failure> {
        self.assign(&BTreeSet::new());
        let mut left = Ok(());
        while let Some(one) = self.leaving.join_next().await {
            left = left.and(one.unwrap_or_else(|panic| Err(stopped_by(&panic))));
        }
        left
    }
}

fn stopped_by(panic: &JoinError) -> Failure {
    Failure::server("judge a partition")(panic)
}
