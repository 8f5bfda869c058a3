//! `omen worker` compared with `omen check` on the same packets, on one machine with a real server.
//!
//! The server, the workers and the publisher are separate processes. This process reads what they store, and publishes packets
//! itself where their times matter. All of them share the processors.

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

/// Options for measuring workers.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// Number of workers to kill, to measure how long the others take to judge their partitions again
    #[arg(long, default_value_t = 8, requires = "workers", value_parser = clap::value_parser!(u32).range(1..))]
    kills: u32,
    /// Number of open episodes, to measure the memory of a worker
    #[arg(long, default_value_t = 100_000, requires = "workers", value_parser = clap::value_parser!(u64).range(1..))]
    open_episodes: u64,
    /// Number of partitions that episodes are divided into, each with a stream
    #[arg(long, default_value_t = 8, requires = "workers", value_parser = clap::value_parser!(u16).range(1..=64))]
    partitions: u16,
    /// Read earlier results from this file, which `--json` has printed, and measure nothing
    #[arg(long, value_name = "FILE", requires = "workers")]
    figures: Option<PathBuf>,
    /// Simulate up to this many workers, based on the results
    #[arg(long, value_name = "COUNT", requires = "workers", value_parser = clap::value_parser!(u32).range(1..=4096))]
    simulate: Option<u32>,
}

/// Results. A megabyte is 10^6 bytes.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Report {
    /// Speed of storing and judging packets.
    pub throughput: Throughput,
    /// Latency of findings at several rates.
    pub lag: Vec<Lag>,
    /// Recovery after a worker was killed.
    pub recovery: Recovery,
    /// Memory with many open episodes.
    pub memory: Memory,
    /// Simulation of more workers than this machine has processors for, if requested.
    pub simulation: Option<Simulation>,
}

/// Latency and cost while a worker judges packets that arrive one by one, some of them faulty.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Lag {
    /// Fraction of the highest rate at which the worker keeps up.
    pub load: f64,
    /// Packets per second.
    pub packets_s: f64,
    /// Time from when a faulty packet is due at its publisher until the server stores its finding, in milliseconds.
    pub finding_ms: Quantiles,
    /// Number of stored messages whose findings are not stored yet.
    pub behind: Quantiles,
    /// Processor time of the worker per packet, in microseconds.
    pub worker_us: f64,
    /// Processor time of the server per packet, in microseconds, for storing and sending packets and storing findings.
    pub server_us: f64,
    /// Commits per second.
    pub commits_s: f64,
    /// Messages of checkpoints per second.
    pub checkpoints_s: f64,
    /// Bytes of checkpoints per byte of packets.
    pub checkpoint_bytes: f64,
}

/// Memory of a worker with many open episodes.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Memory {
    /// Number of open episodes.
    pub episodes: u64,
    /// Number of their packets.
    pub packets: u64,
    /// Size of their packets in bytes.
    pub packet_bytes: u64,
    /// Bytes in the streams per byte of a packet.
    pub stored_bytes: f64,
    /// Resident memory of the worker in bytes; `None` if the system does not report it.
    pub resident: Option<u64>,
    /// The same without episodes.
    pub idle: Option<u64>,
    /// Size in bytes of the last checkpoints of all partitions.
    pub checkpoint_bytes: u64,
}

/// Measures or reads earlier results, then simulates.
///
/// # Errors
/// If a process fails or behaves unexpectedly.
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
    // At full speed, until everything is judged: the highest rate at which this machine keeps up.
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

/// Measures latency and cost while packets arrive at a rate.
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
        finding_ms: Quantiles::new(latencies),
        behind: Quantiles::new(behind),
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
    // Each partition writes its last checkpoint after a period without messages.
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

/// Interval between queries of a worker's lag, long enough to cost it little.
const OFTEN: std::time::Duration = std::time::Duration::from_millis(50);

/// Longer than a partition waits before it writes its changes.
const LAST_CHECKPOINT: std::time::Duration = std::time::Duration::from_secs(8);
