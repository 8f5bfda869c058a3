//! Tasks of the partitions that are assigned to a worker, one for each partition.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::{JoinError, JoinHandle};
use tracing::{Instrument as _, debug, info_span};

use crate::failure::Failure;
use crate::partition::{self, WorkerContext};
use crate::stream::broker::Broker;

/// Running and stopping tasks of a worker's partitions.
pub(crate) struct Assignment<B> {
    shared: Arc<WorkerContext<B>>,
    running: BTreeMap<u16, Running>,
    /// Tasks that are stopping. Each returns an error if it could not commit everything.
    leaving: BTreeMap<u16, JoinHandle<Result<(), Failure>>>,
}

/// Task of a partition, which runs until it is asked to stop.
struct Running {
    stop: watch::Sender<bool>,
    task: JoinHandle<Result<(), Failure>>,
}

impl<B: Broker> Assignment<B> {
    pub(crate) fn new(shared: Arc<WorkerContext<B>>) -> Self {
        Self { shared, running: BTreeMap::new(), leaving: BTreeMap::new() }
    }

    /// Starts tasks for new partitions, and stops those of partitions that another worker owns now.
    pub(crate) fn assign(&mut self, owned: &BTreeSet<u16>) {
        for (partition, Running { stop, task }) in
            self.running.extract_if(.., |partition, _| !owned.contains(partition))
        {
            debug!(partition, "releases a partition");
            let _ = stop.send(true);
            self.leaving.insert(partition, task);
        }
        for partition in owned {
            // A partition that returns waits until its last task has ended. It is assigned again a moment later.
            if self.leaving.get(partition).is_some_and(|task| !task.is_finished()) {
                continue;
            }
            // A task ends by itself only if it panics.
            if self.running.get(partition).is_some_and(|running| !running.task.is_finished()) {
                continue;
            }
            let (stop, stopped) = watch::channel(false);
            let (shared, partition) = (Arc::clone(&self.shared), *partition);
            let judging = async move { partition::run(&shared, partition, stopped).await };
            let task = tokio::spawn(judging.instrument(info_span!("partition", partition)));
            debug!(partition, "begins to judge a partition");
            self.running.insert(partition, Running { stop, task });
        }
    }

    /// Removes tasks that have ended.
    pub(crate) fn collect(&mut self) {
        self.leaving.retain(|_, task| !task.is_finished());
    }

    /// Stops all tasks. Returns the first error if not everything was committed.
    pub(crate) async fn stop(&mut self) -> Result<(), Failure> {
        self.assign(&BTreeSet::new());
        let mut left = Ok(());
        for task in std::mem::take(&mut self.leaving).into_values() {
            left = left.and(task.await.unwrap_or_else(|panic| Err(stopped_by(&panic))));
        }
        left
    }
}

fn stopped_by(panic: &JoinError) -> Failure {
    Failure::server("judge a partition")(panic)
}
