//! Life of a partition on the worker that owns it.
//!
//! 1. Read the last commit and the last checkpoint, and read the partition's stream from the checkpoint on.
//! 2. Judge. Findings that the commit covers have been published already.
//! 3. Store new findings with the next commit, as one message that expects the last commit. If another commit has been stored
//!    since, another worker owns the partition: discard everything, and start again.
//! 4. From time to time, write a checkpoint. It is never ahead of the commit.

mod checkpoint;
pub(crate) mod commit;
mod idle;
mod judge;
mod truncate;
mod work;

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;
use tracing::{error, warn};

pub(crate) use self::checkpoint::Checkpoints;
pub(crate) use self::judge::KnownMessage;
#[cfg(test)]
pub(crate) use self::judge::{IncomingMessage, Judge};
use self::work::PartitionWork;
pub(crate) use self::work::{MarksOfTime, WorkerContext};
use crate::failure::Failure;
use crate::metrics::{FENCES, PartitionState};
use crate::stream::broker::Broker;

/// Judges a partition until it is asked to stop.
///
/// # Errors
/// If the last findings could not be committed. Another worker will judge them again.
pub(crate) async fn run<B: Broker>(
    shared: &WorkerContext<B>,
    partition: u16,
    stop: watch::Receiver<bool>,
) -> Result<(), Failure> {
    let ended = repeat(shared, partition, stop).await;
    shared.metrics.state(partition, PartitionState::Elsewhere);
    ended
}

/// Restarts the partition after each failure.
async fn repeat<B: Broker>(
    shared: &WorkerContext<B>,
    partition: u16,
    mut stop: watch::Receiver<bool>,
) -> Result<(), Failure> {
    // The reason why findings of an earlier attempt may be uncommitted.
    let (mut pause, mut uncommitted) = (SHORTEST_PAUSE, Ok(()));
    shared.metrics.state(partition, PartitionState::Loading);
    while !*stop.borrow() {
        // Without a connection, a request waits for one until its timeout.
        tokio::select! {
            biased;
            () = shared.link.up() => {}
            _ = stop.changed() => break,
        }
        let (lost, mut progress) = (shared.link.lost(), Progress::default());
        let judged = tokio::select! {
            biased;
            judged = judge(shared, partition, &mut stop, &mut progress) => Some(judged),
            // On restart, the stream shows whether the commit in flight has arrived.
            () = lost => None,
        };
        // After a success, the next failure has a new cause, so the pause starts at its shortest again.
        if progress.has_committed {
            pause = SHORTEST_PAUSE;
        }
        match judged {
            Some(Ok(())) if progress.has_begun => return Ok(()),
            Some(Ok(())) => break,
            // Nothing has been found since the last failure, so nothing is left to commit.
            _ if *stop.borrow() && !progress.is_uncommitted => break,
            None if *stop.borrow() => return Err(Failure::server("commit")(&"the connection was lost")),
            // The next connection ends the pause.
            None => {
                shared.metrics.state(partition, PartitionState::Loading);
                continue;
            }
            Some(Err(failure @ Failure::Fenced(_))) => {
                // Another worker owns the partition and reports the same findings.
                uncommitted = Ok(());
                shared.metrics.state(partition, PartitionState::Loading);
                if shared.metrics.fenced(partition) == FENCES {
                    warn!("{FENCES} commits in a row were refused: {failure}");
                }
            }
            Some(Err(failure)) if *stop.borrow() => return Err(failure),
            Some(Err(failure)) => {
                shared.metrics.state(partition, PartitionState::Failed);
                error!("{failure}");
                if progress.is_uncommitted {
                    uncommitted = Err(failure);
                }
            }
        }
        tokio::select! {
            biased;
            () = sleep(pause) => {}
            _ = stop.changed() => {}
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    uncommitted
}

/// Progress of a partition until it failed.
#[derive(Default)]
struct Progress {
    /// Whether the last checkpoint and the last commit have been read.
    has_begun: bool,
    /// Whether some findings may be judged and not committed.
    is_uncommitted: bool,
    has_committed: bool,
}

/// Judges until the partition is asked to stop, or an operation fails.
async fn judge<B: Broker>(
    shared: &WorkerContext<B>,
    partition: u16,
    stop: &mut watch::Receiver<bool>,
    progress: &mut Progress,
) -> Result<(), Failure> {
    let mut work = tokio::select! {
        biased;
        work = PartitionWork::begin(shared, partition) => work?,
        // A server that does not respond delays the end of a worker only if something is left to commit.
        _ = stop.changed() => return Ok(()),
    };
    (progress.has_begun, progress.is_uncommitted) = (true, true);
    let judged = work.judge(stop).await;
    progress.has_committed = work.has_committed;
    progress.is_uncommitted = !work.is_committed();
    if judged.is_ok() {
        work.end().await;
    }
    judged
}

/// Shortest and longest pause after a failure.
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
