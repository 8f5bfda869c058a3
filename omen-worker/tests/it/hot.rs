//! An episode that takes long to judge: the other partitions continue meanwhile.

use std::time::{Duration, Instant};

use omen_worker::publish::{self, Publisher};
use tokio::time::sleep;

use crate::messages::Worker;
use crate::process::options;
use crate::same::{many, same};
use crate::server::{Nats, PARTITIONS, setup};
use crate::stream::{PATIENCE, expected, found, judged, last, noted, publish};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_episode_delays_only_its_own_partition() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    let publisher = Publisher::new(context.clone(), &setup()).await.unwrap();

    // An episode whose packets have several mistakes each, too many to judge quickly.
    let wrong = format!("{:<2000}\n", r#"{"header":{"correlation_id":"corr_hot"}}"#);
    let hot = omen_worker::names::partition_of("corr_hot", PARTITIONS);
    let part = wrong.repeat(20_000);
    publisher.log("hot", part.as_bytes(), &publish::Options::default()).await.unwrap();
    let rest = many(57_000, 10);
    publish(&context, "rest", &rest).await;
    let worker = Worker::start(&server, options());
    let begin = Instant::now();
    let is_judged = async |partition: u16| {
        let Ok(state) = context.get_key_value("PACKETS_STATE").await else { return false };
        noted(&state, partition).await.unwrap() >= last(&context, partition).await
    };
    for partition in (0..PARTITIONS).filter(|partition| *partition != hot) {
        while !is_judged(partition).await {
            assert!(begin.elapsed() < PATIENCE, "partition {partition} waits");
            sleep(Duration::from_millis(10)).await;
        }
    }
    assert!(!is_judged(hot).await, "the episode does not take long");
    judged(&context).await;
    worker.stop().await;
    same(&found(&context).await, &expected(&context, &(part + &rest)).await);
}
