//! One of two workers is killed again and again while packets come.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use async_nats::jetstream::kv::Store;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use super::super::Failure;
use super::super::corpus::{Corpus, Form};
use super::commits::{Commit, Commits};
use super::place::{PATIENCE, Place};
use super::{Quantiles, load};

/// How long it takes until everything is judged again, in milliseconds.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Recovery {
    /// How many workers were killed.
    pub kills: u32,
    /// Packets a second while they were.
    pub packets_s: f64,
    /// How many partitions the killed ones had.
    pub partitions: f64,
    /// Until the entry of the worker expires.
    pub expiry_ms: Quantiles,
    /// From then until the other worker has judged something in each of its partitions.
    pub replay_ms: Quantiles,
    /// Both.
    pub all_ms: Quantiles,
}

pub(super) async fn measure(place: &Place, seed: u64, kills: u32) -> Result<Recovery, Failure> {
    place.forget().await?;
    let mut commits = Commits::collect(place).await?;
    let mut workers = vec![place.worker("first-0")?, place.worker("second-0")?];
    let seconds = f64::from(kills) * PERIOD + 5.0;
    let corpus = Corpus::generate(seed, (seconds * RATE / PACKETS) as u64 + 1, Form::Compact);
    let messages = load::messages(&corpus);
    let bucket = place.context.get_key_value("PACKETS_WORKERS").await?;
    let publishing = load::publish(place, &messages, Some(RATE));
    let killing = async {
        let (mut expiry, mut replay, mut all, mut partitions) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for kill in 0..kills {
            for worker in &workers {
                worker.ready().await?;
            }
            // Until both have noticed each other, and have committed something.
            sleep(SETTLED).await;
            commits = Commits::collect(place).await?;
            sleep(SEEN).await;
            let victim = workers.remove(0);
            let name = victim.name.clone();
            let lost = of(&commits.all(), &name);
            let begin = Instant::now();
            drop(victim);
            let expired = expired(&bucket, &name, begin).await?;
            let whole = judged(&commits, &lost, &name, begin).await?;
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
            expiry_ms: Quantiles::of(expiry),
            replay_ms: Quantiles::of(replay),
            all_ms: Quantiles::of(all),
        })
    };
    // The publisher ends when enough workers were killed.
    let recovery = tokio::select! {
        recovery = killing => recovery?,
        published = publishing => {
            published?;
            return Err("there were not enough packets for the kills".into());
        }
    };
    workers.into_iter().try_for_each(super::place::Worker::stop)?;
    Ok(recovery)
}

/// The partitions whose last commit is by a worker.
fn of(commits: &[Commit], worker: &str) -> BTreeSet<u16> {
    let last: BTreeMap<u16, &str> = commits.iter().map(|commit| (commit.partition, &*commit.worker)).collect();
    last.into_iter().filter(|(_, author)| *author == worker).map(|(partition, _)| partition).collect()
}

/// Milliseconds until the entry of a worker expires.
async fn expired(bucket: &Store, name: &str, begin: Instant) -> Result<f64, Failure> {
    while bucket.get(name).await?.is_some() {
        if begin.elapsed() > PATIENCE {
            return Err("the entry of a killed worker does not expire".into());
        }
        sleep(Duration::from_millis(20)).await;
    }
    Ok(begin.elapsed().as_secs_f64() * 1e3)
}

/// Milliseconds until each of the partitions has a commit by another worker.
async fn judged(commits: &Commits, lost: &BTreeSet<u16>, name: &str, begin: Instant) -> Result<f64, Failure> {
    loop {
        let mut first: BTreeMap<u16, Instant> = BTreeMap::new();
        for commit in commits.all() {
            if commit.at > begin && commit.worker != name && lost.contains(&commit.partition) {
                first.entry(commit.partition).or_insert(commit.at);
            }
        }
        if first.len() == lost.len() {
            let last = first.values().max().map_or(0.0, |at| at.saturating_duration_since(begin).as_secs_f64());
            return Ok(last * 1e3);
        }
        if begin.elapsed() > PATIENCE {
            return Err(format!("{} of {} partitions are judged again", first.len(), lost.len()).into());
        }
        sleep(Duration::from_millis(20)).await;
    }
}

/// Packets a second.
const RATE: f64 = 1_500.0;

/// Packets of an episode, at least.
const PACKETS: f64 = 6.0;

/// Seconds that a kill takes with everything, at most.
const PERIOD: f64 = 12.0;

const SETTLED: Duration = Duration::from_millis(1500);

/// In this time, each partition has a packet.
const SEEN: Duration = Duration::from_millis(1000);
