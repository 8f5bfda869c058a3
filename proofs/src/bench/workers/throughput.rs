//! Speed of storing and judging packets, compared with `omen check` on the same packets.

use std::fs;

use serde::{Deserialize, Serialize};

use super::super::corpus::Corpus;
use super::super::samples::Samples;
use super::counts::Counts;
use super::place::{Place, Worker};
use super::progress::judged;
use crate::Failure;

/// Speed of storing and judging packets: medians over the rounds, in packets per second.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Throughput {
    /// Number of packets in the log.
    pub packets: u64,
    /// Size of the log in bytes.
    pub bytes: u64,
    /// Number of partitions, each with a stream.
    pub partitions: u16,
    /// Number of rounds.
    pub rounds: u32,
    /// Seed of the log.
    pub seed: u64,
    /// `omen check` with one thread.
    pub check_s: f64,
    /// `omen check` with all threads.
    pub check_all_s: f64,
    /// `omen publish`.
    pub publish_s: f64,
    /// Processor time of `omen check` with one thread per packet, in microseconds.
    pub check_us: f64,
    /// Processor time of the publisher per published packet, in microseconds.
    pub publisher_us: f64,
    /// Processor time of the server per stored packet, in microseconds.
    pub stored_us: f64,
    /// Speed of one or more workers, on stored packets.
    pub workers: Vec<Workers>,
    /// One worker divided by `omen check` with one thread, round by round.
    pub worker_over_check: f64,
}

/// Speed of a number of workers.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct Workers {
    /// Number of workers. If there are fewer partitions, some are idle.
    pub workers: u32,
    /// Packets per second by all of them.
    pub packets_s: f64,
    /// Processor time of the workers per packet, in microseconds.
    pub worker_us: f64,
    /// Processor time of the server per packet, in microseconds.
    pub server_us: f64,
    /// Bytes that the server sends to all of them per byte of a packet.
    pub sent_bytes: f64,
}

/// Measured quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Measure {
    Check,
    CheckAll,
    CheckTime,
    Publish,
    PublisherTime,
    StoredTime,
    /// With this many workers.
    Workers(u32),
    WorkerTime(u32),
    ServerTime(u32),
    SentBytes(u32),
}

pub(super) async fn measure(place: &Place, corpus: &Corpus, counts: &Counts) -> Result<Throughput, Failure> {
    let log = place.folder.path().join("log.jsonl");
    fs::write(&log, &corpus.bytes)?;
    let log = log.to_str().ok_or("the folder for temporary files has no name in UTF-8")?;
    let (packets, bytes) = (corpus.packets, corpus.bytes.len() as u64);
    let mut samples = Samples::default();
    let partitions = counts.partitions.to_string();
    for round in 0..counts.rounds {
        for (measure, jobs) in [(Measure::Check, &["--jobs", "1"][..]), (Measure::CheckAll, &[])] {
            let (took, time) = place.omen(&[&["check", log, "--format", "json"], jobs].concat(), false)?;
            samples.add(measure, packets as f64 / took.as_secs_f64());
            if measure == Measure::Check {
                samples.add(Measure::CheckTime, each(time, packets));
            }
        }
        place.forget().await?;
        let before = place.server_seconds();
        let (took, time) = place.omen(&["publish", log, "--partitions", &partitions], true)?;
        samples.add(Measure::Publish, packets as f64 / took.as_secs_f64());
        samples.add(Measure::PublisherTime, each(time, packets));
        samples.add(Measure::StoredTime, each(place.server_seconds() - before, packets));
        // Including the publisher's notes.
        let (messages, _) = place.stored().await?;
        for count in COUNTS {
            place.forget_verdicts().await?;
            let names: Vec<_> = (0..count).map(|number| format!("{round}-{count}-{number}")).collect();
            let before = (place.server_seconds(), place.sent_bytes().await?);
            let workers = place.workers(&names).await?;
            let rate = judged(&workers, messages).await?.ok_or("the log is too short; use more `--episodes`")?;
            samples.add(Measure::Workers(count), rate * packets as f64 / messages as f64);
            samples.add(Measure::WorkerTime(count), each(workers.iter().map(Worker::seconds).sum(), packets));
            samples.add(Measure::ServerTime(count), each(place.server_seconds() - before.0, packets));
            samples.add(Measure::SentBytes(count), (place.sent_bytes().await? - before.1) / bytes as f64);
            workers.into_iter().try_for_each(Worker::stop)?;
        }
    }
    let median = |measure| samples.median(measure);
    let workers = |workers| Workers {
        workers,
        packets_s: median(Measure::Workers(workers)),
        worker_us: median(Measure::WorkerTime(workers)),
        server_us: median(Measure::ServerTime(workers)),
        sent_bytes: median(Measure::SentBytes(workers)),
    };
    Ok(Throughput {
        packets,
        bytes,
        partitions: counts.partitions,
        rounds: counts.rounds,
        seed: counts.seed,
        check_s: median(Measure::Check),
        check_all_s: median(Measure::CheckAll),
        publish_s: median(Measure::Publish),
        check_us: median(Measure::CheckTime),
        publisher_us: median(Measure::PublisherTime),
        stored_us: median(Measure::StoredTime),
        workers: COUNTS.map(workers).to_vec(),
        worker_over_check: samples.ratio(Measure::Workers(1), Measure::Check),
    })
}

/// Returns the microseconds per packet.
pub(super) fn each(seconds: f64, packets: u64) -> f64 {
    seconds * 1e6 / packets as f64
}

/// Numbers of workers that are compared.
const COUNTS: [u32; 4] = [1, 2, 4, 8];
