//! Any number of workers report the findings of one `omen check`.

use std::time::{Duration, Instant};

use async_nats::jetstream::Context;
use futures_util::TryStreamExt as _;
use tokio::time::sleep;

use crate::logs::random;
use crate::process::Worker;
use crate::server::{Nats, PARTITIONS};
use crate::stream::{PATIENCE, expected, found, judged, publish, stream};

/// Returns the number of random logs in one stream: `OMEN_TEST_LOGS`, or a few.
fn logs() -> u64 {
    std::env::var("OMEN_TEST_LOGS").ok().and_then(|count| count.parse().ok()).unwrap_or(60)
}

/// Returns concatenated random logs.
pub(crate) fn many(seed: u64, count: u64) -> String {
    (0..count).map(|at| random(seed + at, &format!("{at}_"))).collect()
}

fn the_same_from(workers: usize, seed: u64) {
    let Some(server) = Nats::start() else { return };
    let log = many(seed, logs());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let context = server.context().await;
        let published = publish(&context, "log", &log).await;
        assert_eq!(published.lines, log.lines().count() as u64);
        let running: Vec<Worker> = (0..workers).map(|_| Worker::start(&server)).collect();
        judged(&context).await;
        let expected = expected(&context, &log).await;
        assert!(expected.len() > 100, "{}", expected.len());
        same(&found(&context).await, &expected);
        are_read_once(&context).await;
        running.into_iter().for_each(Worker::stop);
        same(&found(&context).await, &expected);
    });
}

/// Checks that each stream has one consumer, without a filter.
async fn are_read_once(context: &Context) {
    for partition in 0..PARTITIONS {
        let packets = context.get_stream(stream(partition)).await.unwrap();
        let begin = Instant::now();
        loop {
            let consumers: Vec<_> = packets.consumers().try_collect().await.unwrap();
            for consumer in &consumers {
                let config = &consumer.config;
                assert!(config.filter_subject.is_empty() && config.filter_subjects.is_empty(), "{consumer:#?}");
            }
            if consumers.len() == 1 {
                break;
            }
            // The server removes the consumers of moved partitions, and of this test, but not at once.
            assert!(begin.elapsed() < PATIENCE, "{consumers:#?}");
            sleep(Duration::from_millis(500)).await;
        }
    }
}

/// Compares findings, and shows the first difference.
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
