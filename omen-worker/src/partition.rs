//! A partition, as long as this worker has it.
//!
//! 1. Read the last commit and the last checkpoint, and take the messages of the partition from the checkpoint on.
//! 2. Judge. What the commit covers is published already.
//! 3. Store the findings and the next commit, as one batch that expects the last commit. If it is not the last any more, another
//!    worker has the partition: forget everything, and begin again.
//! 4. Now and then, write a checkpoint. It never gets ahead of the commit.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;

use crate::failure::Failure;
use crate::metrics::{FENCES, State};
use crate::shared::Shared;
use crate::tenure::Tenure;

/// Judges a partition until it is to stop.
///
/// # Errors
/// If what was judged at the end was not committed. Another worker judges it again.
pub(crate) async fn run(shared: &Shared, partition: u16, stop: watch::Receiver<bool>) -> Result<(), Failure> {
    let ended = repeat(shared, partition, stop).await;
    shared.metrics.state(partition, State::Elsewhere);
    ended
}

/// Begins again after each failure.
async fn repeat(shared: &Shared, partition: u16, mut stop: watch::Receiver<bool>) -> Result<(), Failure> {
    let mut pause = SHORTEST_PAUSE;
    while !*stop.borrow() {
        shared.metrics.state(partition, State::Loading);
        // A request without a connection waits for one, and its time passes meanwhile.
        tokio::select! {
            () = shared.link.up() => {}
            _ = stop.changed() => break,
        }
        let (lost, mut progress) = (shared.link.lost(), Progress::default());
        let judged = tokio::select! {
            judged = judge(shared, partition, &mut stop, &mut progress) => Some(judged),
            // The stream shows whether a commit has arrived that was on its way.
            () = lost => None,
        };
        // What has succeeded in something fails for a new reason.
        if progress.has_committed {
            pause = SHORTEST_PAUSE;
        }
        match judged {
            Some(Ok(())) => break,
            // Nothing was judged that is to be committed.
            _ if *stop.borrow() && !progress.is_uncommitted => break,
            None if *stop.borrow() => return Err(Failure::server("commit")(&"the connection was lost")),
            // The pause is the one until the next connection is there.
            None => continue,
            Some(Err(failure @ Failure::Fenced(_))) => {
                if shared.metrics.fenced(partition) == FENCES {
                    (shared.notice)(&format!(
                        "partition {partition}: {FENCES} commits in a row were refused: {failure}"
                    ));
                }
            }
            Some(Err(failure)) if *stop.borrow() => return Err(failure),
            Some(Err(failure)) => {
                shared.metrics.state(partition, State::Failed);
                (shared.notice)(&format!("partition {partition}: {failure}"));
            }
        }
        tokio::select! {
            () = sleep(pause) => {}
            _ = stop.changed() => {}
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    Ok(())
}

/// How far a partition came before it failed.
#[derive(Default)]
struct Progress {
    /// Something may be judged and not committed.
    is_uncommitted: bool,
    has_committed: bool,
}

/// Judges until the partition is to stop, or something fails.
async fn judge(
    shared: &Shared,
    partition: u16,
    stop: &mut watch::Receiver<bool>,
    progress: &mut Progress,
) -> Result<(), Failure> {
    let mut tenure = tokio::select! {
        tenure = Tenure::begin(shared, partition) => tenure?,
        // A server that does not answer delays the end of a worker only if there is something to commit.
        _ = stop.changed() => return Ok(()),
    };
    progress.is_uncommitted = true;
    let judged = tenure.judge(stop).await;
    progress.has_committed = tenure.has_committed();
    progress.is_uncommitted = !tenure.is_committed();
    judged
}

/// The pauses after a failure.
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
