//! Packets that come at a rate, and how long it takes until each is judged.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use async_nats::jetstream::context::PublishAckFuture;
use bytes::Bytes;
use futures_util::StreamExt as _;
use omen::validator::Message;
use omen_worker::names;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{sleep, sleep_until};

use super::super::Failure;
use super::super::corpus::Corpus;
use super::super::measure::lines;
use super::commits::Commit;
use super::place::Place;

/// The packets of a corpus with their subjects, in order.
pub(super) fn messages(corpus: &Corpus) -> Vec<(String, Bytes)> {
    let packet = |line: &[u8]| {
        let message = Message::new(line);
        Some((names::packets_of(message.correlation_id()?), Bytes::copy_from_slice(line)))
    };
    lines(&corpus.bytes).filter_map(packet).collect()
}

/// Publishes messages at a rate, or as fast as the server takes them. Returns when each was due: a publisher that the server keeps
/// waiting does not make latencies look better.
pub(super) async fn publish(
    place: &Place,
    messages: &[(String, Bytes)],
    rate: Option<f64>,
) -> Result<Vec<Instant>, Failure> {
    let (sender, mut acks) = mpsc::unbounded_channel::<(PublishAckFuture, tokio::sync::OwnedSemaphorePermit)>();
    let checked = tokio::spawn(async move {
        while let Some((ack, permit)) = acks.recv().await {
            ack.await.map_err(|error| error.to_string())?;
            drop(permit);
        }
        Ok::<(), String>(())
    });
    let room = Arc::new(Semaphore::new(IN_FLIGHT));
    let begin = Instant::now();
    let mut due = Vec::with_capacity(messages.len());
    for (number, (subject, body)) in messages.iter().enumerate() {
        if let Some(rate) = rate {
            let at = begin + Duration::from_secs_f64(number as f64 / rate);
            due.push(at);
            // Timers are a millisecond apart, so those that are due by then go together.
            if at > Instant::now() {
                sleep_until(at.into()).await;
            }
        } else {
            due.push(Instant::now());
        }
        let permit = Arc::clone(&room).acquire_owned().await?;
        let ack = place.context.publish(subject.clone(), body.clone()).await?;
        // If the receiver is gone, it has an error.
        let _ = sender.send((ack, permit));
    }
    drop(sender);
    checked.await??;
    Ok(due)
}

/// How long it took from the moment when each packet was due until its commit was seen, in milliseconds.
pub(super) async fn latencies(place: &Place, due: &[Instant], commits: &[Commit]) -> Result<Vec<f64>, Failure> {
    let mut by_partition: BTreeMap<u16, Vec<&Commit>> = BTreeMap::new();
    for commit in commits {
        by_partition.entry(commit.partition).or_default().push(commit);
    }
    let mut latencies = Vec::with_capacity(due.len());
    for (sequence, partition) in partitions(place, due.len()).await? {
        let commits = by_partition.get(&partition).map_or(&[][..], Vec::as_slice);
        let at = commits.partition_point(|commit| commit.sequence < sequence);
        // One connection publishes, so the first message is the first packet.
        let due = usize::try_from(sequence).ok().and_then(|sequence| due.get(sequence.checked_sub(1)?));
        if let (Some(commit), Some(due)) = (commits.get(at), due) {
            latencies.push(commit.at.saturating_duration_since(*due).as_secs_f64() * 1e3);
        }
    }
    match latencies.len() == due.len() {
        true => Ok(latencies),
        false => Err(format!("{} of {} packets have a commit", latencies.len(), due.len()).into()),
    }
}

/// The partition of each message of the stream of packets.
async fn partitions(place: &Place, count: usize) -> Result<Vec<(u64, u16)>, Failure> {
    let packets = place.stream("PACKETS").await?;
    let config = pull::OrderedConfig {
        deliver_policy: DeliverPolicy::All,
        headers_only: true,
        ..pull::OrderedConfig::default()
    };
    let mut messages = packets.create_consumer(config).await?.messages().await?.take(count);
    let mut all = Vec::with_capacity(count);
    while let Some(message) = messages.next().await {
        let message = message?;
        let partition = message.subject.split('.').nth(2).and_then(|partition| partition.parse().ok());
        all.push((message.info()?.stream_sequence, partition.ok_or("a packet without a partition")?));
    }
    Ok(all)
}

/// Waits until a worker has settled.
pub(super) async fn settle() {
    sleep(Duration::from_secs(1)).await;
}

/// How many packets may be on their way to the server.
const IN_FLIGHT: usize = 4096;
