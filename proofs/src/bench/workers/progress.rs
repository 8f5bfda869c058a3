//! Progress of workers, according to their metrics.

use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::place::{PATIENCE, Worker};
use crate::Failure;

/// Waits until workers have judged this many messages and have published the findings. Returns the messages
/// judged per second, from the first ones seen to the last; `None` if that took no time at all.
pub(super) async fn judged(workers: &[Worker], messages: u64) -> Result<Option<f64>, Failure> {
    let messages = messages as f64;
    let (mut first, mut last) = (None, (0.0, Instant::now()));
    loop {
        let (mut judged, mut behind) = (0.0, 0.0);
        for worker in workers {
            let metrics = worker.metrics().await?;
            judged += metrics.sum("omen_packets_total");
            behind += metrics.sum("omen_partition_lag");
            // Each query also costs the worker some time.
            sleep(PAUSE).await;
        }
        if judged > last.0 {
            last = (judged, Instant::now());
            first.get_or_insert(last);
        }
        if judged >= messages && behind < 1.0 {
            let rate = |(before, begin)| (judged - before) / last.1.duration_since(begin).as_secs_f64();
            return Ok(first.map(rate).filter(|rate| rate.is_finite() && *rate > 0.0));
        }
        if last.1.elapsed() > PATIENCE {
            return Err(format!("the workers stopped after {judged} of {messages} messages").into());
        }
    }
}

/// Waits until each partition is judged by one worker, and every worker has at least an equal share, rounded down.
pub(super) async fn shared(workers: &[Worker], partitions: u16) -> Result<(), Failure> {
    let share = usize::from(partitions) / workers.len().max(1);
    let begin = Instant::now();
    loop {
        let (mut all, mut least) = (0, usize::MAX);
        for worker in workers {
            let count = worker.up().await?.len();
            (all, least) = (all + count, least.min(count));
            sleep(PAUSE).await;
        }
        if all == usize::from(partitions) && least >= share {
            return Ok(());
        }
        if begin.elapsed() > PATIENCE {
            return Err(format!("{all} of {partitions} partitions are judged, by one worker {least}").into());
        }
    }
}

/// Pause between two queries.
const PAUSE: Duration = Duration::from_millis(5);
