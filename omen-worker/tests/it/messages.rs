//! Single messages: those that are not packets, and those that end an episode.

use std::time::{Duration, Instant};

use async_nats::HeaderMap;
use omen::ValidatorOptions;
use omen::validator::Message;
use omen_testkit::logs::Logs;
use omen_worker::Failure;
use omen_worker::connect::Server;
use omen_worker::names;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tracing::Instrument as _;

use crate::logs::{Random, checked_with};
use crate::process::options;
use crate::server::{Nats, PARTITIONS, setup};
use crate::stream::{PATIENCE, found, judged, packets_of};

/// A worker in this process.
pub(crate) struct Worker {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), Failure>>,
    logs: Logs,
}

impl Worker {
    pub(crate) fn start(server: &Nats, options: omen_worker::worker::Options) -> Self {
        Self::connect(server.address(), options)
    }

    pub(crate) fn connect(server: Server, options: omen_worker::worker::Options) -> Self {
        Self::logging(Logs::capture(), server, options)
    }

    /// Starts a worker, and captures its log output.
    pub(crate) fn logging(logs: Logs, server: Server, options: omen_worker::worker::Options) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let working = async move {
            let stop = async { drop(stopped.await) };
            omen_worker::worker::run(&server, options, stop).await
        };
        let task = tokio::spawn(working.instrument(logs.span()));
        Self { stop, task, logs }
    }

    /// Returns the first logged line that has all of these parts.
    pub(crate) fn said(&self, parts: &[&str]) -> Option<String> {
        self.logs.find(parts)
    }

    /// Waits for a logged line that has all of these parts.
    pub(crate) async fn says(&self, parts: &[&str]) -> String {
        let begin = Instant::now();
        loop {
            if let Some(found) = self.said(parts) {
                return found;
            }
            assert!(begin.elapsed() < PATIENCE, "{parts:?} not in {:?}", self.logs.lines());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub(crate) async fn stop(self) {
        self.stop.send(()).unwrap();
        let ended = self.task.await.unwrap();
        assert!(ended.is_ok(), "{ended:?}: {:?}", self.logs.lines());
    }

    /// Stops the worker where it may be unable to commit its findings.
    pub(crate) async fn stop_anyhow(self) {
        self.stop.send(()).unwrap();
        let _ = self.task.await.unwrap();
    }

    /// Waits until the worker stops by itself, and returns the reason.
    pub(crate) async fn ended(self) -> String {
        let ended = tokio::time::timeout(PATIENCE, self.task).await;
        ended.expect("the worker ends").unwrap().unwrap_err().to_string()
    }
}

fn example(path: &str) -> &'static str {
    omen_schema::example(path).unwrap()
}

/// Returns line, code and message of each finding.
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
    let subject = packets_of("corr_support_invoice_4471");
    let publish = async |subject: &str, body: Vec<u8>| {
        context.publish(subject.to_owned(), body.into()).await.unwrap().await.unwrap().sequence
    };
    publish(&subject, packets[0].into()).await;
    let gzip = publish(&subject, b"\x1f\x8b\x08\x00".to_vec()).await;
    let array = publish(&subject, b"[1]".to_vec()).await;
    let blank = publish(&subject, b" \n".to_vec()).await;
    let long = publish(&subject, vec![b' '; 17 * 1024 * 1024]).await;
    // All lines must be in the partition of the episode, so that the message numbers are those of one stream.
    let partition = names::partition_of("corr_support_invoice_4471", PARTITIONS);
    let nobody = publish(&subject, br#"{"header": {}}"#.to_vec()).await;
    let other = format!("omen.packets.{partition}.corr_other");
    let elsewhere = publish(&other, packets[1].into()).await;
    // An episode of another partition.
    let torn_id = (0..).map(|number| format!("corr_torn_{number}"));
    let torn_id = torn_id.into_iter().find(|id| names::partition_of(id, PARTITIONS) != partition).unwrap();
    let torn_subject = format!("omen.packets.{partition}.{torn_id}");
    let torn = publish(&torn_subject, packets[0].replace("corr_support_invoice_4471", &torn_id).into()).await;
    let lost = format!("omen.marks.{partition}.lost");
    let misplaced = publish(&lost, packets[1].into()).await;
    for packet in &packets[1..] {
        publish(&subject, (*packet).into()).await;
    }
    judged(&context).await;
    worker.stop().await;
    let rows = rows(&found(&context).await);
    let of = |sequence: u64| rows.iter().filter(|row| row.0 == sequence).map(|row| row.1.as_str()).collect::<Vec<_>>();
    assert_eq!((of(gzip), of(array), of(long)), (vec!["JSON"], vec!["SCHEMA"], vec!["JSON"]), "{rows:#?}");
    assert!(of(blank).is_empty() && !of(nobody).is_empty(), "{rows:#?}");
    for (sequence, subject) in [(elsewhere, &other), (misplaced, &lost), (torn, &torn_subject)] {
        let expected = format!("`correlation_id` does not match the subject `{subject}`");
        assert!(rows.contains(&(sequence, "SCHEMA".to_owned(), expected)), "{rows:#?}");
    }
    // The packets themselves are those of a log without findings.
    let about: Vec<u64> = rows.iter().map(|row| row.0).collect();
    assert!(
        about.iter().all(|line| [gzip, array, long, nobody, elsewhere, misplaced, torn].contains(line)),
        "{rows:#?}"
    );
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
        let subject = packets_of("corr_support_invoice_4471");
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
        let subject = packets_of("corr_support_invoice_4471");
        context.publish(subject, (*packet).into()).await.unwrap().await.unwrap();
    }
    // After a restart, the worker still knows when the episode had its last packet.
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
            context.publish(packets_of(&id), packet.into()).await.unwrap().await.unwrap();
        }
    }
    let second = std::time::Duration::from_secs(1);
    let ends = omen_worker::worker::Options { episode_ttl: Some(2 * second), tick: second, ..options() };
    let worker = Worker::start(&server, ends);
    let begin = std::time::Instant::now();
    while found(&context).await.len() < EPISODES {
        assert_eq!(worker.said(&["were refused"]), None, "nobody else has the partition");
        assert!(begin.elapsed() < crate::stream::PATIENCE, "the episodes do not end");
        tokio::time::sleep(second / 4).await;
    }
    worker.stop().await;
    let rows = rows(&found(&context).await);
    assert!(rows.len() == EPISODES && rows.iter().all(|row| row.1 == "E6"), "{rows:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broken_message_affects_only_its_own_episode() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    setup().packets(&context).await.unwrap();
    // Two episodes of one partition.
    let partition = names::partition_of("corr_broken", PARTITIONS);
    let is_beside = |id: &String| names::partition_of(id, PARTITIONS) == partition;
    let whole = (0..).map(|number| format!("corr_whole_{number}")).find(is_beside).unwrap();
    let log: Vec<&str> = example("valid/read-only.jsonl").lines().collect();
    let publish = async |id: &str, body: String| {
        let body = body.replace("corr_support_invoice_4471", id);
        context.publish(packets_of(id), body.into()).await.unwrap().await.unwrap().sequence
    };
    // The second packet of one episode is truncated, and that of the other one is missing.
    publish("corr_broken", log[0].to_owned()).await;
    publish(&whole, log[0].to_owned()).await;
    let cut = publish("corr_broken", log[1][..20].to_owned()).await;
    let follows = publish("corr_broken", log[2].to_owned()).await;
    let alone = publish(&whole, log[2].to_owned()).await;
    let worker = Worker::start(&server, options());
    judged(&context).await;
    worker.stop().await;
    let causes: Vec<(u64, Option<u64>, String)> = found(&context)
        .await
        .iter()
        .map(|line| {
            let row: Value = serde_json::from_str(line).unwrap();
            let id = row["correlation_id"].as_str().unwrap_or_default().to_owned();
            (row["line"].as_u64().unwrap(), row["follows_from"]["line"].as_u64(), id)
        })
        .collect();
    assert!(causes.contains(&(cut, None, "corr_broken".to_owned())), "{causes:?}");
    assert!(causes.contains(&(follows, Some(cut), "corr_broken".to_owned())), "{causes:?}");
    assert!(causes.contains(&(alone, None, whole)), "another episode lost nothing: {causes:?}");
}

/// Episode, line, message and cause (the line from which it follows) of a finding.
type Row = (String, Option<u64>, String, String, Option<u64>);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damaged_packets_of_another_program_have_the_causes_that_omen_check_finds() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    setup().packets(&context).await.unwrap();
    let mut random = Random::new(8);
    let mut expected: Vec<Row> = Vec::new();
    // Each log is a single episode, which `omen check` sees alone. A line that is truncated before its correlation id has no
    // known episode in a log, but has one on the subject of a message. So causes are compared only where there is no such line.
    let logs: Vec<(String, Vec<String>)> = (0..FOREIGN).map(|number| foreign(&mut random, number)).collect();
    let mut sequences: Vec<Vec<u64>> = vec![Vec::new(); logs.len()];
    // The packets of all episodes are interleaved.
    for turn in 0..logs.iter().map(|(_, lines)| lines.len()).max().unwrap() {
        let mut sent = Vec::new();
        for (number, (id, lines)) in logs.iter().enumerate().filter(|(_, (_, lines))| turn < lines.len()) {
            sent.push((number, context.publish(packets_of(id), lines[turn].clone().into()).await.unwrap()));
        }
        for (number, answer) in sent {
            sequences[number].push(answer.await.unwrap().sequence);
        }
    }
    for ((id, lines), sequences) in logs.iter().zip(&sequences) {
        let mut headers = HeaderMap::new();
        headers.insert(names::END_HEADER, "true");
        context.publish_with_headers(packets_of(id), headers, "".into()).await.unwrap().await.unwrap();
        let place = |line: u64| sequences[usize::try_from(line).unwrap() - 1];
        for finding in checked_with(&(lines.join("\n") + "\n"), ValidatorOptions::default()) {
            let cause = finding.follows_from.as_ref().map(|cause| place(cause.line));
            let code = finding.diagnostic.code.to_string();
            expected.push((id.clone(), finding.line.map(place), code, finding.diagnostic.message.clone(), cause));
        }
    }
    let worker = Worker::start(&server, options());
    judged(&context).await;
    worker.stop().await;
    let found = found(&context).await.into_iter().map(|line| {
        let row: Value = serde_json::from_str(&line).unwrap();
        let text = |field: &str| row[field].as_str().unwrap_or_default().to_owned();
        let cause = row["follows_from"]["line"].as_u64();
        (text("correlation_id"), row["line"].as_u64(), text("code"), text("message"), cause)
    });
    let mut found: Vec<Row> = found.collect();
    let unknown = logs.iter().filter(|(id, lines)| lines.iter().any(|line| id_of(line).as_ref() != Some(id)));
    let unknown: Vec<&String> = unknown.map(|(id, _)| id).collect();
    for row in found.iter_mut().chain(&mut expected).filter(|row| unknown.contains(&&row.0)) {
        row.4 = None;
    }
    found.sort_unstable();
    expected.sort_unstable();
    let caused = expected.iter().filter(|row| row.4.is_some()).count();
    assert!(expected.len() > FOREIGN && caused > FOREIGN / 4, "{} findings, {caused} with a cause", expected.len());
    assert!(unknown.len() > FOREIGN / 20, "{unknown:?}");
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
}

fn id_of(line: &str) -> Option<String> {
    Message::new(line.as_bytes()).correlation_id().map(str::to_owned)
}

/// Returns the id and the lines of a random episode. Some lines are truncated or lack their payload.
fn foreign(random: &mut Random, number: usize) -> (String, Vec<String>) {
    let examples = omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl"));
    let examples: Vec<&str> = examples.map(|(_, text)| *text).collect();
    loop {
        let lines: Vec<&str> = examples[random.below(examples.len())].lines().collect();
        let Some(own) = id_of(lines[0]).filter(|own| lines.iter().all(|line| id_of(line).as_ref() == Some(own))) else {
            continue;
        };
        let (own, id) = (format!("\"correlation_id\":\"{own}\""), format!("corr_foreign_{number}"));
        let renamed = lines.iter().map(|line| line.replace(&own, &format!("\"correlation_id\":\"{id}\"")));
        let damage = |(at, line): (usize, String)| match random.below(6) {
            // The first line determines the format of a log.
            0 if at > 0 => line.chars().take(1 + random.below(line.chars().count())).collect(),
            1 if at > 0 => line.replacen("\"payload\"", "\"pay\"", 1),
            _ => line,
        };
        let lines = renamed.enumerate().map(damage).collect();
        return (id, lines);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_episode_ends_with_a_packet_or_without_one() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    setup().packets(&context).await.unwrap();
    let log: Vec<&str> = example("valid/read-only.jsonl").lines().collect();
    let open = log.iter().position(|line| line.contains("TaskDirectivePacket")).unwrap();
    let long = format!("corr_{}", "x".repeat(300));
    let publish = async |id: &str, body: String, is_last: bool| {
        let mut headers = HeaderMap::new();
        if is_last {
            headers.insert(names::END_HEADER, "true");
        }
        let body = body.replace("corr_support_invoice_4471", id);
        context.publish_with_headers(packets_of(id), headers, body.into()).await.unwrap().await.unwrap();
    };
    for (number, packet) in log[..=open].iter().enumerate() {
        publish("corr_short", (*packet).to_owned(), number == open).await;
        publish(&long, (*packet).to_owned(), false).await;
    }
    publish(&long, String::new(), true).await;
    let worker = Worker::start(&server, options());
    judged(&context).await;
    worker.stop().await;
    let rows = rows(&found(&context).await);
    assert_eq!(rows.iter().map(|row| row.1.as_str()).collect::<Vec<_>>(), ["E6", "E6"], "{rows:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_computes_the_same_partition() {
    let mapping = format!(
        "mappings = {{ \"omen.packets.*\": \"omen.packets.{{{{partition({PARTITIONS},1)}}}}.{{{{wildcard(1)}}}}\" }}"
    );
    let Some(server) = Nats::start_with(|_| mapping) else { return };
    let context = server.context().await;
    setup().packets(&context).await.unwrap();
    for number in 0..1_000 {
        let id = format!("corr_{number}_{}", ["é", "日本", "x", ""][number % 4]);
        let answer = context.publish(format!("omen.packets.{id}"), "{}".into()).await.unwrap().await.unwrap();
        let stream = context.get_stream(&answer.stream).await.unwrap();
        let message = stream.get_raw_message(answer.sequence).await.unwrap();
        assert_eq!(message.subject.as_str(), packets_of(&id), "{id}");
    }
}

/// Number of episodes, large enough that several partitions have some.
const EPISODES: usize = 24;

/// Number of episodes from another program.
const FOREIGN: usize = 400;
