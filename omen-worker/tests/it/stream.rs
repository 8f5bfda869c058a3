//! Contents of the streams.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use async_nats::jetstream::Context;
use async_nats::jetstream::kv::Store;
use futures_util::TryStreamExt as _;
use omen::validator::Message;
use omen::{Finding, ValidatorOptions};
use omen_worker::connect::Server;
use omen_worker::names;
use omen_worker::publish::{Options, Published, Publisher};
use omen_worker::tail::{self, Findings};

use crate::logs::{checked_with, written};
use crate::server::{PARTITIONS, setup};

/// Returns the stream of a partition.
pub(crate) fn stream(partition: u16) -> String {
    setup().names.packets(partition)
}

/// Returns the subject of an episode.
pub(crate) fn packets_of(id: &str) -> String {
    names::packets_of(id, PARTITIONS)
}

/// Publishes a log, and ends its episodes.
pub(crate) async fn publish(context: &Context, name: &str, log: &str) -> Published {
    let publisher = Publisher::new(context.clone(), &setup()).await.unwrap();
    publisher.log(name, log.as_bytes(), &Options { ends: true, ..Options::default() }).await.unwrap()
}

/// Returns all findings, sorted.
pub(crate) async fn found(context: &Context) -> Vec<String> {
    let mut lines = tailed(context, &tail::Options::default()).await;
    lines.sort_unstable();
    lines
}

/// Returns the findings that `omen tail` prints, in order.
pub(crate) async fn tailed(context: &Context, options: &tail::Options) -> Vec<String> {
    let findings = Findings::open(&Server::default(), context, &setup().names).await.unwrap();
    let mut lines = Vec::new();
    let each = |line: &[u8], _: Option<&[u8]>| {
        lines.push(String::from_utf8(line.to_vec()).unwrap());
        Ok::<(), std::convert::Infallible>(())
    };
    let Ok(()) = tail::run(&findings, options, std::future::pending(), each).await.unwrap();
    lines
}

/// Returns the numbers of the messages in a partition's stream that are lines of a log.
pub(crate) async fn lines(context: &Context, partition: u16) -> Vec<u64> {
    let last = last(context, partition).await;
    loop {
        let (sequences, end) = read(context, partition, last).await;
        // A server of a cluster may read from its own copy, which may lag behind.
        if end >= last {
            return sequences;
        }
    }
}

/// Returns the numbers of the lines, and that of the last message.
async fn read(context: &Context, partition: u16, last: u64) -> (Vec<u64>, u64) {
    let (mut sequences, mut end) = (Vec::new(), 0);
    if last == 0 {
        return (sequences, end);
    }
    let config = async_nats::jetstream::consumer::pull::OrderedConfig::default();
    let packets = context.get_stream(stream(partition)).await.unwrap();
    let consumer = packets.create_consumer(config).await.unwrap();
    let name = consumer.cached_info().name.clone();
    let mut messages = consumer.messages().await.unwrap();
    while let Some(message) = messages.try_next().await.unwrap() {
        let info = message.info().unwrap();
        end = info.stream_sequence;
        if !message.payload.is_empty()
            && (message.subject.starts_with("omen.packets.") || message.subject.ends_with(".lost"))
        {
            sequences.push(info.stream_sequence);
        }
        if info.pending == 0 {
            break;
        }
    }
    // The server would remove it after a time that tests which count consumers would wait for.
    let _ = packets.delete_consumer(&name).await;
    (sequences, end)
}

/// Returns the findings of `omen check` for a published log, sorted, with the positions of its lines in the streams.
pub(crate) async fn expected(context: &Context, log: &str) -> Vec<String> {
    expected_with(context, log, ValidatorOptions::default()).await
}

/// Returns the same findings under other rules.
pub(crate) async fn expected_with(context: &Context, log: &str, options: ValidatorOptions) -> Vec<String> {
    let places = Places::read(context, log).await;
    let mut lines: Vec<String> =
        checked_with(log, options).into_iter().map(|finding| places.written(finding)).collect();
    lines.sort_unstable();
    lines
}

/// Positions of the lines of a log in the streams.
struct Places {
    /// Partition of each line; `None` for a line that names no episode.
    of_line: Vec<Option<u16>>,
    /// Message number for each partition and line.
    sequences: BTreeMap<(u16, u64), u64>,
}

impl Places {
    async fn read(context: &Context, log: &str) -> Self {
        let of =
            |line: &str| Message::new(line.as_bytes()).correlation_id().map(|id| names::partition_of(id, PARTITIONS));
        let of_line: Vec<_> = log.lines().map(of).collect();
        let mut sequences = BTreeMap::new();
        for partition in 0..PARTITIONS {
            let ours = (1..).zip(&of_line).filter(|(_, of)| of.is_none_or(|of| of == partition));
            sequences.extend(
                ours.zip(lines(context, partition).await).map(|((line, _), sequence)| ((partition, line), sequence)),
            );
        }
        Self { of_line, sequences }
    }

    fn written(&self, mut finding: Finding) -> String {
        let own = finding.line.and_then(|line| self.of_line[usize::try_from(line).unwrap() - 1]);
        let of_episode = finding.correlation_id.as_ref().map(|id| names::partition_of(id, PARTITIONS));
        // The first partition reports lines that name no episode.
        let partition = own.or(of_episode).unwrap_or(0);
        let place = |line: u64| self.sequences[&(partition, line)];
        finding.line = finding.line.map(place);
        finding.packet_index = finding.packet_index.and(finding.line).map(|line| line - 1);
        finding.directive_line = finding.directive_line.map(place);
        if let Some(cause) = &mut finding.follows_from {
            cause.line = place(cause.line);
        }
        for note in &mut finding.diagnostic.notes {
            let mut parts = note.split("line ");
            let mut moved = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                let digits = part.find(|it: char| !it.is_ascii_digit()).unwrap_or(part.len());
                let (line, after) = part.split_at(digits);
                let line = line.parse().map_or_else(|_| line.to_owned(), |line| place(line).to_string());
                moved += &format!("line {line}{after}");
            }
            *note = moved;
        }
        written(&stream(partition), &finding)
    }
}

/// Returns the number of messages that were ever stored in the streams of packets.
pub(crate) async fn end(context: &Context) -> u64 {
    let mut sum = 0;
    for partition in 0..PARTITIONS {
        sum += last(context, partition).await;
    }
    sum
}

/// Returns the number of the last message in the stream of a partition.
pub(crate) async fn last(context: &Context, partition: u16) -> u64 {
    context.get_stream(stream(partition)).await.unwrap().cached_info().state.last_sequence
}

/// Returns the partition with the most messages, and the number of its last message.
pub(crate) async fn longest(context: &Context) -> (u16, u64) {
    let mut longest = (0, 0);
    for partition in 0..PARTITIONS {
        let last = last(context, partition).await;
        if last > longest.1 {
            longest = (partition, last);
        }
    }
    longest
}

/// Waits until every partition is judged up to its last message.
pub(crate) async fn judged(context: &Context) {
    let begin = Instant::now();
    let mut missing = Vec::new();
    while begin.elapsed() < PATIENCE {
        missing.clear();
        // A server that was just killed may not respond.
        if let Ok(is_done) = is_judged(context, &mut missing).await
            && is_done
        {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("partitions are not judged: {missing:?}");
}

/// Returns the last message up to which a partition is judged, according to the head of its checkpoint.
pub(crate) async fn noted(state: &Store, partition: u16) -> Result<u64, Box<dyn std::error::Error>> {
    let head = state.get(format!("checkpoint.{partition}")).await?.unwrap_or_default();
    let head = head.iter().position(|byte| *byte == b'{').map(|begin| &head[begin..]);
    let head: Option<serde_json::Value> = head.and_then(|head| serde_json::from_slice(head).ok());
    Ok(head.and_then(|head| head["judged"]["sequence"].as_u64()).unwrap_or(0))
}

async fn is_judged(context: &Context, missing: &mut Vec<String>) -> Result<bool, Box<dyn std::error::Error>> {
    let findings = context.get_stream("PACKETS_FINDINGS").await?;
    let state = context.get_key_value("PACKETS_STATE").await?;
    for partition in 0..PARTITIONS {
        let last = context.get_stream(stream(partition)).await?.cached_info().state.last_sequence;
        let noted = noted(&state, partition).await?;
        let commit = findings.get_last_raw_message_by_subject(&format!("omen.findings.{partition}.>")).await.ok();
        let commit = commit.as_ref().and_then(|commit| commit.headers.get("Omen-Commit"));
        let commit: Option<serde_json::Value> = commit.and_then(|it| serde_json::from_str(it.as_str()).ok());
        let is_whole = commit.as_ref().is_none_or(|commit| commit["findings_of_last"].is_null());
        let sequence = commit.and_then(|commit| commit["sequence"].as_u64()).unwrap_or(0).max(noted);
        if sequence < last || !is_whole {
            missing.push(format!("{partition}: {sequence} of {last}"));
        }
    }
    Ok(missing.is_empty())
}

/// Time limit that is far longer than any test needs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);
