//! Single messages: what is not a packet, and what ends an episode.

use async_nats::HeaderMap;
use omen_worker::Failure;
use omen_worker::connect::Server;
use omen_worker::names;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::damage::heard;
use crate::process::options;
use crate::server::{Nats, setup};
use crate::stream::{found, judged};

/// A worker in this process.
pub(crate) struct Worker(oneshot::Sender<()>, JoinHandle<Result<(), Failure>>);

impl Worker {
    pub(crate) fn start(server: &Nats, options: omen_worker::worker::Options) -> Self {
        Self::of(server.address(), options)
    }

    pub(crate) fn of(server: Server, options: omen_worker::worker::Options) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            let stop = async { drop(stopped.await) };
            omen_worker::worker::run(&server, options, stop).await
        });
        Self(stop, task)
    }

    pub(crate) async fn stop(self) {
        self.0.send(()).unwrap();
        self.1.await.unwrap().unwrap();
    }

    /// Why it ends by itself.
    pub(crate) async fn ended(self) -> String {
        let ended = tokio::time::timeout(crate::stream::PATIENCE, self.1).await;
        ended.expect("the worker ends").unwrap().unwrap_err().to_string()
    }
}

fn example(path: &str) -> &'static str {
    omen_schema::example(path).unwrap()
}

/// The codes of findings, and what they say.
fn rows(found: &[String]) -> Vec<(u64, String, String)> {
    let mut rows: Vec<_> = found
        .iter()
        .map(|line| {
            let row: Value = serde_json::from_str(line).unwrap();
            let text = |field: &str| row[field].as_str().unwrap_or_default().to_owned();
            (row["line"].as_u64().unwrap_or(0), text("code"), text("message"))
        })
        .collect();
    rows.sort_unstable();
    rows
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn poison_becomes_findings_and_the_rest_is_judged() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    setup().packets(&context).await.unwrap();
    let worker = Worker::start(&server, options());
    let packets: Vec<&str> = example("valid/read-only.jsonl").lines().collect();
    let subject = names::packets_of("corr_support_invoice_4471");
    let publish = async |subject: &str, body: Vec<u8>| {
        context.publish(subject.to_owned(), body.into()).await.unwrap().await.unwrap().sequence
    };
    publish(&subject, packets[0].into()).await;
    let gzip = publish(&subject, b"\x1f\x8b\x08\x00".to_vec()).await;
    let array = publish(&subject, b"[1]".to_vec()).await;
    let blank = publish(&subject, b" \n".to_vec()).await;
    let long = publish(&subject, vec![b' '; 17 * 1024 * 1024]).await;
    let nobody = publish(names::LOST, br#"{"header": {}}"#.to_vec()).await;
    let elsewhere = publish(&names::packets_of("corr_other"), packets[1].into()).await;
    let misplaced = publish(names::LOST, packets[1].into()).await;
    for packet in &packets[1..] {
        publish(&subject, (*packet).into()).await;
    }
    judged(&context).await;
    worker.stop().await;
    let rows = rows(&found(&context).await);
    let of = |sequence: u64| rows.iter().filter(|row| row.0 == sequence).map(|row| row.1.as_str()).collect::<Vec<_>>();
    assert_eq!((of(gzip), of(array), of(long)), (vec!["JSON"], vec!["SCHEMA"], vec!["JSON"]), "{rows:#?}");
    assert!(of(blank).is_empty() && !of(nobody).is_empty(), "{rows:#?}");
    for (sequence, subject) in [(elsewhere, "omen.packets.corr_other"), (misplaced, "omen.lost")] {
        let expected = format!("`correlation_id` does not match the subject `{subject}`");
        assert!(rows.contains(&(sequence, "SCHEMA".to_owned(), expected)), "{rows:#?}");
    }
    // The packets themselves are those of a log without findings.
    let about: Vec<u64> = rows.iter().map(|row| row.0).collect();
    assert!(about.iter().all(|line| [gzip, array, long, nobody, elsewhere, misplaced].contains(line)), "{rows:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_packet_that_comes_twice_is_stored_once_or_reported() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    setup().packets(&context).await.unwrap();
    let worker = Worker::start(&server, options());
    let packet = example("valid/read-only.jsonl").lines().next().unwrap();
    let publish = async |id: Option<&str>| {
        let mut headers = HeaderMap::new();
        if let Some(id) = id {
            headers.insert("Nats-Msg-Id", id);
        }
        let subject = names::packets_of("corr_support_invoice_4471");
        context.publish_with_headers(subject, headers, packet.into()).await.unwrap().await.unwrap().sequence
    };
    assert_eq!((publish(Some("a")).await, publish(Some("a")).await), (1, 1), "the server drops it");
    assert_eq!(publish(None).await, 2);
    judged(&context).await;
    worker.stop().await;
    let rows = rows(&found(&context).await);
    assert_eq!(rows.iter().map(|row| (row.0, row.1.as_str())).collect::<Vec<_>>(), [(2, "ID")], "{rows:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_episodes_end_and_what_is_open_is_reported() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    setup().packets(&context).await.unwrap();
    let second = std::time::Duration::from_secs(1);
    let with_ttl = || omen_worker::worker::Options { episode_ttl: Some(2 * second), tick: second, ..options() };
    let log: Vec<&str> = example("valid/read-only.jsonl").lines().collect();
    let open = log.iter().position(|line| line.contains("TaskDirectivePacket")).unwrap();
    for packet in &log[..=open] {
        let subject = names::packets_of("corr_support_invoice_4471");
        context.publish(subject, (*packet).into()).await.unwrap().await.unwrap();
    }
    // A restart in between forgets nothing of when the episode had its last packet.
    let worker = Worker::start(&server, with_ttl());
    judged(&context).await;
    worker.stop().await;
    let worker = Worker::start(&server, with_ttl());
    let begin = std::time::Instant::now();
    while found(&context).await.is_empty() {
        assert!(begin.elapsed() < crate::stream::PATIENCE, "the episode does not end");
        tokio::time::sleep(second / 4).await;
    }
    worker.stop().await;
    let rows = rows(&found(&context).await);
    assert_eq!(rows.iter().map(|row| row.1.as_str()).collect::<Vec<_>>(), ["E6"], "{rows:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn episodes_of_several_partitions_end_at_one_mark_of_time() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    setup().packets(&context).await.unwrap();
    setup().findings(&context).await.unwrap();
    let log: Vec<&str> = example("valid/read-only.jsonl").lines().collect();
    let open = log.iter().position(|line| line.contains("TaskDirectivePacket")).unwrap();
    for number in 0..EPISODES {
        let id = format!("corr_idle_{number}");
        for packet in &log[..=open] {
            let packet = packet.replace("corr_support_invoice_4471", &id);
            context.publish(names::packets_of(&id), packet.into()).await.unwrap().await.unwrap();
        }
    }
    let second = std::time::Duration::from_secs(1);
    let (heard, said) = heard();
    let ends = omen_worker::worker::Options { episode_ttl: Some(2 * second), tick: second, ..heard };
    let worker = Worker::start(&server, ends);
    let begin = std::time::Instant::now();
    while found(&context).await.len() < EPISODES {
        let refused = said.lock().unwrap().iter().find(|what| what.contains("were refused")).cloned();
        assert_eq!(refused, None, "nobody else has the partition");
        assert!(begin.elapsed() < crate::stream::PATIENCE, "the episodes do not end");
        tokio::time::sleep(second / 4).await;
    }
    worker.stop().await;
    let rows = rows(&found(&context).await);
    assert!(rows.len() == EPISODES && rows.iter().all(|row| row.1 == "E6"), "{rows:#?}");
}

/// So many that several partitions have some.
const EPISODES: usize = 24;
