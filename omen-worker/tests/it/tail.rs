//! A reader that follows the findings gets each once, even if the connection or the server is interrupted.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use omen_worker::Failure;
use omen_worker::connect::Server;
use omen_worker::tail::{Findings, Options, run};
use tokio::time::sleep;

use crate::cable::Cable;
use crate::process::Worker;
use crate::same::many;
use crate::server::{Nats, setup};
use crate::stream::{PATIENCE, found, judged, publish, tailed};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_findings_are_followed_past_cuts_and_kills() {
    let Some(mut server) = Nats::start() else { return };
    let context = server.context().await;
    let cable = Cable::to(server.port).await;
    let _worker = Worker::start(&server);
    publish(&context, "first", &many(91, 4)).await;
    judged(&context).await;

    let address = Server { url: format!("nats://{}", cable.address), ..Server::default() };
    let seen = Arc::new(Mutex::new(Vec::new()));
    let lines = Arc::clone(&seen);
    let following = tokio::spawn(async move {
        let context = address.jetstream(address.connect("tail").await.unwrap());
        let findings = Findings::open(&address, &context, &setup().names).await.unwrap();
        let each = |line: &[u8], _: Option<&[u8]>| {
            lines.lock().unwrap().push(String::from_utf8(line.to_vec()).unwrap());
            Ok::<(), Infallible>(())
        };
        let options = Options { follows: true, with_packets: true, ..Options::default() };
        run(&findings, &options, std::future::pending(), each).await.map(drop)
    });
    for part in 0..4 {
        match part {
            0 => drop(cable.cut()),
            1 => server.kill_and_start(),
            2 => cable.silence(),
            _ => {
                server.kill();
                sleep(Duration::from_secs(3)).await;
                server.start_again();
            }
        }
        let context = server.context().await;
        publish(&context, &format!("part {part}"), &many(92 + part, 4)).await;
        judged(&context).await;
    }
    let expected = found(&server.context().await).await;
    assert!(expected.len() > 100, "{}", expected.len());
    let begin = Instant::now();
    while seen.lock().unwrap().len() < expected.len() && !following.is_finished() {
        assert!(begin.elapsed() < PATIENCE, "{} of {}", seen.lock().unwrap().len(), expected.len());
        sleep(Duration::from_millis(50)).await;
    }
    assert!(!following.is_finished(), "{:?}", following.await);
    let mut seen = seen.lock().unwrap().clone();
    seen.sort_unstable();
    crate::same::same(&seen, &expected);
    crate::say(&format!(
        "all {} findings were followed, the last one {:.1} s after it was published",
        seen.len(),
        begin.elapsed().as_secs_f64()
    ));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_consumer_reads_on_where_it_was() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    let worker = Worker::start(&server);
    let (mut printed, mut log) = (Vec::new(), String::new());
    let pager = Options { consumer: Some("pager".to_owned()), ..Options::default() };
    for part in 0..3 {
        let logs = many(190 + part, 4).replace("\"corr_", &format!("\"corr_p{part}_"));
        log.push_str(&logs);
        crate::damage::published(&context, &log).await;
        judged(&context).await;
        let part = tailed(&context, &pager).await;
        assert!(!part.is_empty());
        printed.extend(part);
    }
    assert_eq!(tailed(&context, &pager).await, Vec::<String>::new());
    printed.sort_unstable();
    crate::same::same(&printed, &found(&context).await);
    worker.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn findings_that_were_restored_are_not_followed() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    setup().findings(&context).await.unwrap();
    setup().packets(&context).await.unwrap();
    let worker = Worker::start(&server);
    publish(&context, "log", &many(195, 4)).await;
    judged(&context).await;
    worker.stop();
    let pager = Options { consumer: Some("pager".to_owned()), ..Options::default() };
    assert!(!tailed(&context, &pager).await.is_empty());
    // An older copy has fewer messages, or different ones.
    let refused = async || {
        let findings = Findings::open(&server.address(), &context, &setup().names).await.unwrap();
        let each = |_: &[u8], _: Option<&[u8]>| Ok::<(), Infallible>(());
        match run(&findings, &pager, std::future::pending(), each).await {
            Err(Failure::Refused(why)) => assert!(why.contains("restored from an older copy"), "{why}"),
            other => panic!("{other:?}"),
        }
    };
    context.delete_stream("PACKETS_FINDINGS").await.unwrap();
    setup().findings(&context).await.unwrap();
    refused().await;
    for _ in 0..1_000 {
        context.publish("omen.findings.0.error", "{}".into()).await.unwrap().await.unwrap();
    }
    refused().await;
}
