//! A simulation of more workers and partitions than one machine has processors for, with real packets and measured service times.
//!
//! What is assumed:
//!
//! - A worker has one processor, and takes the measured time for a packet, in proportion to its bytes. Workers have equal shares of the
//!   partitions, but for one; those beyond the number of partitions have none.
//! - The stream of a partition stores one packet after the other, and sends one after the other, each in the time that the server was
//!   measured to take on one processor. Streams do not wait for each other: each has two processors.
//! - A message takes 250 µs from one machine to another, whatever its size.
//! - Packets come at random (a Poisson process), of interleaved episodes of the benchmark's corpus. The hash of an episode decides its
//!   partition, so some partitions have more of them than others.
//! - One packet of fifty has a finding. It is committed at once, or 50 ms after the commit before.
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

/// The result, with more and more workers.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Simulation {
    /// With as many partitions as were measured, and with as many as there are workers if these are more.
    pub rows: Vec<Row>,
}

/// So many workers.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Row {
    /// How many there are.
    pub workers: u32,
    /// How many partitions, each with a stream.
    pub partitions: u16,
    /// Packets a second that are judged when more come.
    pub packets_s: f64,
    /// Divided by that of one worker.
    pub over_one: f64,
    /// The part of the time in which the workers judge.
    pub busy: f64,
    /// From the moment when a packet is published until its finding is stored, in milliseconds, at half of that rate.
    pub finding_ms: Quantiles,
}

/// Times of service, in nanoseconds a packet.
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

/// As [`run`], with these times and so many workers at most and partitions at least, and with about so many packets in each run.
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
                finding_ms: Quantiles::of(half.latencies),
            });
        }
    }
    Simulation { rows }
}

/// Packets of interleaved episodes: the id of the episode, and the size in means.
struct Trace(Vec<(String, f64)>);

impl Trace {
    fn new(seed: u64) -> Self {
        let corpus = Corpus::generate(seed, 1_000, Form::Compact);
        let mean = corpus.bytes.len() as f64 / corpus.packets as f64;
        let packet = |line: &[u8]| Some((Message::new(line).correlation_id()?.to_owned(), line.len() as f64 / mean));
        Self(lines(&corpus.bytes).filter_map(packet).collect())
    }

    /// The partition and the size of the packet with a number: after the last one come the same episodes with other ids.
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

/// What came of a run.
#[derive(Debug)]
struct Outcome {
    /// Packets a second.
    rate: f64,
    busy: f64,
    /// In milliseconds.
    latencies: Vec<f64>,
}

/// A packet that is at its worker. Times are in nanoseconds from the beginning.
struct Arrived {
    at: f64,
    published: f64,
    partition: usize,
    size: f64,
    is_faulty: bool,
}

/// Who works on one thing after the other: when all is done that came so far.
#[derive(Clone, Copy, Debug, Default)]
struct Busy(f64);

impl Busy {
    /// When something is done that comes at a time and takes so long.
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
        // Not from the beginning, when everything is empty.
        let begin = end / 4.0;
        for Arrived { at, published, partition, size, is_faulty } in arrived {
            let (Some(free), Some(commit)) = (free.get_mut(partition % workers as usize), commits.get_mut(partition))
            else {
                continue;
            };
            let done = free.work(at, size * times.judge);
            // What is left at the end is not waited for: with more packets than can be judged, that would be the larger part.
            if done > end {
                continue;
            }
            worked += size * times.judge;
            judged += u32::from(done >= begin);
            if is_faulty {
                // A commit that waits takes it with it.
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

    /// The packets that are published until the end, in the order in which that happens.
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

/// How long a partition waits with a commit after the one before, in nanoseconds.
const SOON: f64 = 50e6;

/// From one machine to another, in nanoseconds.
const ONE_WAY: f64 = 250e3;

/// The shortest run, in nanoseconds: several commits of each partition.
const SHORTEST: f64 = 500e6;

/// Packets of a run, at least.
const PACKETS: usize = 600_000;
