//! Packets that arrive at a rate, and the time until their findings are stored.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use async_nats::jetstream::context::PublishAckFuture;
use bytes::Bytes;
use futures_util::StreamExt as _;
use omen::validator::{Message, ValidatorOptions};
use omen::{Finding, Validator};
use omen_worker::names;
use serde::Deserialize;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::sleep_until;

use super::super::corpus::Corpus;
use super::super::measure::lines;
use super::place::Place;
use crate::Failure;

/// A packet with its partition and its subject.
pub(super) struct Packet {
    partition: u16,
    subject: String,
    pub(super) body: Bytes,
}

/// Returns the packets of a corpus that name their episodes, in order.
pub(super) fn messages(corpus: &Corpus, partitions: u16) -> Vec<Packet> {
    let packet = |line: &[u8]| {
        let message = Message::new(line);
        let id = message.correlation_id()?;
        Some(Packet {
            partition: names::partition_of(id, partitions),
            subject: names::packets_of(id, partitions),
            body: Bytes::copy_from_slice(line),
        })
    };
    lines(&corpus.bytes).filter_map(packet).collect()
}

/// Publishes packets at a rate, or as fast as the server accepts them. Returns when each was due, so that a publisher delayed by
/// the server does not make latencies look better.
pub(super) async fn publish(place: &Place, packets: &[Packet], rate: Option<f64>) -> Result<Vec<SystemTime>, Failure> {
    let (sender, mut acks) = mpsc::unbounded_channel::<(PublishAckFuture, tokio::sync::OwnedSemaphorePermit)>();
    let checked = tokio::spawn(async move {
        while let Some((ack, permit)) = acks.recv().await {
            ack.await.map_err(|error| error.to_string())?;
            drop(permit);
        }
        Ok::<(), String>(())
    });
    let room = Arc::new(Semaphore::new(IN_FLIGHT));
    let (begin, began) = (Instant::now(), SystemTime::now());
    let mut due = Vec::with_capacity(packets.len());
    for (number, Packet { subject, body, .. }) in packets.iter().enumerate() {
        let after = rate.map_or_else(|| begin.elapsed(), |rate| Duration::from_secs_f64(number as f64 / rate));
        due.push(began + after);
        // Timers have a resolution of a millisecond, so all packets due by then are sent together.
        if begin + after > Instant::now() {
            sleep_until((begin + after).into()).await;
        }
        let permit = Arc::clone(&room).acquire_owned().await?;
        let ack = place.context.publish(subject.clone(), body.clone()).await?;
        // If the receiver has ended, it has an error.
        let _ = sender.send((ack, permit));
    }
    drop(sender);
    checked.await??;
    Ok(due)
}

/// Message that a finding is about.
#[derive(Debug, Deserialize, PartialEq, Eq)]
struct About {
    /// Stream of the message.
    file: String,
    /// Number of the message in the stream.
    line: usize,
}

/// Returns the time from when each faulty packet was due until the server stored its finding, in milliseconds.
///
/// # Errors
/// If the faulty packets are not those that a single validator finds in the same packets.
pub(super) async fn latencies(place: &Place, packets: &[Packet], due: &[SystemTime]) -> Result<Vec<f64>, Failure> {
    // One connection publishes, so a stream contains its packets in this order.
    let mut streams = vec![Vec::new(); place.partitions.into()];
    for (Packet { partition, .. }, due) in packets.iter().zip(due) {
        streams.get_mut(usize::from(*partition)).ok_or("a packet of no partition")?.push(*due);
    }
    let findings = place.stream("PACKETS_FINDINGS").await?;
    let count = findings.cached_info().state.messages as usize;
    let config = pull::OrderedConfig { deliver_policy: DeliverPolicy::All, ..pull::OrderedConfig::default() };
    let mut commits = findings.create_consumer(config).await?.messages().await?.take(count);
    let mut latencies = Vec::new();
    while let Some(commit) = commits.next().await {
        let commit = commit?;
        let stored = commit.info()?.published.unix_timestamp_nanos() as f64;
        let lines = commit.payload.split(|byte| *byte == b'\n');
        let mut about: Vec<About> = lines.map(serde_json::from_slice).collect::<Result<_, _>>()?;
        about.dedup();
        for About { file, line } in about {
            let partition = file.rsplit('_').next().and_then(|partition| partition.parse::<usize>().ok());
            let due = partition.and_then(|partition| streams.get(partition)?.get(line.checked_sub(1)?));
            let due =
                due.ok_or_else(|| format!("a finding on message {line} of `{file}`, where a packet was not expected"))?;
            latencies.push(stored / 1e6 - due.duration_since(SystemTime::UNIX_EPOCH)?.as_secs_f64() * 1e3);
        }
    }
    let expected = faulty(packets);
    match latencies.len() == expected {
        true => Ok(latencies),
        false => Err(format!("{} of {expected} faulty packets were found", latencies.len()).into()),
    }
}

/// Returns the number of packets with findings.
fn faulty(packets: &[Packet]) -> usize {
    let mut validator = Validator::new(ValidatorOptions::default());
    let mut findings: Vec<Finding> = Vec::new();
    for (number, Packet { body, .. }) in (1..).zip(packets) {
        let Ok(()) = validator.message(number, &Message::new(body), &mut findings);
    }
    findings.dedup_by_key(|finding| finding.line);
    findings.len()
}

/// Maximum number of packets on their way to the server.
const IN_FLIGHT: usize = 4096;
