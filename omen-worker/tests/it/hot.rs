//! A partition that takes long: the others go on without it, and it is read for by a reader of its own.

use std::time::{Duration, Instant};

use async_nats::jetstream::Context;
use futures_util::TryStreamExt as _;
use omen_worker::publish::{self, Publisher};
use tokio::time::sleep;

use crate::logs::checked;
use crate::messages::Worker;
use crate::process::options;
use crate::same::{many, same};
use crate::server::{Nats, setup};
use crate::stream::{PATIENCE, found, judged, publish};

/// For each reader, how many messages are in the stream behind what it was sent. It removes its consumer when it ends.
async fn readers(context: &Context) -> Vec<u64> {
    let packets = context.get_stream("PACKETS").await.unwrap();
    let consumers: Vec<_> = packets.consumers().try_collect().await.unwrap();
    consumers.iter().map(|consumer| consumer.num_pending).collect()
}

async fn one_reader(context: &Context) {
    let begin = Instant::now();
    while readers(context).await.len() != 1 {
        assert!(begin.elapsed() < PATIENCE, "there is never one reader");
        sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_partition_that_takes_long_has_a_reader_of_its_own() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    let publisher = Publisher::new(context.clone(), &setup()).await.unwrap();
    let worker = Worker::start(&server, options());
    one_reader(&context).await;

    // An episode whose packets have several mistakes each: more are published in a second than can be judged.
    let wrong = format!("{:<2000}\n", r#"{"header":{"correlation_id":"corr_hot"}}"#);
    let (part, mut log) = (wrong.repeat(1_000), String::new());
    let begin = Instant::now();
    let mut parts = 0;
    loop {
        let readers = readers(&context).await;
        // At first there may be one for partitions that were loaded late.
        if readers.len() == 2 && begin.elapsed() >= Duration::from_secs(2) {
            break;
        }
        assert!(begin.elapsed() < PATIENCE, "there is never a second reader");
        // The reader waits for that episode alone as long as there is something to read.
        if readers.iter().any(|behind| *behind >= 2_000) {
            sleep(Duration::from_millis(10)).await;
            continue;
        }
        publisher.log(&format!("part {parts}"), part.as_bytes(), &publish::Options::default()).await.unwrap();
        log.push_str(&part);
        parts += 1;
    }

    // Others come, and the episode ends.
    let rest = many(57_000, 10) + &wrong;
    log.push_str(&rest);
    publish(&context, "rest", &rest).await;
    judged(&context).await;
    one_reader(&context).await;
    worker.stop().await;
    same(&found(&context).await, &checked(&log));
}
