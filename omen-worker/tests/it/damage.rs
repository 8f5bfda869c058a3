//! Damaged or missing data that a worker needs: it reports the damage, and no wrong findings.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use async_nats::jetstream::Context;
use async_nats::jetstream::kv::Store;
use futures_util::StreamExt as _;
use omen_testkit::logs::Logs;
use omen_worker::publish::{self, Publisher};
use omen_worker::worker::Options;
use rustix::process::{Signal, kill_process};

use crate::messages::Worker;
use crate::process::options;
use crate::same::{many, same};
use crate::server::{Nats, setup};
use crate::stream::{expected, found, judged, lines, longest, publish, stream};

pub(crate) async fn published(context: &Context, log: &str) {
    let publisher = Publisher::new(context.clone(), &setup()).await.unwrap();
    publisher.log("log", log.as_bytes(), &publish::Options::default()).await.unwrap();
}

/// Judges half of a log, changes the checkpoint of a partition, and judges the rest. The worker must report `why` it cannot
/// continue, and which key to delete. Deleting that key must help.
pub(crate) async fn a_checkpoint_is_changed(why: &str, change: impl AsyncFnOnce(&Store, u16)) {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    let log = many(51, 12);
    published(&context, &half(&log)).await;
    let worker = Worker::start(&server, options());
    judged(&context).await;
    worker.stop().await;
    let bucket = context.get_key_value("PACKETS_STATE").await.unwrap();
    let (key, _) = entry(&bucket, "checkpoint.").await;
    let partition = key.split('.').nth(1).unwrap().parse().unwrap();
    change(&bucket, partition).await;

    let worker = Worker::start(&server, options());
    publish(&context, "log", &log).await;
    let failure = worker.says(&[&format!("partition {partition}: "), "checkpoint", why]).await;
    let key = format!("checkpoint.{partition}");
    assert!(failure.contains(&format!("delete the key `{key}` of the bucket `PACKETS_STATE`")), "{failure}");
    // The reported remedy works. The worker retries by itself.
    bucket.delete(key).await.unwrap();
    judged(&context).await;
    worker.stop().await;
    same(&found(&context).await, &expected(&context, &log).await);
}

/// Returns the first half of the lines of a log.
pub(crate) fn half(log: &str) -> String {
    log.lines().take(log.lines().count() / 2).map(|line| format!("{line}\n")).collect()
}

/// Returns the first key with this prefix, and its value.
pub(crate) async fn entry(bucket: &Store, beginning: &str) -> (String, Vec<u8>) {
    let mut keys = bucket.keys().await.unwrap().map(Result::unwrap).collect::<Vec<_>>().await;
    keys.retain(|key| key.starts_with(beginning));
    let key = keys.into_iter().next().expect("a checkpoint");
    let value = bucket.get(&key).await.unwrap().unwrap().to_vec();
    (key, value)
}

/// Flips a bit in the middle of a value.
async fn a_bit_is_changed(bucket: &Store, beginning: &str) {
    let (key, mut value) = entry(bucket, beginning).await;
    let middle = value.len() / 2;
    value[middle] ^= 1;
    bucket.put(key, value.into()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_bytes_of_a_checkpoint_are_changed() {
    let change = async |bucket: &Store, partition| a_bit_is_changed(bucket, &format!("value.{partition}.")).await;
    a_checkpoint_is_changed("is damaged", change).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_head_of_a_checkpoint_is_changed() {
    let change = async |bucket: &Store, partition| a_bit_is_changed(bucket, &format!("checkpoint.{partition}")).await;
    a_checkpoint_is_changed("is damaged", change).await;
}

/// Returns the findings of a partition: their lines and messages.
fn of_partition(found: &[String], partition: u16) -> Vec<(u64, String)> {
    let rows = found.iter().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let rows = rows.filter(|row| row["file"] == stream(partition)).filter_map(|row| {
        let message = row["message"].as_str().unwrap_or_default();
        Some((row["line"].as_u64()?, message.to_owned()))
    });
    let mut rows: Vec<_> = rows.collect();
    rows.sort_unstable();
    rows
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn packets_expire_before_they_are_judged() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    published(&context, &many(61, 12)).await;
    let (partition, last) = longest(&context).await;
    let first = last / 3;
    // Purges at once what a maximum age of the stream would delete later.
    context.get_stream(stream(partition)).await.unwrap().purge().sequence(first).await.unwrap();

    let worker = Worker::start(&server, options());
    let what = format!("{} messages of `{}`, 1 to {}, were deleted before", first - 1, stream(partition), first - 1);
    worker.says(&[&what, "--accept-gaps"]).await;
    worker.stop().await;
    assert_eq!(of_partition(&found(&context).await, partition), [], "nothing is judged without what came before");

    let worker = Worker::start(&server, Options { accepts_gaps: true, ..options() });
    judged(&context).await;
    worker.stop().await;
    let found = of_partition(&found(&context).await, partition);
    let (gap, rest) = found.split_first().unwrap();
    assert!(gap.0 == first - 1 && gap.1.starts_with(&what), "{gap:?}");
    assert!(rest.len() > 10 && rest.iter().all(|(line, _)| *line >= first), "{first}: {rest:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_packet_in_the_middle_is_deleted_before_it_is_judged() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    let log = many(62, 12);
    published(&context, &half(&log)).await;
    let worker = Worker::start(&server, options());
    judged(&context).await;
    worker.stop().await;
    let (partition, judged_before) = longest(&context).await;
    publish(&context, "log", &log).await;
    let deleted = lines(&context, partition).await.into_iter().find(|line| *line > judged_before + 5).unwrap();
    context.get_stream(stream(partition)).await.unwrap().delete_message(deleted).await.unwrap();

    let worker = Worker::start(&server, options());
    let what = format!("message {deleted} of `{}` was deleted before being judged", stream(partition));
    worker.says(&[&format!("partition {partition}: "), &what, "--accept-gaps"]).await;
    worker.stop().await;
    let found_before = of_partition(&found(&context).await, partition);
    assert!(
        !found_before.is_empty() && found_before.iter().all(|(line, _)| *line < deleted),
        "nothing is found that follows from the gap"
    );

    let worker = Worker::start(&server, Options { accepts_gaps: true, ..options() });
    judged(&context).await;
    worker.says(&[&what, "may be wrong"]).await;
    worker.stop().await;
    let found = of_partition(&found(&context).await, partition);
    assert!(found.len() > found_before.len());
    assert_eq!(found.iter().filter(|finding| finding.1 == what).count(), 1, "{found:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_partition_that_is_not_loaded_yet_does_not_delay_the_end() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    published(&context, &many(61, 12)).await;
    let (partition, last) = longest(&context).await;
    context.get_stream(stream(partition)).await.unwrap().purge().sequence(last / 3).await.unwrap();
    // The partitions are loaded concurrently. When the first is refused, the server stops responding to the others.
    let process = server.process();
    let (paused, is_paused) = tokio::sync::oneshot::channel();
    let paused = Mutex::new(Some(paused));
    let logs = Logs::capture_each(move |what| {
        if what.contains("--accept-gaps")
            && let Some(paused) = paused.lock().unwrap().take()
        {
            kill_process(process, Signal::STOP).unwrap();
            paused.send(()).unwrap();
        }
    });
    let worker = Worker::logging(logs, server.address(), options());
    is_paused.await.unwrap();
    let begin = Instant::now();
    // A partition that was loaded earlier may have findings.
    worker.stop_anyhow().await;
    assert!(begin.elapsed() < Duration::from_secs(15), "it waits for a server that does not answer");
    kill_process(process, Signal::CONT).unwrap();
}
