//! Faults of workers and servers: no finding is lost or repeated.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use async_nats::HeaderMap;
use async_nats::jetstream::Context;
use bytes::Bytes;
use omen::validator::Message;
use omen_worker::Failure;
use omen_worker::names;
use omen_worker::publish::{Options, Publisher};
use rustix::process::Signal;
use tokio::time::sleep;

use crate::cable::Cable;
use crate::logs::Random;
use crate::process::Worker;
use crate::same::{many, same};
use crate::server::{Nats, setup};
use crate::stream::{expected, found, judged, packets_of};

/// Returns the number of repetitions that a variable of the environment sets, or `few`.
fn times(variable: &str, few: u64) -> u64 {
    std::env::var(variable).ok().map_or(few, |count| count.parse().expect(variable))
}

async fn published(context: &Context, part: u64, log: &str) -> Result<(), Failure> {
    let publisher = Publisher::new(context.clone(), &setup()).await?;
    publisher.log(&format!("part {part}"), log.as_bytes(), &Options::default()).await.map(drop)
}

/// Ends all episodes of a log, in order.
async fn end(context: &Context, log: &str) {
    let mut ended = BTreeSet::new();
    for line in log.lines() {
        let message = Message::new(line.as_bytes());
        let Some(id) = message.correlation_id().filter(|id| ended.insert((*id).to_owned())) else { continue };
        let mut headers = HeaderMap::new();
        headers.insert(names::END_HEADER, "true");
        let subject = packets_of(id);
        context.publish_with_headers(subject, headers, Bytes::new()).await.unwrap().await.unwrap();
    }
}

/// Publishes logs in parts, injects a fault between them, and compares all findings at the end. Returns whether there is a
/// server.
fn while_packets_come(
    parts: u64,
    seed: u64,
    mut act: impl AsyncFnMut((&mut Nats, &Cable), &mut Vec<Worker>, &mut Random),
) -> bool {
    let Some(mut server) = Nats::start() else { return false };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut random = Random::new(seed);
    runtime.block_on(async {
        let context = server.context().await;
        let cable = Cable::to(server.port).await;
        let mut workers: Vec<Worker> = (0..2).map(|_| Worker::at(&format!("nats://{}", cable.address))).collect();
        let mut log = String::new();
        let begin = Instant::now();
        for part in 0..parts {
            // Message numbers must match line numbers, so the episodes end only after all parts.
            let logs = many(seed + 100 * part, 8).replace("\"corr_", &format!("\"corr_p{part}_"));
            // Where the server was killed, a repeated call resumes.
            while let Err(failure) = published(&context, part, &logs).await {
                assert!(matches!(failure, Failure::Server { .. }), "{failure}");
            }
            log.push_str(&logs);
            act((&mut server, &cable), &mut workers, &mut random).await;
        }
        let (faults, last) = (begin.elapsed(), Instant::now());
        end(&context, &log).await;
        judged(&context).await;
        let recovered = last.elapsed();
        let expected = expected(&context, &log).await;
        same(&found(&context).await, &expected);
        workers.into_iter().for_each(Worker::stop);
        same(&found(&context).await, &expected);
        crate::say(&format!(
            "{parts} faults in {:.1} s; {:.1} s later all {} packets were judged, and {} findings were there once",
            faults.as_secs_f64(),
            recovered.as_secs_f64(),
            log.lines().count(),
            expected.len()
        ));
    });
    true
}

#[test]
fn workers_are_killed() {
    while_packets_come(times("OMEN_TEST_KILLS", 6), 31, async |(server, _), workers, random| {
        sleep(Duration::from_millis(random.below(1500) as u64)).await;
        let at = random.below(workers.len());
        // A new process takes over. The killed one left everything as it was at that moment.
        workers[at] = Worker::start(server);
    });
}

#[test]
fn the_server_is_killed() {
    while_packets_come(times("OMEN_TEST_SERVER_KILLS", 3), 32, async |(server, _), _, random| {
        sleep(Duration::from_millis(random.below(700) as u64)).await;
        server.kill_and_start();
    });
}

#[test]
fn the_network_is_cut() {
    let mut cut = 0;
    let ran = while_packets_come(times("OMEN_TEST_CUTS", 5), 34, async |(_, cable), _, random| {
        sleep(Duration::from_millis(random.below(900) as u64)).await;
        cut += cable.cut();
    });
    assert!(cut > 0 || !ran, "no connection was cut");
}

#[test]
fn the_network_becomes_silent() {
    while_packets_come(times("OMEN_TEST_SILENCES", 2), 35, async |(_, cable), _, random| {
        sleep(Duration::from_millis(random.below(900) as u64)).await;
        cable.silence();
    });
}

#[test]
fn a_stopped_worker_wakes_up_after_its_partitions_have_moved() {
    while_packets_come(times("OMEN_TEST_STOPS", 2), 33, async |_, workers, random| {
        let at = random.below(workers.len());
        workers[at].signal(Signal::STOP);
        // Longer than the lifetime of the worker's entry, so that the other one owns all partitions.
        sleep(Duration::from_secs(8)).await;
        workers[at].signal(Signal::CONT);
    });
}
