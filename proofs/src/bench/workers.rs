//! `omen worker` against `omen check` on the same packets, on one machine with a real server.
//!
//! Everything that runs is a process of its own: the server, the workers and the publisher. This one reads what they store, and
//! publishes packets itself where their times matter. The server, the workers and this process share the processors.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

mod commits;
mod cost;
mod load;
mod place;
mod recovery;
mod report;
pub mod simulation;

use super::Failure;
use super::corpus::{Corpus, Form, Kind, Plan};
use super::samples::Samples;
use commits::Commits;
pub use cost::costs;
pub use place::Programs;
use place::{Place, Worker};
pub use recovery::Recovery;
pub use simulation::Simulation;

/// What to measure of workers.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// Kill so many workers, to measure how long the others take to judge their partitions again
    #[arg(long, default_value_t = 8, requires = "workers", value_parser = clap::value_parser!(u32).range(1..))]
    kills: u32,
    /// Episodes that are open at once, to measure the memory of a worker
    #[arg(long, default_value_t = 100_000, requires = "workers", value_parser = clap::value_parser!(u64).range(1..))]
    open_episodes: u64,
    /// Into how many partitions the packets are mapped
    #[arg(long, default_value_t = 64, requires = "workers", value_parser = clap::value_parser!(u16).range(1..=1024))]
    partitions: u16,
    /// Take what was measured from this file, which `--json` has printed, and measure nothing
    #[arg(long, value_name = "FILE", requires = "workers")]
    figures: Option<PathBuf>,
    /// Simulate up to so many workers with what was measured
    #[arg(long, value_name = "COUNT", requires = "workers", value_parser = clap::value_parser!(u32).range(1..=4096))]
    simulate: Option<u32>,
}

/// The amount of work.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Seed of the packets.
    pub seed: u64,
    /// Rounds of the measures of throughput; the report shows medians.
    pub rounds: u32,
    /// Episodes of the log.
    pub episodes: u64,
    /// Partitions of the stream.
    pub partitions: u16,
    /// How long packets come at each rate.
    pub seconds: f64,
    /// How many workers are killed.
    pub kills: u32,
    /// Episodes that are open at once.
    pub open_episodes: u64,
}

/// What was measured. A megabyte is 10^6 bytes.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Report {
    /// How fast packets are stored and judged.
    pub throughput: Throughput,
    /// How long that takes at several rates.
    pub lag: Vec<Lag>,
    /// After a worker was killed.
    pub recovery: Recovery,
    /// With many open episodes.
    pub memory: Memory,
    /// With more workers than this machine has processors for, if that was asked for.
    pub simulation: Option<Simulation>,
}

/// How fast packets are stored and judged: medians over the rounds.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Throughput {
    /// Packets of the log.
    pub packets: u64,
    /// Bytes of the log.
    pub bytes: u64,
    /// Partitions of the stream.
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
    /// One worker, of packets that are in the stream.
    pub worker_s: f64,
    /// Two workers.
    pub two_workers_s: f64,
    /// One worker divided by `omen check` with one thread, round by round.
    pub worker_over_check: f64,
    /// Two workers divided by one.
    pub two_over_one: f64,
    /// Microseconds of a processor for each packet that is judged: of the worker …
    pub worker_us: f64,
    /// … and of the server that sends it.
    pub sent_us: f64,
    /// The same where two workers read the stream: of both workers …
    pub two_workers_us: f64,
    /// … and of the server.
    pub two_sent_us: f64,
    /// Microseconds of a processor for each packet that is published: of the publisher …
    pub publisher_us: f64,
    /// … and of the server that stores it.
    pub stored_us: f64,
    /// Microseconds of a processor for each packet in `omen check` with one thread.
    pub check_us: f64,
}

/// Packets that come one by one while a worker judges them.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Lag {
    /// A part of the highest rate at which the worker keeps up.
    pub load: f64,
    /// Packets a second.
    pub packets_s: f64,
    /// From the moment when a packet is due at its publisher until its commit is read.
    pub verdict_ms: Quantiles,
    /// Commits and findings a second.
    pub commits_s: f64,
    /// Messages of checkpoints a second.
    pub checkpoints_s: f64,
    /// Bytes of checkpoints for each byte of packets.
    pub checkpoint_bytes: f64,
}

/// A worker with many open episodes.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Memory {
    /// How many are open.
    pub episodes: u64,
    /// Their packets.
    pub packets: u64,
    /// Bytes of their packets.
    pub packet_bytes: u64,
    /// Bytes of the stream for each byte of a packet.
    pub stored_bytes: f64,
    /// Resident memory of the worker in bytes; none if the system does not report it.
    pub resident: Option<u64>,
    /// What it had without episodes.
    pub idle: Option<u64>,
    /// Bytes of the last checkpoints of all partitions.
    pub checkpoint_bytes: u64,
}

/// The median and the 99th percentile.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct Quantiles {
    /// Half of the values are no larger.
    pub p50: f64,
    /// 99 of a hundred values are no larger.
    pub p99: f64,
}

impl Throughput {
    /// Microseconds of a processor for each packet in a worker that only reads past it, since another worker judges it.
    fn read_us(&self) -> f64 {
        (self.two_workers_us - self.worker_us).max(0.0)
    }

    /// Microseconds of a processor of the server for each packet that it sends to one worker more.
    fn again_us(&self) -> f64 {
        (self.two_sent_us - self.sent_us).max(0.0)
    }
}

impl Quantiles {
    fn of(mut all: Vec<f64>) -> Self {
        all.sort_unstable_by(f64::total_cmp);
        let at = |part: f64| {
            let at = (part * all.len() as f64).ceil() as usize;
            all.get(at.saturating_sub(1)).copied().unwrap_or(f64::NAN)
        };
        Self { p50: at(0.5), p99: at(0.99) }
    }
}

/// Measures, or reads what was measured; and simulates.
///
/// # Errors
/// If a process fails, or does not do what it is measured for.
pub fn command(arguments: &Arguments, (seed, rounds, episodes): (u64, u32, u64)) -> Result<Report, Failure> {
    let Arguments { kills, open_episodes, partitions, figures, simulate } = arguments;
    let mut report = match figures {
        Some(file) => serde_json::from_slice(&fs::read(file)?)?,
        None => {
            let counts = Counts {
                seed,
                rounds,
                episodes,
                partitions: *partitions,
                seconds: 5.0,
                kills: *kills,
                open_episodes: *open_episodes,
            };
            run(&counts, &Programs::find(&std::env::current_exe()?)?)?
        }
    };
    if let Some(workers) = simulate {
        report.simulation = Some(simulation::run(&report, *workers, seed));
    }
    Ok(report)
}

/// Measures everything.
///
/// # Errors
/// As [`command`].
pub fn run(counts: &Counts, programs: &Programs) -> Result<Report, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let place = Place::start(programs, counts.partitions).await?;
        let corpus = Corpus::generate(counts.seed, counts.episodes, Form::Compact);
        let throughput = throughput(&place, &corpus, counts).await?;
        let lag = lag(&place, &corpus, counts).await?;
        drop(corpus);
        let recovery = recovery::measure(&place, counts.seed, counts.kills).await?;
        let memory = memory(&place, counts).await?;
        Ok(Report { throughput, lag, recovery, memory, simulation: None })
    })
}

/// What is measured in each round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Measure {
    Check,
    CheckAll,
    Publish,
    Worker,
    TwoWorkers,
    CheckTime,
    PublisherTime,
    StoredTime,
    WorkerTime,
    SentTime,
    TwoWorkersTime,
    TwoSentTime,
}

async fn throughput(place: &Place, corpus: &Corpus, counts: &Counts) -> Result<Throughput, Failure> {
    let log = place.folder.path().join("log.jsonl");
    fs::write(&log, &corpus.bytes)?;
    let log = log.to_str().ok_or("the folder for temporary files has no name in UTF-8")?;
    let packets = corpus.packets;
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
        for (measure, times, count) in [
            (Measure::Worker, [Measure::WorkerTime, Measure::SentTime], 1),
            (Measure::TwoWorkers, [Measure::TwoWorkersTime, Measure::TwoSentTime], 2),
        ] {
            place.forget_verdicts().await?;
            let commits = Commits::collect(place).await?;
            let before = place.server_seconds();
            let names = (0..count).map(|number| format!("{round}-{number}"));
            let workers = names.map(|name| place.worker(&name)).collect::<Result<Vec<_>, _>>()?;
            commits.judged(packets).await?;
            let [of_workers, of_server] = times;
            samples.add(of_workers, each(workers.iter().map(Worker::seconds).sum(), packets));
            samples.add(of_server, each(place.server_seconds() - before, packets));
            let rate = commits::rate(&commits.all(), count);
            samples.add(measure, rate.ok_or("the log is too short for so many workers; use more `--episodes`")?);
            workers.into_iter().try_for_each(Worker::stop)?;
        }
    }
    let median = |measure| samples.median(measure);
    Ok(Throughput {
        packets,
        bytes: corpus.bytes.len() as u64,
        partitions: counts.partitions,
        rounds: counts.rounds,
        seed: counts.seed,
        check_s: median(Measure::Check),
        check_all_s: median(Measure::CheckAll),
        publish_s: median(Measure::Publish),
        worker_s: median(Measure::Worker),
        two_workers_s: median(Measure::TwoWorkers),
        worker_over_check: samples.ratio(Measure::Worker, Measure::Check),
        two_over_one: samples.ratio(Measure::TwoWorkers, Measure::Worker),
        worker_us: median(Measure::WorkerTime),
        sent_us: median(Measure::SentTime),
        two_workers_us: median(Measure::TwoWorkersTime),
        two_sent_us: median(Measure::TwoSentTime),
        publisher_us: median(Measure::PublisherTime),
        stored_us: median(Measure::StoredTime),
        check_us: median(Measure::CheckTime),
    })
}

/// Microseconds for each packet.
fn each(seconds: f64, packets: u64) -> f64 {
    seconds * 1e6 / packets as f64
}

async fn lag(place: &Place, corpus: &Corpus, counts: &Counts) -> Result<Vec<Lag>, Failure> {
    let messages = load::messages(corpus);
    // As fast as it goes, until everything is judged: the rate that this machine keeps up with.
    let flooded = loaded(place, &messages, None).await?;
    let mut all = Vec::new();
    for load in [0.25, 0.5, 0.75, 0.9] {
        let rate = load * flooded.packets_s;
        let count = ((rate * counts.seconds) as usize).clamp(1, messages.len());
        let lag = loaded(place, messages.get(..count).unwrap_or(&messages), Some(rate)).await?;
        all.push(Lag { load, ..lag });
    }
    Ok(all)
}

/// What happens while messages come at a rate.
async fn loaded(place: &Place, messages: &[(String, bytes::Bytes)], rate: Option<f64>) -> Result<Lag, Failure> {
    place.forget().await?;
    let worker = place.worker(&format!("load-{}-{}", messages.len(), rate.unwrap_or_default()).replace('.', "_"))?;
    worker.ready().await?;
    // It has its partitions after its first beat.
    load::settle().await;
    let commits = Commits::collect(place).await?;
    let stored = [place.last("PACKETS_FINDINGS").await, place.last("KV_PACKETS_STATE").await];
    let begin = std::time::Instant::now();
    let due = load::publish(place, messages, rate).await?;
    commits.judged(messages.len() as u64).await?;
    let seconds = begin.elapsed().as_secs_f64();
    let latencies = load::latencies(place, &due, &commits.all()).await?;
    let more = [place.last("PACKETS_FINDINGS").await - stored[0], place.last("KV_PACKETS_STATE").await - stored[1]];
    let bytes: usize = messages.iter().map(|(_, body)| body.len()).sum();
    let checkpoints = worker.metric("omen_checkpoint_bytes_total")?;
    worker.stop()?;
    Ok(Lag {
        load: 1.0,
        packets_s: rate.unwrap_or(messages.len() as f64 / seconds),
        verdict_ms: Quantiles::of(latencies),
        commits_s: more[0] as f64 / seconds,
        checkpoints_s: more[1] as f64 / seconds,
        checkpoint_bytes: checkpoints / bytes as f64,
    })
}

async fn memory(place: &Place, counts: &Counts) -> Result<Memory, Failure> {
    place.forget().await?;
    let log = place.folder.path().join("open.jsonl");
    let mut packets = 0;
    let mut file = std::io::BufWriter::new(fs::File::create(&log)?);
    let plan = Plan { kind: Kind::Open, ..Plan::new(counts.seed, counts.open_episodes) };
    let mut written = Ok(());
    plan.pieces(1_000_000, |piece, count| {
        packets += count;
        if written.is_ok() {
            written = std::io::Write::write_all(&mut file, piece);
        }
    });
    written?;
    std::io::Write::flush(&mut file)?;
    let packet_bytes = fs::metadata(&log)?.len();
    let log = log.to_str().ok_or("the folder for temporary files has no name in UTF-8")?;
    let worker = place.worker("memory")?;
    worker.ready().await?;
    load::settle().await;
    let idle = worker.resident();
    let commits = Commits::collect(place).await?;
    let partitions = counts.partitions.to_string();
    place.omen(&["publish", log, "--partitions", &partitions], true)?;
    commits.judged(packets).await?;
    // Each partition writes its last checkpoint when nothing has come for a while.
    tokio::time::sleep(LAST_CHECKPOINT).await;
    let resident = worker.resident();
    let checkpoint_bytes = worker.metric("omen_checkpoint_bytes")?;
    let stored = place.stream("PACKETS").await?.cached_info().state.bytes;
    worker.stop()?;
    Ok(Memory {
        episodes: counts.open_episodes,
        packets,
        packet_bytes,
        stored_bytes: stored as f64 / packet_bytes as f64,
        resident,
        idle,
        checkpoint_bytes: checkpoint_bytes as u64,
    })
}

/// Longer than a partition waits before it writes what has changed.
const LAST_CHECKPOINT: std::time::Duration = std::time::Duration::from_secs(8);
