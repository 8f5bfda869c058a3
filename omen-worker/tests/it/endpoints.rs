//! Health and metrics endpoints of a worker.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use omen_worker::worker::Options;
use tokio::time::sleep;

use crate::messages::Worker;
use crate::process::options;
use crate::same::many;
use crate::server::{Nats, PARTITIONS};
use crate::stream::{PATIENCE, found, judged, publish};

/// Returns the status and the body of a response.
fn get(address: &str, path: &str) -> (u16, String) {
    let mut connection = TcpStream::connect(address).unwrap();
    connection.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    write!(connection, "GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n").unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

async fn becomes(address: &str, path: &str, status: u16) -> String {
    let begin = Instant::now();
    loop {
        let (found, body) = get(address, path);
        if found == status {
            return body;
        }
        assert!(begin.elapsed() < PATIENCE, "{path} is {found}: {body}");
        sleep(Duration::from_millis(20)).await;
    }
}

/// Returns the sum of a metric over all partitions.
fn sum(metrics: &str, name: &str) -> f64 {
    let lines = metrics.lines().filter(|line| line.starts_with(name) && line[name.len()..].starts_with(['{', ' ']));
    lines.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
}

/// Returns the metrics once the worker reports no lag, which is a moment after the last commit is stored.
async fn without_lag(address: &str) -> String {
    let begin = Instant::now();
    loop {
        let metrics = becomes(address, "/metrics", 200).await;
        if sum(&metrics, "omen_partition_lag") == 0.0 {
            return metrics;
        }
        assert!(begin.elapsed() < PATIENCE, "{metrics}");
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_is_ready_as_long_as_its_server_is_there() {
    let Some(mut server) = Nats::start() else { return };
    let context = server.context().await;
    let listen = Some("127.0.0.1:0".parse().unwrap());
    let worker = Worker::start(&server, Options { listen, ..options() });
    let said = worker.says(&["metrics at http://"]).await;
    let (_, url) = said.split_once("http://").unwrap();
    let address = url.strip_suffix("/metrics").unwrap().to_owned();
    becomes(&address, "/readyz", 200).await;
    let log = many(71, 3);
    publish(&context, "log", &log).await;
    judged(&context).await;
    becomes(&address, "/readyz", 200).await;
    assert_eq!(get(&address, "/livez").0, 200);
    // Idle connections do not block requests.
    let idle: Vec<_> = (0..300).map(|_| TcpStream::connect(&address).unwrap()).collect();
    assert_eq!(get(&address, "/livez").0, 200);
    drop(idle);

    let metrics = without_lag(&address).await;
    let sum = |name: &str| sum(&metrics, name);
    assert_eq!((sum("omen_partition_up"), sum("omen_workers")), (f64::from(PARTITIONS), 1.0), "{metrics}");
    assert_eq!((sum("omen_connected"), sum("omen_episodes_open")), (1.0, 0.0));
    assert!(sum("omen_packets_total") >= log.lines().count() as f64 && sum("omen_commits_total") > 0.0, "{metrics}");
    assert_eq!(sum("omen_findings_total"), found(&context).await.len() as f64, "{metrics}");

    server.kill();
    let why = becomes(&address, "/readyz", 503).await;
    assert!(why == "not connected\n" || why == "not among the workers\n", "{why}");
    assert_eq!(get(&address, "/livez").0, 200, "it need not be started again");
    server.start_again();
    becomes(&address, "/readyz", 200).await;
    worker.stop().await;
}
