//! A partition, as long as this worker has it.
//!
//! 1. Read the last commit and the last checkpoint, and read the stream of the partition from the checkpoint on.
//! 2. Judge. What the commit covers is published already.
//! 3. Store the findings with the next commit, as one message that expects the last commit. If it is not the last any more, another
//!    worker has the partition: forget everything, and begin again.
//! 4. Now and then, write a checkpoint. It never gets ahead of the commit.

mod checkpoint;
pub(crate) mod commit;
mod fit;
mod idle;
mod judge;
mod ownership;

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;
use tracing::{error, warn};

pub(crate) use self::checkpoint::Checkpoints;
#[cfg(test)]
pub(crate) use self::judge::{IncomingMessage, Judge};
pub(crate) use self::judge::{KnownMessage, Reported};
use self::ownership::Ownership;
pub(crate) use self::ownership::{MarksOfTime, Shared};
use crate::failure::Failure;
use crate::serve::metrics::{FENCES, PartitionState};
use crate::stream::broker::Broker;

/// Judges a partition until it is to stop.
///
/// # Errors
/// If what was judged at the end was not committed. Another worker judges it again.
pub(crate) async fn run<B: Broker>(
    shared: &Shared<B>,
    partition: u16,
    stop: watch::Receiver<bool>,
) -> Result<(), Failure> {
    let ended = repeat(shared, partition, stop).await;
    shared.metrics.state(partition, PartitionState::Elsewhere);
    ended
}

/// Begins again after each failure.
async fn repeat<B: Broker>(shared: &Shared<B>, partition: u16, mut stop: watch::Receiver<bool>) -> Result<(), Failure> {
    // The reason why findings of an earlier attempt may not be committed.
    let (mut pause, mut uncommitted) = (SHORTEST_PAUSE, Ok(()));
    shared.metrics.state(partition, PartitionState::Loading);
    while !*stop.borrow() {
        // A request without a connection waits for one, and its time passes meanwhile.
        tokio::select! {
            biased;
            () = shared.link.up() => {}
            _ = stop.changed() => break,
        }
        let (lost, mut progress) = (shared.link.lost(), Progress::default());
        let judged = tokio::select! {
            biased;
            judged = judge(shared, partition, &mut stop, &mut progress) => Some(judged),
            // The stream shows whether a commit has arrived that was on its way.
            () = lost => None,
        };
        // What has succeeded in something fails for a new reason.
        if progress.has_committed {
            pause = SHORTEST_PAUSE;
        }
        match judged {
            Some(Ok(())) if progress.has_begun => return Ok(()),
            Some(Ok(())) => break,
            // Nothing was found since the last failure that is to be committed.
            _ if *stop.borrow() && !progress.is_uncommitted => break,
            None if *stop.borrow() => return Err(Failure::server("commit")(&"the connection was lost")),
            // The pause is the one until the next connection is there.
            None => {
                shared.metrics.state(partition, PartitionState::Loading);
                continue;
            }
            Some(Err(failure @ Failure::Fenced(_))) => {
                // Another worker has the partition, and finds the same.
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

/// How far a partition came before it failed.
#[derive(Default)]
struct Progress {
    /// The last checkpoint and the last commit were read.
    has_begun: bool,
    /// Something may be judged and not committed.
    is_uncommitted: bool,
    has_committed: bool,
}

/// Judges until the partition is to stop, or something fails.
async fn judge<B: Broker>(
    shared: &Shared<B>,
    partition: u16,
    stop: &mut watch::Receiver<bool>,
    progress: &mut Progress,
) -> Result<(), Failure> {
    let mut ownership = tokio::select! {
        biased;
        ownership = Ownership::begin(shared, partition) => ownership?,
        // A server that does not answer delays the end of a worker only if there is something to commit.
        _ = stop.changed() => return Ok(()),
    };
    (progress.has_begun, progress.is_uncommitted) = (true, true);
    let judged = ownership.judge(stop).await;
    progress.has_committed = ownership.has_committed();
    progress.is_uncommitted = !ownership.is_committed();
    if judged.is_ok() {
        ownership.end().await;
    }
    judged
}

/// The pauses after a failure.
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
