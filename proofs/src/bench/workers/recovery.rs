//! Recovery after one of two workers is killed, repeatedly, while packets arrive.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use async_nats::jetstream::kv::Store;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use super::super::corpus::{Corpus, Form};
use super::counts::Quantiles;
use super::place::{PATIENCE, Place, Worker};
use super::{load, progress};
use crate::Failure;

/// Time until everything is judged again, in milliseconds.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Recovery {
    /// Number of workers that were killed.
    pub kills: u32,
    /// Packets per second meanwhile.
    pub packets_s: f64,
    /// Number of partitions that the killed workers owned.
    pub partitions: f64,
    /// Time until the entry of the worker expires.
    pub expiry_ms: Quantiles,
    /// Time from then until the other worker judges each of its partitions and has caught up with the killed one.
    pub replay_ms: Quantiles,
    /// Total time.
    pub all_ms: Quantiles,
}

pub(super) async fn measure(place: &Place, seed: u64, kills: u32) -> Result<Recovery, Failure> {
    place.forget().await?;
    let mut workers = vec![place.worker("first-0")?, place.worker("second-0")?];
    let seconds = f64::from(kills) * PERIOD + 5.0;
    let corpus = Corpus::generate(seed, (seconds * RATE / PACKETS) as u64 + 1, Form::Compact);
    let messages = load::messages(&corpus, place.partitions);
    let bucket = place.context.get_key_value("PACKETS_WORKERS").await?;
    let publishing = load::publish(place, &messages, Some(RATE));
    let killing = async {
        let (mut expiry, mut replay, mut all, mut partitions) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for kill in 0..kills {
            progress::shared(&workers, place.partitions).await?;
            // Until each partition has judged something and recorded it.
            sleep(SETTLED).await;
            let victim = workers.remove(0);
            let name = victim.name.clone();
            let lost = victim.up().await?;
            let begin = Instant::now();
            drop(victim);
            let expired = expired(&bucket, &name, begin).await?;
            let whole = judged(&workers, &lost, begin).await?;
            partitions += lost.len();
            expiry.push(expired);
            replay.push((whole - expired).max(0.0));
            all.push(whole);
            let place_of = name.split('-').next().unwrap_or_default();
            workers.push(place.worker(&format!("{place_of}-{}", kill + 1))?);
        }
        Ok::<_, Failure>(Recovery {
            kills,
            packets_s: RATE,
            partitions: partitions as f64 / f64::from(kills),
            expiry_ms: Quantiles::new(expiry),
            replay_ms: Quantiles::new(replay),
            all_ms: Quantiles::new(all),
        })
    };
    // The publisher ends when enough workers have been killed.
    let recovery = tokio::select! {
        recovery = killing => recovery?,
        published = publishing => {
            published?;
            return Err("there were not enough packets for the kills".into());
        }
    };
    workers.into_iter().try_for_each(Worker::stop)?;
    Ok(recovery)
}

/// Returns the milliseconds until the entry of a worker expires.
async fn expired(bucket: &Store, name: &str, begin: Instant) -> Result<f64, Failure> {
    while bucket.get(name).await?.is_some() {
        if begin.elapsed() > PATIENCE {
            return Err("the entry of a killed worker does not expire".into());
        }
        sleep(PAUSE).await;
    }
    Ok(begin.elapsed().as_secs_f64() * 1e3)
}

/// Returns the milliseconds until each of the partitions is judged by one of the workers.
async fn judged(workers: &[Worker], lost: &BTreeSet<u16>, begin: Instant) -> Result<f64, Failure> {
    let mut left = lost.clone();
    loop {
        for worker in workers {
            let up = worker.up().await?;
            left.retain(|partition| !up.contains(partition));
        }
        if left.is_empty() {
            return Ok(begin.elapsed().as_secs_f64() * 1e3);
        }
        if begin.elapsed() > PATIENCE {
            return Err(format!("{} of {} partitions are not judged again", left.len(), lost.len()).into());
        }
        sleep(PAUSE).await;
    }
}

/// Packets per second.
const RATE: f64 = 1_500.0;

/// Minimum number of packets in an episode.
const PACKETS: f64 = 6.0;

/// Maximum duration of a kill and recovery, in seconds.
const PERIOD: f64 = 12.0;

/// Longer than the interval at which a partition records its progress.
const SETTLED: Duration = Duration::from_millis(2500);

/// Pause between queries while waiting.
const PAUSE: Duration = Duration::from_millis(10);
