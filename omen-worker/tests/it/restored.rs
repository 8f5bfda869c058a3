//! Streams that were replaced or that lost packets: a worker refuses them, and reports no wrong findings.

use std::time::{Duration, Instant};

use async_nats::jetstream::stream::{Config, RetentionPolicy};
use omen_worker::Failure;
use omen_worker::publish::{self, Publisher};
use omen_worker::worker::{self, Options};
use tokio::time::sleep;

use crate::damage::{half, published};
use crate::messages::Worker;
use crate::process::options;
use crate::same::{many, same};
use crate::server::{Nats, PARTITIONS, setup};
use crate::stream::{PATIENCE, expected, found, judged, stream};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_was_made_again_is_refused() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    published(&context, &many(71, 6)).await;
    let worker = Worker::start(&server, options());
    judged(&context).await;
    worker.stop().await;
    let before = found(&context).await;

    // The new stream is longer than the first one, so its length does not give it away.
    for partition in 0..PARTITIONS {
        context.delete_stream(stream(partition)).await.unwrap();
    }
    context.delete_key_value("PACKETS_WORKERS").await.unwrap();
    let longer = many(171, 24).replace("\"corr_", "\"corr_again_");
    let publisher = Publisher::new(context.clone(), &setup()).await.unwrap();
    publisher.log("again", longer.as_bytes(), &publish::Options::default()).await.unwrap();
    let worker = Worker::start(&server, options());
    let why =
        worker.says(&["partition ", "`PACKETS_", " has another message ", "it is another stream with this name"]).await;
    assert!(why.contains("delete `PACKETS_FINDINGS` and the bucket `PACKETS_STATE`"), "{why}");
    worker.stop().await;
    same(&found(&context).await, &before);

    // The checkpoints detect it, too, if the commits have expired.
    context.get_stream("PACKETS_FINDINGS").await.unwrap().purge().await.unwrap();
    let worker = Worker::start(&server, options());
    worker.says(&["partition ", "`PACKETS_", " has another message "]).await;
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn findings_that_are_older_than_their_checkpoints_are_refused() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    published(&context, &many(72, 6)).await;
    let worker = Worker::start(&server, options());
    judged(&context).await;
    worker.stop().await;
    // The oldest possible copy. Findings published since then do not hide that it is old.
    context.delete_stream("PACKETS_FINDINGS").await.unwrap();
    setup().findings(&context).await.unwrap();
    for _ in 0..1_000 {
        context.publish("omen.findings.junk", "{}".into()).await.unwrap().await.unwrap();
    }
    let worker = Worker::start(&server, options());
    let why = worker.says(&["partition ", "restored from an older copy"]).await;
    assert!(why.contains("delete the key `checkpoint.") && why.contains("the bucket `PACKETS_STATE`"), "{why}");
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_is_not_a_commit_is_named() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    let log = many(73, 12);
    published(&context, &half(&log)).await;
    let worker = Worker::start(&server, options());
    judged(&context).await;
    worker.stop().await;
    let junk = context.publish("omen.findings.3.error", "junk".into()).await.unwrap().await.unwrap().sequence;

    let worker = Worker::start(&server, options());
    let why = worker.says(&["partition 3: ", "on `omen.findings.3.error`, is not a commit"]).await;
    assert!(why.contains(&format!("nats stream rmm PACKETS_FINDINGS {junk}")), "{why}");
    // Replacing the rules fails, too, and leaves them unchanged.
    let later = Options { episode_ttl: Some(Duration::from_secs(600)), judges_again: true, ..options() };
    let refused = worker::run(&server.address(), later, std::future::pending()).await;
    assert!(matches!(&refused, Err(Failure::Refused(why)) if why.contains("is not a commit")), "{refused:?}");
    // Deleting the message helps. The worker retries by itself.
    context.get_stream("PACKETS_FINDINGS").await.unwrap().delete_message(junk).await.unwrap();
    crate::stream::publish(&context, "log", &log).await;
    judged(&context).await;
    worker.stop().await;
    same(&found(&context).await, &expected(&context, &log).await);
}

#[tokio::test]
async fn a_stream_that_loses_packets_is_refused() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    setup().packets(&context).await.unwrap();
    let config = context.get_stream(stream(1)).await.unwrap().cached_info().config.clone();
    let without_marks = config.subjects.iter().filter(|subject| !subject.starts_with("omen.marks")).cloned().collect();
    for (config, why) in [
        (Config { max_messages_per_subject: 100, ..config.clone() }, "--max-msgs-per-subject=-1"),
        (Config { retention: RetentionPolicy::Interest, ..config.clone() }, "once they have been read"),
        (Config { subjects: without_marks, ..config.clone() }, "does not store `omen.marks.1.>`"),
    ] {
        context.delete_stream(stream(1)).await.unwrap();
        context.create_stream(config).await.unwrap();
        let refused = setup().packets(&context).await;
        assert!(matches!(&refused, Err(Failure::Refused(found)) if found.contains(why)), "{why}: {refused:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agreement_that_was_deleted_is_stored_again() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    published(&context, &many(74, 6)).await;
    let worker = Worker::start(&server, options());
    judged(&context).await;
    let bucket = context.get_key_value("PACKETS_STATE").await.unwrap();
    let before = bucket.get("options").await.unwrap();
    bucket.delete("options").await.unwrap();
    let begin = Instant::now();
    // The worker checks the rules whenever it renews its entry.
    while bucket.get("options").await.unwrap() != before {
        assert!(begin.elapsed() < PATIENCE, "it is not stored again");
        sleep(Duration::from_millis(50)).await;
    }
    worker.stop().await;
    assert!(before.is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn buckets_that_are_deleted_are_made_again() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    let log = many(75, 12);
    published(&context, &half(&log)).await;
    let worker = Worker::start(&server, options());
    judged(&context).await;
    context.delete_key_value("PACKETS_STATE").await.unwrap();
    context.delete_key_value("PACKETS_WORKERS").await.unwrap();
    crate::stream::publish(&context, "log", &log).await;
    judged(&context).await;
    worker.stop().await;
    same(&found(&context).await, &expected(&context, &log).await);
}
