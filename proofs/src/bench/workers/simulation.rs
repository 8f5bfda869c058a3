//! A simulation of more workers and partitions than one machine has processors for, with real packets and measured service times.
//!
//! Assumptions:
//!
//! - Each worker has one processor, and takes the measured time per packet, in proportion to its size. Workers' shares differ by
//!   at most one partition; workers beyond the number of partitions have none.
//! - The stream of a partition stores packets one after the other, and sends them one after the other, each in the measured time
//!   of the server on one processor. Streams do not wait for each other: each has two processors.
//! - A message takes 250 µs between machines, whatever its size.
//! - Packets arrive at random (a Poisson process), from interleaved episodes of the benchmark's corpus. The hash of an episode
//!   determines its partition, so some partitions have more episodes than others.
//! - One packet in fifty has a finding. It is committed at once, or 50 ms after the previous commit.
//!
//! Checkpoints and the replication of streams are left out.

use std::fmt;

use fastrand::Rng;
use omen::validator::Message;
use omen_worker::names;
use serde::{Deserialize, Serialize};

use super::super::corpus::{Corpus, Form};
use super::super::measure::lines;
use super::counts::{FAULTY, Quantiles};
use super::throughput::Throughput;

/// Result, with growing numbers of workers.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Simulation {
    /// Rows for the measured number of partitions, and for one partition per worker if that is more.
    pub rows: Vec<Row>,
}

/// Result for one number of workers.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Row {
    /// Number of workers.
    pub workers: u32,
    /// Number of partitions, each with a stream.
    pub partitions: u16,
    /// Packets judged per second under overload.
    pub packets_s: f64,
    /// `packets_s` divided by that of one worker.
    pub over_one: f64,
    /// Fraction of time that the workers spend judging.
    pub busy: f64,
    /// Time from when a packet is published until its finding is stored, in milliseconds, at half of that rate.
    pub finding_ms: Quantiles,
}

/// Service times, in nanoseconds per packet.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// To read and judge a packet.
    pub judge: f64,
    /// To store it.
    pub store: f64,
    /// To send it to its worker.
    pub send: f64,
}

/// Simulates 1, 2, 4 … workers.
#[must_use]
pub fn run(throughput: &Throughput, most: u32, seed: u64) -> Simulation {
    let one = throughput.workers.first().copied().unwrap_or_default();
    let times = Times { judge: one.worker_us * 1e3, store: throughput.stored_us * 1e3, send: one.server_us * 1e3 };
    simulate(times, (most, throughput.partitions), seed, PACKETS)
}

/// As [`run`], with these times, at most `most` workers, at least `least` partitions, and about `packets` packets in each run.
#[must_use]
pub fn simulate(times: Times, (most, least): (u32, u16), seed: u64, packets: usize) -> Simulation {
    let trace = Trace::new(seed);
    let mut rows: Vec<Row> = Vec::new();
    let counts = std::iter::successors(Some(1_u32), |count| count.checked_mul(2)).take_while(|count| *count <= most);
    for workers in counts {
        let mut kinds = vec![least, least.max(u16::try_from(workers).unwrap_or(u16::MAX))];
        kinds.dedup();
        for partitions in kinds {
            let fleet = Fleet { times, workers, partitions, seed };
            let judged = f64::from(workers.min(partitions.into())) / times.judge;
            let stored = f64::from(partitions) / times.store.max(times.send);
            let full = fleet.run(&trace, 1.5 * 1e9 * judged.min(stored), packets);
            let half = fleet.run(&trace, full.rate / 2.0, packets);
            let base = rows.first().map_or(full.rate, |first| first.packets_s);
            rows.push(Row {
                workers,
                partitions,
                packets_s: full.rate,
                over_one: full.rate / base,
                busy: full.busy,
                finding_ms: Quantiles::new(half.latencies),
            });
        }
    }
    Simulation { rows }
}

/// Packets of interleaved episodes: the id of the episode, and the size relative to the mean.
struct Trace(Vec<(String, f64)>);

impl Trace {
    fn new(seed: u64) -> Self {
        let corpus = Corpus::generate(seed, 1_000, Form::Compact);
        let mean = corpus.bytes.len() as f64 / corpus.packets as f64;
        let packet = |line: &[u8]| Some((Message::new(line).correlation_id()?.to_owned(), line.len() as f64 / mean));
        Self(lines(&corpus.bytes).filter_map(packet).collect())
    }

    /// Returns the partition and the size of a packet by number. After the last packet, the same episodes repeat with other ids.
    fn packet(&self, number: usize, partitions: u16) -> (usize, f64) {
        let round = number / self.0.len().max(1);
        let (id, size) = self.0.get(number % self.0.len().max(1)).map_or(("", 1.0), |(id, size)| (id, *size));
        (names::partition_of(&format!("{id}_{round}"), partitions).into(), size)
    }
}

/// Partitions and workers.
#[derive(Clone, Copy, Debug)]
struct Fleet {
    times: Times,
    workers: u32,
    partitions: u16,
    seed: u64,
}

/// Outcome of a run.
#[derive(Debug)]
struct Outcome {
    /// Packets per second.
    rate: f64,
    busy: f64,
    /// Latencies in milliseconds.
    latencies: Vec<f64>,
}

/// Packet that has arrived at its worker. Times are in nanoseconds from the start.
struct Arrived {
    at: f64,
    published: f64,
    partition: usize,
    size: f64,
    is_faulty: bool,
}

/// A server of a queue: the time at which everything that has arrived so far is done.
#[derive(Clone, Copy, Debug, Default)]
struct Busy(f64);

impl Busy {
    /// Returns when a job is done that arrives at a time and takes this long.
    fn work(&mut self, at: f64, takes: f64) -> f64 {
        self.0 = self.0.max(at) + takes;
        self.0
    }
}

impl Fleet {
    fn run(self, trace: &Trace, rate: f64, packets: usize) -> Outcome {
        let Self { times, workers, partitions, seed } = self;
        let end = (packets as f64 / rate * 1e9).max(SHORTEST);
        let mut arrived = self.arrived(trace, rate, end, &mut Rng::with_seed(seed));
        arrived.sort_unstable_by(|one, other| one.at.total_cmp(&other.at));
        let mut free = vec![Busy::default(); workers as usize];
        let mut commits = vec![0.0; partitions.into()];
        let (mut judged, mut worked, mut latencies) = (0, 0.0, Vec::new());
        // Excludes the start, when everything is empty.
        let begin = end / 4.0;
        for Arrived { at, published, partition, size, is_faulty } in arrived {
            let (Some(free), Some(commit)) = (free.get_mut(partition % workers as usize), commits.get_mut(partition))
            else {
                continue;
            };
            let done = free.work(at, size * times.judge);
            // The rest at the end is not waited for: under overload, it would dominate.
            if done > end {
                continue;
            }
            worked += size * times.judge;
            judged += u32::from(done >= begin);
            if is_faulty {
                // A waiting commit includes it.
                if *commit < done {
                    *commit = done.max(*commit + SOON);
                }
                latencies.extend((done >= begin).then_some((*commit + 2.0 * ONE_WAY + times.store - published) / 1e6));
            }
        }
        Outcome {
            rate: f64::from(judged) / ((end - begin) / 1e9),
            busy: worked / (end * f64::from(workers)),
            latencies,
        }
    }

    /// Returns the packets that are published until the end, in order of arrival.
    fn arrived(self, trace: &Trace, rate: f64, end: f64, rng: &mut Rng) -> Vec<Arrived> {
        let mut streams = vec![[Busy::default(); 2]; self.partitions.into()];
        let (mut published, mut all) = (0.0, Vec::new());
        for number in 0.. {
            published -= (1.0 - rng.f64()).ln() / rate * 1e9;
            let (partition, size) = trace.packet(number, self.partitions);
            let Some([stores, sends]) = streams.get_mut(partition).filter(|_| published <= end) else { break };
            let stored = stores.work(published + ONE_WAY, size * self.times.store);
            let at = sends.work(stored, size * self.times.send) + ONE_WAY;
            all.push(Arrived { at, published, partition, size, is_faulty: rng.u32(..FAULTY) == 0 });
        }
        all
    }
}

impl fmt::Display for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:10}{:>12}{:>14}{:>10}{:>8}{:>12}{:>12}",
            "simulated", "partitions", "packets/s", "of one", "busy", "p50 ms", "p99 ms"
        )?;
        self.rows.iter().try_for_each(|row| {
            let Row { workers, partitions, packets_s, over_one, busy, finding_ms: Quantiles { p50, p99 } } = row;
            writeln!(f, "{workers:<10}{partitions:12}{packets_s:14.0}{over_one:10.1}{busy:8.2}{p50:12.1}{p99:12.1}")
        })
    }
}

/// Minimum interval between commits of a partition, in nanoseconds.
const SOON: f64 = 50e6;

/// Time between machines, in nanoseconds.
const ONE_WAY: f64 = 250e3;

/// Minimum duration of a run, in nanoseconds: several commits of each partition.
const SHORTEST: f64 = 500e6;

/// Minimum number of packets in a run.
const PACKETS: usize = 600_000;
