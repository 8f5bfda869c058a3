//! Publishers whose account cannot be changed: the streams of packets are sourced from one stream that takes all messages.

use async_nats::jetstream::stream::{Config, Source, SubjectTransform};
use omen_worker::names;

use crate::logs::random;
use crate::messages::Worker;
use crate::process::options;
use crate::same::same;
use crate::server::{Nats, PARTITIONS, setup};
use crate::stream::{PATIENCE, end, expected, found, judged, stream};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn packets_come_through_a_stream_of_intake() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    let mapped = |partition: &str| format!("omen.intake.{partition}");
    let intake = Config {
        name: "INTAKE".to_owned(),
        subjects: vec!["omen.packets.*".to_owned()],
        subject_transform: Some(SubjectTransform {
            source: "omen.packets.*".to_owned(),
            destination: mapped(&format!("{{{{partition({PARTITIONS},1)}}}}.{{{{wildcard(1)}}}}")),
        }),
        ..Config::default()
    };
    context.create_stream(intake).await.unwrap();
    setup().packets(&context).await.unwrap();
    for partition in 0..PARTITIONS {
        let config = context.get_stream(stream(partition)).await.unwrap().cached_info().config.clone();
        let source = Source {
            name: "INTAKE".to_owned(),
            subject_transforms: vec![SubjectTransform {
                source: mapped(&format!("{partition}.*")),
                destination: format!("omen.packets.{partition}.{{{{wildcard(1)}}}}"),
            }],
            ..Source::default()
        };
        context.update_stream(Config { sources: Some(vec![source]), ..config }).await.unwrap();
    }
    let worker = Worker::start(&server, options());
    // A line without an episode has no subject here.
    let names_one = |line: &&str| omen::validator::Message::new(line.as_bytes()).correlation_id().is_some();
    let log: String = (0..6).map(|seed| random(300 + seed, &format!("{seed}_"))).collect();
    let log: String = log.lines().filter(names_one).map(|line| format!("{line}\n")).collect();
    for line in log.lines() {
        let message = omen::validator::Message::new(line.as_bytes());
        let id = message.correlation_id().unwrap();
        let subject = format!("{}.{}", names::PACKETS, names::token(id));
        context.publish(subject, line.to_owned().into()).await.unwrap().await.unwrap();
        let begin = std::time::Instant::now();
        while line == log.lines().last().unwrap() && end(&context).await < log.lines().count() as u64 {
            assert!(begin.elapsed() < PATIENCE, "the streams do not have everything");
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    }
    judged(&context).await;
    let open = |finding: &String| !finding.contains("\"line\":null");
    let expected: Vec<String> = expected(&context, &log).await.into_iter().filter(open).collect();
    worker.stop().await;
    same(&found(&context).await, &expected);
}
