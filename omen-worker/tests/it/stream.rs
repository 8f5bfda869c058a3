//! What is in the streams.

use std::time::{Duration, Instant};

use async_nats::jetstream::Context;
use omen_worker::publish::{Options, Published, Publisher};
use omen_worker::tail::{From, Streams, run};

use crate::server::{PARTITIONS, setup};

/// Publishes a log, and ends its episodes.
pub(crate) async fn publish(context: &Context, name: &str, log: &str) -> Published {
    let publisher = Publisher::new(context.clone(), &setup()).await.unwrap();
    publisher.log(name, log.as_bytes(), &Options { ends: true, ..Options::default() }).await.unwrap()
}

/// All findings, sorted.
pub(crate) async fn found(context: &Context) -> Vec<String> {
    let streams = Streams::open(context, &setup().names).await.unwrap();
    let mut lines = Vec::new();
    let each = |line: &[u8], _: Option<&[u8]>| {
        lines.push(String::from_utf8(line.to_vec()).unwrap());
        Ok::<(), std::convert::Infallible>(())
    };
    let Ok(()) = run(&streams, From::Beginning, (false, false), std::future::pending(), each).await.unwrap();
    lines.sort_unstable();
    lines
}

/// The number of the last message of the stream of packets.
pub(crate) async fn end(context: &Context) -> u64 {
    setup().packets(context).await.unwrap().get_info().await.unwrap().state.last_sequence
}

/// Waits until every partition that has a message is judged up to its last one.
pub(crate) async fn judged(context: &Context) {
    let begin = Instant::now();
    let mut missing = Vec::new();
    while begin.elapsed() < PATIENCE {
        missing.clear();
        // A server that was just killed may not answer.
        if let Ok(is_done) = is_judged(context, &mut missing).await
            && is_done
        {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("partitions are not judged: {missing:?}");
}

async fn is_judged(context: &Context, missing: &mut Vec<String>) -> Result<bool, Box<dyn std::error::Error>> {
    let packets = context.get_stream("PACKETS").await?;
    let findings = context.get_stream("PACKETS_FINDINGS").await?;
    for partition in 0..PARTITIONS {
        let mut last = 0;
        for subject in [format!("omen.partition.{partition}.*"), "omen.lost".to_owned()] {
            if let Ok(message) = packets.get_last_raw_message_by_subject(&subject).await {
                last = last.max(message.sequence);
            }
        }
        let commit = findings.get_last_raw_message_by_subject(&format!("omen.verdicts.{partition}")).await;
        let commit: Option<serde_json::Value> = commit.ok().and_then(|it| serde_json::from_slice(&it.payload).ok());
        let sequence = commit.as_ref().and_then(|commit| commit["sequence"].as_u64()).unwrap_or(0);
        let is_whole = commit.is_none_or(|commit| commit["findings_of_last"].is_null());
        if sequence < last || sequence == last && !is_whole {
            missing.push(format!("{partition}: {sequence} of {last}"));
        }
    }
    Ok(missing.is_empty())
}

/// Far more time than anything needs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);
