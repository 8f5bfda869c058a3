//! A cluster of three servers, one of which dies or loses its leadership: no finding is lost or repeated.

use std::time::{Duration, Instant};

use async_nats::jetstream::Context;
use futures_util::TryStreamExt as _;
use omen_testkit::Need;
use omen_worker::Failure;
use omen_worker::connect::Server;
use omen_worker::publish::{Options, Publisher};
use omen_worker::setup::Setup;
use serde_json::Value;
use tokio::time::{sleep, timeout};

use crate::process::Worker;
use crate::same::{many, same};
use crate::server::{self, Nats, PARTITIONS, REPLICAS, any_port, setup};
use crate::stream::{PATIENCE, expected, found, judged, stream};

/// Servers that each keep a copy of every stream.
struct Cluster(Vec<Nats>);

impl Cluster {
    fn start() -> Option<Self> {
        let binary = Need::Nats.path()?;
        let routes = [(); SERVERS].map(|()| any_port());
        let all = routes.map(|port| format!("\"nats://127.0.0.1:{port}\"")).join(", ");
        let one = |(number, port)| {
            let more = format!(
                "server_name: \"server-{number}\"\n\
                 cluster {{ name: omen, listen: \"127.0.0.1:{port}\", routes: [{all}], no_advertise: true }}"
            );
            Nats::listening(binary.clone(), server::folder(), &more, any_port)
        };
        Some(Self((0..).zip(routes).map(one).collect()))
    }

    /// Returns the addresses of all servers.
    fn url(&self) -> String {
        self.0.iter().map(|server| server.address().url).collect::<Vec<_>>().join(",")
    }

    /// Returns the index of the server with this name.
    fn named(&self, name: &str) -> usize {
        name.strip_prefix("server-").and_then(|number| number.parse().ok()).expect(name)
    }

    /// Kills a server, and restarts it when another one leads a stream. Returns whether a reader had its consumer there.
    async fn replace(&mut self, context: &Context, name: &str, stream: &str) -> bool {
        let had_consumer = consumers(context).await.iter().any(|server| server == name);
        let server = self.named(name);
        self.0[server].kill();
        other_leader(context, stream, name).await;
        self.0[server].start_again();
        had_consumer
    }
}

/// Repeats an operation that may fail, or get no response, while servers elect a leader.
async fn at_last<T>(what: &str, mut attempt: impl AsyncFnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Ok(Some(value)) = timeout(Duration::from_secs(1), attempt()).await {
            return value;
        }
        assert!(begin.elapsed() < PATIENCE, "{what}");
        sleep(Duration::from_millis(50)).await;
    }
}

/// Returns the server that leads a stream.
async fn leader(context: &Context, stream: &str) -> String {
    at_last("no leader", async || context.get_stream(stream).await.ok()?.cached_info().cluster.clone()?.leader).await
}

/// Waits until another server than `before` leads a stream, and returns it.
async fn other_leader(context: &Context, stream: &str, before: &str) -> String {
    at_last("no other leader", async || Some(leader(context, stream).await).filter(|leader| leader != before)).await
}

/// Asks the leader of a stream to step down.
async fn step_down(context: &Context, stream: &str) {
    let subject = format!("STREAM.LEADER.STEPDOWN.{stream}");
    at_last("the leader does not step down", async || {
        let answer: Result<Value, _> = context.request(subject.clone(), &()).await;
        (answer.ok()?["success"] == true).then_some(())
    })
    .await;
}

/// Returns the servers that have consumers of readers. Each consumer is on one server only.
async fn consumers(context: &Context) -> Vec<String> {
    let all = at_last("no list of consumers", async || {
        let packets = context.get_stream(stream(0)).await.ok()?;
        packets.consumers().try_collect::<Vec<_>>().await.ok()
    })
    .await;
    all.into_iter().filter_map(|consumer| consumer.cluster?.leader).collect()
}

/// Publishes a log to its end, whatever happens to the servers meanwhile. A repeated call resumes.
async fn published(context: &Context, setup: &Setup, log: &str, options: &Options) {
    let publish = async || Publisher::new(context.clone(), setup).await?.log("log", log.as_bytes(), options).await;
    while let Err(failure) = publish().await {
        // A batch whose response was lost may be in the stream, and is then refused when it is sent again.
        assert!(matches!(failure, Failure::Server { .. } | Failure::Fenced(_)), "{failure}");
    }
}

/// Waits until this many packets are in the stream, and some findings, too.
async fn stored(context: &Context, packets: u64) {
    let last = async |stream: &str| Some(context.get_stream(stream).await.ok()?.cached_info().state.last_sequence);
    let share = packets / u64::from(PARTITIONS);
    at_last("no packets come", async || (last(&stream(0)).await? >= share).then_some(())).await;
    at_last("no findings come", async || (last("PACKETS_FINDINGS").await? >= packets / 200).then_some(())).await;
}

/// Kills the leaders of both streams and a server with a consumer, while packets arrive.
async fn faults(cluster: &mut Cluster, context: &Context, lines: u64) {
    let mut had_consumer = false;
    stored(context, lines / 5).await;
    let first = leader(context, &stream(0)).await;
    had_consumer |= cluster.replace(context, &first, &stream(0)).await;

    stored(context, lines * 2 / 5).await;
    let second = leader(context, &stream(0)).await;
    step_down(context, &stream(0)).await;
    other_leader(context, &stream(0), &second).await;

    stored(context, lines * 3 / 5).await;
    let third = leader(context, "PACKETS_FINDINGS").await;
    had_consumer |= cluster.replace(context, &third, "PACKETS_FINDINGS").await;
    if !had_consumer {
        stored(context, lines * 4 / 5).await;
        let fourth = at_last("no consumer", async || consumers(context).await.pop()).await;
        assert!(cluster.replace(context, &fourth, &stream(0)).await, "a reader has its consumer there");
    }
}

#[test]
fn any_server_of_a_cluster_may_die() {
    let Some(mut cluster) = Cluster::start() else { return };
    let setup = Setup { replicas: SERVERS, ..setup() };
    let log = many(91_000, 80);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let begin = Instant::now();
    runtime.block_on(async {
        let server = Server { url: cluster.url(), ..Server::default() };
        let context = server.jetstream(server.connect("test").await.unwrap());
        at_last("no streams", async || {
            setup.packets(&context).await.ok()?;
            setup.findings(&context).await.ok()
        })
        .await;
        let replicas = [(REPLICAS, SERVERS.to_string())];
        let workers: Vec<Worker> = (0..2).map(|_| Worker::with(&server.url, &replicas)).collect();
        let slowly = Options { rate: Some(600), ..Options::default() };
        let publishing = published(&context, &setup, &log, &slowly);
        tokio::join!(publishing, faults(&mut cluster, &context, log.lines().count() as u64));
        published(&context, &setup, &log, &Options { ends: true, ..Options::default() }).await;
        judged(&context).await;
        let expected = expected(&context, &log).await;
        same(&found(&context).await, &expected);
        workers.into_iter().for_each(Worker::stop);
        same(&found(&context).await, &expected);
    });
    crate::say(&format!("a cluster: {} packets in {:.0} s", log.lines().count(), begin.elapsed().as_secs_f64()));
}

const SERVERS: usize = 3;
