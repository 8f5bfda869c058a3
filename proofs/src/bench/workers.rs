//! `omen worker` against `omen check` on the same packets, on one machine with a real server.
//!
//! Everything that runs is a process of its own: the server, the workers and the publisher. This one reads what they store, and
//! publishes packets itself where their times matter. The server, the workers and this process share the processors.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

mod cost;
mod counts;
mod load;
mod place;
mod progress;
mod recovery;
mod report;
pub mod simulation;
mod throughput;

use super::corpus::{Corpus, Form, Kind, Plan, faults};
use crate::Failure;
pub use cost::costs;
use counts::FAULTY;
pub use counts::{Counts, Quantiles};
use place::Place;
pub use place::Programs;
use progress::judged;
pub use recovery::Recovery;
pub use simulation::Simulation;
use throughput::each;
pub use throughput::{Throughput, Workers};

/// What to measure of workers.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// Kill so many workers, to measure how long the others take to judge their partitions again
    #[arg(long, default_value_t = 8, requires = "workers", value_parser = clap::value_parser!(u32).range(1..))]
    kills: u32,
    /// Episodes that are open at once, to measure the memory of a worker
    #[arg(long, default_value_t = 100_000, requires = "workers", value_parser = clap::value_parser!(u64).range(1..))]
    open_episodes: u64,
    /// Into how many partitions episodes are divided, each with a stream
    #[arg(long, default_value_t = 8, requires = "workers", value_parser = clap::value_parser!(u16).range(1..=64))]
    partitions: u16,
    /// Take what was measured from this file, which `--json` has printed, and measure nothing
    #[arg(long, value_name = "FILE", requires = "workers")]
    figures: Option<PathBuf>,
    /// Simulate up to so many workers with what was measured
    #[arg(long, value_name = "COUNT", requires = "workers", value_parser = clap::value_parser!(u32).range(1..=4096))]
    simulate: Option<u32>,
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

/// Packets that come one by one while a worker judges them, some of them faulty.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Lag {
    /// A part of the highest rate at which the worker keeps up.
    pub load: f64,
    /// Packets a second.
    pub packets_s: f64,
    /// From the moment when a faulty packet is due at its publisher until the server stores what is wrong with it, in milliseconds.
    pub finding_ms: Quantiles,
    /// Messages that are stored, and whose findings are not.
    pub behind: Quantiles,
    /// Microseconds of a processor for each packet: of the worker …
    pub worker_us: f64,
    /// … and of the server, which stores packets, sends them, and stores what is found.
    pub server_us: f64,
    /// Commits a second.
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
    /// Bytes of the streams for each byte of a packet.
    pub stored_bytes: f64,
    /// Resident memory of the worker in bytes; none if the system does not report it.
    pub resident: Option<u64>,
    /// What it had without episodes.
    pub idle: Option<u64>,
    /// Bytes of the last checkpoints of all partitions.
    pub checkpoint_bytes: u64,
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
        report.simulation = Some(simulation::run(&report.throughput, *workers, seed));
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
        let throughput = throughput::measure(&place, &corpus, counts).await?;
        let lag = lag(&place, &corpus, counts).await?;
        drop(corpus);
        let recovery = recovery::measure(&place, counts.seed, counts.kills).await?;
        let memory = memory(&place, counts).await?;
        Ok(Report { throughput, lag, recovery, memory, simulation: None })
    })
}

async fn lag(place: &Place, corpus: &Corpus, counts: &Counts) -> Result<Vec<Lag>, Failure> {
    let packets = load::messages(&faults::faulty(corpus, counts.seed, FAULTY), counts.partitions);
    // As fast as it goes, until everything is judged: the rate that this machine keeps up with.
    let flooded = loaded(place, &packets, None).await?;
    let mut all = Vec::new();
    for load in [0.25, 0.5, 0.75, 0.9] {
        let rate = load * flooded.packets_s;
        let count = ((rate * counts.seconds) as usize).clamp(1, packets.len());
        let lag = loaded(place, packets.get(..count).unwrap_or(&packets), Some(rate)).await?;
        all.push(Lag { load, ..lag });
    }
    Ok(all)
}

/// What happens while packets come at a rate.
async fn loaded(place: &Place, packets: &[load::Packet], rate: Option<f64>) -> Result<Lag, Failure> {
    place.forget().await?;
    let count = packets.len() as u64;
    let worker = place.worker(&format!("load-{}-{count}", rate.unwrap_or_default() as u64))?;
    progress::shared(std::slice::from_ref(&worker), place.partitions).await?;
    let stored = place.last("KV_PACKETS_STATE").await;
    let before = (worker.seconds(), place.server_seconds());
    let begin = std::time::Instant::now();
    let mut behind = Vec::new();
    let watching = async {
        loop {
            tokio::time::sleep(OFTEN).await;
            match worker.metrics().await {
                Ok(metrics) => behind.push(metrics.sum("omen_partition_lag")),
                Err(failure) => return failure,
            }
        }
    };
    let due = tokio::select! {
        due = load::publish(place, packets, rate) => due?,
        failure = watching => return Err(failure),
    };
    judged(std::slice::from_ref(&worker), count).await?;
    let seconds = begin.elapsed().as_secs_f64();
    let times = [worker.seconds() - before.0, place.server_seconds() - before.1].map(|time| each(time, count));
    let checkpoints = place.last("KV_PACKETS_STATE").await - stored;
    let latencies = load::latencies(place, packets, &due).await?;
    let bytes: usize = packets.iter().map(|packet| packet.body.len()).sum();
    let metrics = worker.metrics().await?;
    worker.stop()?;
    Ok(Lag {
        load: 1.0,
        packets_s: rate.unwrap_or(count as f64 / seconds),
        finding_ms: Quantiles::of(latencies),
        behind: Quantiles::of(behind),
        worker_us: times[0],
        server_us: times[1],
        commits_s: metrics.sum("omen_commits_total") / seconds,
        checkpoints_s: checkpoints as f64 / seconds,
        checkpoint_bytes: metrics.sum("omen_checkpoints_bytes_total") / bytes as f64,
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
    progress::shared(std::slice::from_ref(&worker), place.partitions).await?;
    let idle = worker.resident();
    place.omen(&["publish", log, "--partitions", &counts.partitions.to_string()], true)?;
    let (messages, stored) = place.stored().await?;
    judged(std::slice::from_ref(&worker), messages).await?;
    // Each partition writes its last checkpoint when nothing has come for a while.
    tokio::time::sleep(LAST_CHECKPOINT).await;
    let resident = worker.resident();
    let checkpoint_bytes = worker.metrics().await?.sum("omen_checkpoint_bytes");
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

/// How often it is asked how far a worker is behind: rarely enough to cost it little.
const OFTEN: std::time::Duration = std::time::Duration::from_millis(50);

/// Longer than a partition waits before it writes what has changed.
const LAST_CHECKPOINT: std::time::Duration = std::time::Duration::from_secs(8);
