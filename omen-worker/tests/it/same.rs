//! Any number of workers find what one `omen check` finds.

use std::time::{Duration, Instant};

use async_nats::jetstream::Context;
use futures_util::TryStreamExt as _;
use tokio::time::sleep;

use crate::logs::{checked, random};
use crate::process::Worker;
use crate::server::Nats;
use crate::stream::{PATIENCE, found, judged, publish};

/// How many random logs are in one stream: `OMEN_TEST_LOGS`, or few.
fn logs() -> u64 {
    std::env::var("OMEN_TEST_LOGS").ok().and_then(|count| count.parse().ok()).unwrap_or(60)
}

/// Random logs, one after the other. Each line of the log is a message of the stream, with the same number.
pub(crate) fn many(seed: u64, count: u64) -> String {
    (0..count).map(|at| random(seed + at, &format!("{at}_"))).collect()
}

fn the_same_from(workers: usize, seed: u64) {
    let Some(server) = Nats::start() else { return };
    let log = many(seed, logs());
    let expected = checked(&log);
    assert!(expected.len() > 100, "{}", expected.len());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let context = server.context().await;
        let published = publish(&context, "log", &log).await;
        assert_eq!(published.lines, log.lines().count() as u64);
        let running: Vec<Worker> = (0..workers).map(|_| Worker::start(&server)).collect();
        judged(&context).await;
        same(&found(&context).await, &expected);
        if workers == 1 {
            is_read_once(&context).await;
        }
        running.into_iter().for_each(Worker::stop);
        same(&found(&context).await, &expected);
    });
}

/// Checks that the worker has a consumer for all partitions, and a second one at most for those that were loaded later, without filters.
async fn is_read_once(context: &Context) {
    let packets = context.get_stream("PACKETS").await.unwrap();
    let begin = Instant::now();
    loop {
        let consumers: Vec<_> = packets.consumers().try_collect().await.unwrap();
        for consumer in &consumers {
            let is_filtered = !consumer.config.filter_subject.is_empty() || !consumer.config.filter_subjects.is_empty();
            assert!(!is_filtered, "{consumer:#?}");
        }
        if (1..=2).contains(&consumers.len()) {
            return;
        }
        // The server forgets that of a reader that failed, but not at once.
        assert!(begin.elapsed() < PATIENCE, "{consumers:#?}");
        sleep(Duration::from_millis(500)).await;
    }
}

/// Compares findings, and shows the first that differ.
pub(crate) fn same(found: &[String], expected: &[String]) {
    let doubled: Vec<_> = found.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| &pair[0]).collect();
    let lost: Vec<_> = expected.iter().filter(|line| found.binary_search(line).is_err()).collect();
    let added: Vec<_> = found.iter().filter(|line| expected.binary_search(line).is_err()).collect();
    assert!(
        found == expected,
        "{} found, {} expected; {} lost, {} added, {} doubled; lost {:#?}, added {:#?}",
        found.len(),
        expected.len(),
        lost.len(),
        added.len(),
        doubled.len(),
        lost.iter().take(3).collect::<Vec<_>>(),
        added.iter().take(3).collect::<Vec<_>>()
    );
}

#[test]
fn one_worker_finds_the_same() {
    the_same_from(1, 1);
}

#[test]
fn two_workers_find_the_same() {
    the_same_from(2, 10_001);
}

#[test]
fn four_workers_find_the_same() {
    the_same_from(4, 20_001);
}
