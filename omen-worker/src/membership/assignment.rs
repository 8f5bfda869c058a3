//! The partitions that a worker has: each is judged by a task of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::{JoinError, JoinHandle};
use tracing::{Instrument as _, debug, info_span};

use crate::failure::Failure;
use crate::partition::{self, Shared};
use crate::stream::broker::Broker;

/// The partitions that are judged here.
pub(crate) struct Assignment<B> {
    shared: Arc<Shared<B>>,
    running: BTreeMap<u16, Running>,
    /// Those that are to end, each with why it did not commit everything, if so.
    leaving: BTreeMap<u16, JoinHandle<Result<(), Failure>>>,
}

/// A partition that is judged until it has to stop.
struct Running {
    stop: watch::Sender<bool>,
    task: JoinHandle<Result<(), Failure>>,
}

impl<B: Broker> Assignment<B> {
    pub(crate) fn new(shared: Arc<Shared<B>>) -> Self {
        Self { shared, running: BTreeMap::new(), leaving: BTreeMap::new() }
    }

    /// Begins what is new, and lets go what others have now.
    pub(crate) fn assign(&mut self, owned: &BTreeSet<u16>) {
        for (partition, Running { stop, task }) in
            self.running.extract_if(.., |partition, _| !owned.contains(partition))
        {
            debug!(partition, "releases a partition");
            let _ = stop.send(true);
            self.leaving.insert(partition, task);
        }
        for partition in owned {
            // One that comes back waits until its last task has ended. It is assigned again a moment later.
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

    /// Forgets the tasks that have ended.
    pub(crate) fn collect(&mut self) {
        self.leaving.retain(|_, task| !task.is_finished());
    }

    /// Ends all. Returns why one of them did not commit everything, if so.
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
