//! A log is published in order, and each line once.

use std::io::{self, Read};

use omen_worker::Failure;
use omen_worker::publish::{Options, Publisher};

use crate::same::many;
use crate::server::{Nats, setup};
use crate::stream::{end, publish};

/// A log that cannot be read any more after some bytes.
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
    let log = many(5, 30);
    let lines = log.lines().count() as u64;
    assert!(lines > 1000, "more than a batch: {lines}");
    // The note of how far it is was not written: what is in the stream is read.
    let torn = Torn(&log.as_bytes()[..log.len() * 3 / 4]);
    assert!(matches!(publisher.log("log", torn, &Options::default()).await, Err(Failure::Log(_))));
    let before = end(&context).await;
    assert!(before > 0 && before < lines);
    // Another publisher writes meanwhile.
    let other = many(900, 1).replace("\"corr_", "\"corr_other_");
    publisher.log("other", other.as_bytes(), &Options::default()).await.unwrap();
    let published = publisher.log("log", log.as_bytes(), &Options::default()).await.unwrap();
    assert_eq!((published.lines, published.before), (lines, before));
    assert_eq!(end(&context).await, lines + other.lines().count() as u64);
    // Once more does nothing, and what was appended follows.
    let published = publisher.log("log", log.as_bytes(), &Options::default()).await.unwrap();
    assert_eq!((published.lines, published.before), (lines, lines));
    let longer = format!("{log}{{}}\n");
    assert_eq!(publisher.log("log", longer.as_bytes(), &Options::default()).await.unwrap().lines, lines + 1);
    // The lines are in the stream in their order.
    let packets = context.get_stream("PACKETS").await.unwrap();
    let mut stored = Vec::new();
    for sequence in 1..=end(&context).await {
        let message = packets.get_raw_message(sequence).await.unwrap();
        stored.push(String::from_utf8(message.payload.to_vec()).unwrap());
    }
    let begin = usize::try_from(before).unwrap();
    let of_other: Vec<String> = stored.drain(begin..begin + other.lines().count()).collect();
    assert!(of_other.iter().eq(other.lines()) && stored.iter().eq(longer.lines()), "the lines are in their order");
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
    context.get_stream("PACKETS").await.unwrap().purge().await.unwrap();
    let longer = format!("{log}{{}}\n");
    let published = publisher.log("log", longer.as_bytes(), &Options::default()).await.unwrap();
    assert_eq!((published.lines, published.before), (lines + 1, lines));
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
    // All but the last tenth are waited for.
    assert!(begin.elapsed().as_millis() >= 800, "{:?}", begin.elapsed());
}

#[tokio::test]
async fn another_number_of_partitions_is_refused() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    setup().packets(&context).await.unwrap();
    let other = omen_worker::setup::Setup { partitions: 3, ..setup() };
    let refused = other.packets(&context).await;
    assert!(matches!(&refused, Err(Failure::Refused(why)) if why.contains("number of partitions")), "{refused:?}");
}
