//! The commits of the workers as they are stored: up to where each partition is judged, when, and by which worker.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use futures_util::StreamExt as _;
use serde::Deserialize;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::super::Failure;
use super::place::{PATIENCE, Place};

/// A commit, as far as it matters here.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Commit {
    pub(super) partition: u16,
    pub(super) sequence: u64,
    /// Packets of the partition that were judged, from its beginning.
    pub(super) packets: u64,
    pub(super) worker: String,
    /// When it was seen.
    #[serde(skip, default = "Instant::now")]
    pub(super) at: Instant,
}

/// Collects commits, until it is dropped.
pub(super) struct Commits {
    all: Arc<Mutex<Vec<Commit>>>,
    reader: JoinHandle<()>,
}

impl Commits {
    /// Begins with those that are stored from now on.
    pub(super) async fn collect(place: &Place) -> Result<Self, Failure> {
        let findings = place.stream("PACKETS_FINDINGS").await?;
        let config = pull::OrderedConfig {
            filter_subject: "omen.verdicts.*".to_owned(),
            deliver_policy: DeliverPolicy::New,
            ..pull::OrderedConfig::default()
        };
        let mut messages = findings.create_consumer(config).await?.messages().await?;
        let all = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&all);
        let reader = tokio::spawn(async move {
            while let Some(message) = messages.next().await {
                let commit = message.ok().and_then(|message| serde_json::from_slice::<Commit>(&message.payload).ok());
                kept.lock().unwrap_or_else(PoisonError::into_inner).extend(commit);
            }
        });
        Ok(Self { all, reader })
    }

    /// Those so far.
    pub(super) fn all(&self) -> Vec<Commit> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until so many packets were judged.
    pub(super) async fn judged(&self, packets: u64) -> Result<(), Failure> {
        let mut seen = 0;
        let mut last = BTreeMap::new();
        let mut moved = Instant::now();
        loop {
            {
                let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
                for commit in all.iter().skip(seen) {
                    last.insert(commit.partition, commit.packets);
                    moved = Instant::now();
                }
                seen = all.len();
            }
            let sum: u64 = last.values().sum();
            if sum >= packets {
                return Ok(());
            }
            if moved.elapsed() > PATIENCE {
                return Err(format!("the workers stopped after {sum} of {packets} packets").into());
            }
            sleep(Duration::from_millis(5)).await;
        }
    }
}

impl Drop for Commits {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// Packets a second, from the moment when all of `workers` have committed something until everything is judged; none if that
/// takes no time at all.
pub(super) fn rate(commits: &[Commit], workers: usize) -> Option<f64> {
    let (mut authors, mut last) = (Vec::new(), BTreeMap::new());
    let mut begin = None;
    for commit in commits {
        last.insert(commit.partition, commit.packets);
        if !authors.contains(&&commit.worker) {
            authors.push(&commit.worker);
        }
        if begin.is_none() && authors.len() >= workers {
            begin = Some((commit.at, last.values().sum::<u64>()));
        }
    }
    let (begin, before) = begin?;
    let seconds = commits.last()?.at.saturating_duration_since(begin).as_secs_f64();
    let packets = last.values().sum::<u64>() - before;
    (seconds > 0.0 && packets > 0).then(|| packets as f64 / seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_begins_when_all_workers_are_there() {
        let begin = Instant::now();
        let commit = |partition, packets, worker: &str, millis| Commit {
            partition,
            sequence: 0,
            packets,
            worker: worker.to_owned(),
            at: begin + Duration::from_millis(millis),
        };
        let commits =
            [commit(0, 10, "a", 0), commit(1, 20, "b", 1_000), commit(0, 30, "a", 1_500), commit(1, 40, "b", 3_000)];
        assert_eq!(rate(&commits, 2), Some(20.0));
        assert_eq!(rate(&commits, 1), Some(20.0));
        assert_eq!(rate(&commits, 3), None);
        assert_eq!(rate(&commits[..1], 1), None);
    }
}
