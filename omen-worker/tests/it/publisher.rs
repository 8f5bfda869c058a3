//! Publication of logs: in order, and each line once.

use std::io::{self, ErrorKind, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::stream::{Config, DiscardPolicy};
use omen::validator::Message;
use omen_worker::publish::{Options, Publisher};
use omen_worker::{Failure, names};

use crate::same::many;
use crate::server::{Nats, PARTITIONS, setup};
use crate::stream::{PATIENCE, lines, publish, stream};

/// A log that cannot be read beyond some bytes.
struct Torn<'l>(&'l [u8]);

impl Read for Torn<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() { Err(io::Error::other("torn")) } else { self.0.read(buffer) }
    }
}

#[tokio::test]
async fn an_interrupted_log_goes_on_where_it_was() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    let publisher = Publisher::new(context.clone(), &setup()).await.unwrap();
    let log = many(5, 80);
    let lines = log.lines().count() as u64;
    assert!(lines > 2500, "more than a batch for each partition: {lines}");
    let torn = Torn(&log.as_bytes()[..log.len() * 3 / 4]);
    assert!(matches!(publisher.log("log", torn, &Options::default()).await, Err(Failure::Log(_))));
    let before = all(&context).await.iter().map(Vec::len).sum::<usize>() as u64;
    assert!(before > 0 && before < lines);
    // Another publisher writes concurrently.
    let other = many(900, 1).replace("\"corr_", "\"corr_other_");
    publisher.log("other", other.as_bytes(), &Options::default()).await.unwrap();
    let published = publisher.log("log", log.as_bytes(), &Options::default()).await.unwrap();
    // A line that names no episode is in all streams.
    assert!(published.lines == lines && published.before > 0 && published.before <= before, "{published:?}");
    // A second publication stores nothing, and appended lines follow.
    let published = publisher.log("log", log.as_bytes(), &Options::default()).await.unwrap();
    assert_eq!((published.lines, published.before), (lines, lines));
    let longer = format!("{log}{{}}\n");
    assert_eq!(publisher.log("log", longer.as_bytes(), &Options::default()).await.unwrap().lines, lines + 1);
    // Each line is in its stream once, in order.
    let stored = all(&context).await;
    for (partition, stored) in (0..).zip(&stored) {
        let ours = |line: &&str| is_of(line, partition);
        let (mut rest, mut others) = (longer.lines().filter(ours).peekable(), other.lines().filter(ours).peekable());
        for line in stored {
            // Lines of the other log may come in between.
            let is_other = others.peek() == Some(&line.as_str()) && rest.peek() != Some(&line.as_str());
            let next = if is_other { others.next() } else { rest.next() };
            assert_eq!(next, Some(line.as_str()), "partition {partition}");
        }
        assert_eq!((rest.next(), others.next()), (None, None), "partition {partition}");
    }
}

/// Returns whether a line of a log belongs in the stream of a partition.
fn is_of(line: &str, partition: u16) -> bool {
    let message = Message::new(line.as_bytes());
    message.correlation_id().is_none_or(|id| names::partition_of(id, PARTITIONS) == partition)
}

/// Returns the lines in the stream of each partition.
async fn all(context: &Context) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for partition in 0..PARTITIONS {
        let packets = context.get_stream(stream(partition)).await.unwrap();
        let mut stored = Vec::new();
        for sequence in lines(context, partition).await {
            let message = packets.get_raw_message(sequence).await.unwrap();
            stored.push(String::from_utf8(message.payload.to_vec()).unwrap());
        }
        all.push(stored);
    }
    all
}

#[tokio::test]
async fn a_log_goes_on_in_a_stream_whose_messages_were_deleted() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    let publisher = Publisher::new(context.clone(), &setup()).await.unwrap();
    let log = many(5, 2);
    let lines = log.lines().count() as u64;
    publisher.log("log", log.as_bytes(), &Options::default()).await.unwrap();
    publisher.log("other", many(900, 1).as_bytes(), &Options::default()).await.unwrap();
    for partition in 0..PARTITIONS {
        // Deletes all messages but the last one, which is a note of this log or the other.
        context.get_stream(stream(partition)).await.unwrap().purge().filter("omen.packets.>").await.unwrap();
    }
    let longer = format!("{log}{{}}\n");
    let published = publisher.log("log", longer.as_bytes(), &Options::default()).await.unwrap();
    assert_eq!((published.lines, published.before), (lines + 1, lines));
}

/// A log that is being written: its second part becomes available later.
struct Growing<'l> {
    parts: [&'l [u8]; 2],
    may_go_on: &'l AtomicBool,
}

impl Read for Growing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let [first, second] = &mut self.parts;
        if !first.is_empty() {
            return first.read(buffer);
        }
        if self.may_go_on.load(Ordering::Relaxed) { second.read(buffer) } else { Err(ErrorKind::WouldBlock.into()) }
    }
}

#[tokio::test]
async fn a_log_goes_on_after_its_notes_have_expired() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    let publisher = Publisher::new(context.clone(), &setup()).await.unwrap();
    let log = many(5, 20);
    let half = log.lines().take(log.lines().count() / 2).map(|line| line.len() + 1).sum::<usize>();
    let (first, second) = log.split_at(half);
    let may_go_on = AtomicBool::new(false);
    let growing = Growing { parts: [first.as_bytes(), second.as_bytes()], may_go_on: &may_go_on };
    let options = Options::default();
    let expiring = async {
        for partition in 0..PARTITIONS {
            let expected = first.lines().filter(|line| is_of(line, partition)).count();
            while lines(&context, partition).await.len() < expected {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            context.get_stream(stream(partition)).await.unwrap().purge().await.unwrap();
        }
        may_go_on.store(true, Ordering::Relaxed);
    };
    let (published, ()) = tokio::join!(publisher.log("log", growing, &options), expiring);
    assert_eq!(published.unwrap().lines, log.lines().count() as u64);
    for (partition, stored) in (0..).zip(all(&context).await) {
        assert!(stored.iter().eq(second.lines().filter(|line| is_of(line, partition))), "partition {partition}");
    }
}

#[tokio::test]
async fn a_stream_that_takes_nothing_is_a_failure() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    setup().packets(&context).await.unwrap();
    for partition in 0..PARTITIONS {
        let full = context.get_stream(stream(partition)).await.unwrap().cached_info().config.clone();
        let full = Config { max_bytes: 1, discard: DiscardPolicy::New, ..full };
        context.update_stream(full).await.unwrap();
    }
    let publisher = Publisher::new(context.clone(), &setup()).await.unwrap();
    let (log, options) = (many(5, 2), Options::default());
    let published = tokio::time::timeout(PATIENCE, publisher.log("log", log.as_bytes(), &options)).await;
    assert!(matches!(&published, Ok(Err(Failure::Server { .. }))), "{published:?}");
}

#[tokio::test]
async fn another_log_with_the_same_name_is_refused() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    publish(&context, "log", &many(5, 1)).await;
    let publisher = Publisher::new(context.clone(), &setup()).await.unwrap();
    for other in [many(6, 1), many(5, 1).lines().next().unwrap().to_owned()] {
        let refused = publisher.log("log", other.as_bytes(), &Options { ends: true, ..Options::default() }).await;
        assert!(matches!(&refused, Err(Failure::Refused(why)) if why.contains("log")), "{refused:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_published_by_two_processes_is_stored_once() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    let log = many(5, 80);
    let publish = async || {
        let publisher = Publisher::new(context.clone(), &setup()).await.unwrap();
        loop {
            match publisher.log("log", log.as_bytes(), &Options::default()).await {
                Ok(_) => return,
                Err(failure) => assert!(matches!(failure, Failure::Fenced(_)), "{failure}"),
            }
        }
    };
    tokio::join!(publish(), publish());
    for (partition, stored) in (0..).zip(all(&context).await) {
        let expected: Vec<&str> = log.lines().filter(|line| is_of(line, partition)).collect();
        assert!(stored.iter().eq(expected), "partition {partition}");
    }
}

#[tokio::test]
async fn the_rate_is_kept() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    let publisher = Publisher::new(context.clone(), &setup()).await.unwrap();
    let log = many(5, 2);
    let lines = log.lines().count() as u32;
    let begin = std::time::Instant::now();
    let options = Options { rate: Some(lines), ..Options::default() };
    publisher.log("log", log.as_bytes(), &options).await.unwrap();
    // The rate limit delays all but the last tenth of the lines.
    assert!(begin.elapsed().as_millis() >= 800, "{:?}", begin.elapsed());
}

#[tokio::test]
async fn another_number_of_partitions_is_refused() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    setup().packets(&context).await.unwrap();
    let other = omen_worker::setup::Setup { partitions: Some(3), ..setup() };
    let refused = other.packets(&context).await;
    assert!(matches!(&refused, Err(Failure::Refused(why)) if why.contains("number of partitions")), "{refused:?}");
}
