//! A simulation of more workers than one machine has processors for, with real packets and measured service times.
//!
//! What is assumed:
//!
//! - A worker has one processor, and takes the measured time for a packet, in proportion to its bytes. Nothing else runs there. It reads the
//!   whole of its stream: what others judge takes it the measured time to read past it.
//! - A stream stores one packet after the other, as fast as `omen publish` was measured. A server has one stream and eight processors, on
//!   which it sends each packet to every worker of the stream, in the measured time. Each stream has workers of its own, as many as others.
//! - A message takes 250 µs from one machine to another, whatever its size.
//! - Packets come at random (a Poisson process), of interleaved episodes of the benchmark's corpus. Partitions have their owners by
//!   rendezvous hashing, so some workers have more of them than others.
//! - A partition does what the worker does: it takes up to 512 packets, asks for the next ones, judges, and commits four times a second.
//!   All packets are free of findings. Checkpoints and the replication of streams are left out.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fmt;
use std::hash::Hasher as _;
use std::mem;

use fastrand::Rng;
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;

use super::super::corpus::{Corpus, Form};
use super::super::measure::lines;
use super::{Quantiles, Report};

/// The result, with more and more workers.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Simulation {
    /// With one stream, and with as many as there must be.
    pub rows: Vec<Row>,
}

/// So many workers.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Row {
    /// How many there are.
    pub workers: u32,
    /// How many streams.
    pub streams: u32,
    /// Packets a second that are judged when more come.
    pub packets_s: f64,
    /// Divided by that of one worker.
    pub over_one: f64,
    /// The part of the time in which the workers judge.
    pub busy: f64,
    /// From the moment when a packet is published until its commit is stored, at half of that rate.
    pub verdict_ms: Quantiles,
}

/// Times of service, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// To read and judge a packet.
    pub judge: f64,
    /// To read past a packet that another worker judges.
    pub read: f64,
    /// To store a packet, one after the other.
    pub store: f64,
    /// To send a packet to one worker …
    pub send: f64,
    /// … and to each further one.
    pub again: f64,
}

/// Simulates 1, 2, 4 … workers.
#[must_use]
pub fn run(report: &Report, most: u32, seed: u64) -> Simulation {
    let throughput = &report.throughput;
    let times = Times {
        judge: throughput.worker_us * 1e3,
        read: throughput.read_us() * 1e3,
        store: 1e9 / throughput.publish_s,
        send: throughput.sent_us * 1e3,
        again: throughput.again_us() * 1e3,
    };
    simulate(times, most, seed, PACKETS)
}

/// As [`run`], with these times, and about so many packets in each run.
#[must_use]
pub fn simulate(times: Times, most: u32, seed: u64, packets: usize) -> Simulation {
    let trace = Trace::new(seed);
    let mut rows: Vec<Row> = Vec::new();
    let counts = std::iter::successors(Some(1_u32), |count| count.checked_mul(2)).take_while(|count| *count <= most);
    for workers in counts {
        let wanted = f64::from(workers) * 1e9 / times.judge;
        // A stream is filled to half of what it takes.
        let streams = (wanted * times.store * 2.0 / 1e9).ceil().max(1.0) as u32;
        let mut kinds = vec![1, streams];
        kinds.dedup();
        for streams in kinds {
            let fleet = Fleet { times, workers, streams, seed };
            let full = fleet.run(&trace, 1.5 * wanted, packets);
            let half = fleet.run(&trace, full.rate / 2.0, packets);
            let base = rows.first().map_or(full.rate, |first| first.packets_s);
            rows.push(Row {
                workers,
                streams,
                packets_s: full.rate,
                over_one: full.rate / base,
                busy: full.busy,
                verdict_ms: Quantiles::of(half.latencies),
            });
        }
    }
    Simulation { rows }
}

/// Packets of interleaved episodes: a hash of the episode, and the size in means.
struct Trace(Vec<(u64, f64)>);

impl Trace {
    fn new(seed: u64) -> Self {
        let corpus = Corpus::generate(seed, 2_000, Form::Compact);
        let mean = corpus.bytes.len() as f64 / corpus.packets as f64;
        let packet = |line: &[u8]| {
            // The line need not be judged again: its correlation id is what is between the quotes.
            let name = b"\"correlation_id\":\"";
            let id = memchr::memmem::find(line, name).and_then(|at| line.get(at + name.len()..));
            let id = id.and_then(|rest| rest.split(|byte| *byte == b'"').next()).unwrap_or_default();
            (hash(id, 0), line.len() as f64 / mean)
        };
        Self(lines(&corpus.bytes).map(packet).collect())
    }

    /// The packet with a number: after the last one come the same episodes with other ids.
    fn packet(&self, number: usize) -> (u64, f64) {
        let (id, size) = self.0.get(number % self.0.len().max(1)).copied().unwrap_or((0, 1.0));
        (hash(&id.to_le_bytes(), (number / self.0.len().max(1)) as u64), size)
    }
}

fn hash(bytes: &[u8], seed: u64) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(seed, 7);
    hasher.write(bytes);
    hasher.finish()
}

/// Streams and workers.
#[derive(Clone, Copy, Debug)]
struct Fleet {
    times: Times,
    workers: u32,
    streams: u32,
    seed: u64,
}

/// What came of a run.
#[derive(Debug, Default)]
struct Outcome {
    /// Packets a second.
    rate: f64,
    busy: f64,
    /// In milliseconds.
    latencies: Vec<f64>,
}

/// What happens to a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A packet is published.
    Published,
    /// The oldest packet on its way to the stream is stored.
    Stored,
    /// The packets that were asked for are at the worker.
    Delivered,
    /// The packets that the worker had are judged.
    Judged,
    /// It is time for a commit.
    Due,
    /// The commit is stored.
    Committed,
}

/// A packet: when it was published, and its size.
type Packet = (u64, f64);

#[derive(Debug, Default)]
struct Partition {
    coming: VecDeque<Packet>,
    stored: VecDeque<Packet>,
    asked: Vec<Packet>,
    delivered: Vec<Packet>,
    judging: Vec<Packet>,
    /// How long that takes, in nanoseconds.
    takes: f64,
    judged: Vec<u64>,
    committing: Vec<u64>,
    committed_at: u64,
    is_asking: bool,
    is_due: bool,
}

impl Partition {
    /// A validator does one thing at a time.
    fn is_at_work(&self) -> bool {
        !self.judging.is_empty() || !self.committing.is_empty()
    }
}

struct Run<'t> {
    fleet: Fleet,
    trace: &'t Trace,
    now: u64,
    events: BinaryHeap<Reverse<(u64, u64, Event, u32)>>,
    scheduled: u64,
    partitions: Vec<Partition>,
    owners: Vec<u32>,
    /// When each worker has judged all that it was given.
    free: Vec<u64>,
    /// When each stream has stored all that came.
    store: Vec<u64>,
    /// The same for each processor that sends.
    senders: Vec<[u64; SENDERS]>,
    worked: f64,
    /// When batches were judged, and how many packets they had.
    judged: Vec<(u64, usize)>,
    /// When packets were committed, and how long that took.
    done: Vec<(u64, u64)>,
}

impl Fleet {
    /// The workers of a stream.
    fn readers(self, stream: u32) -> impl Iterator<Item = u32> {
        (0..self.workers).filter(move |worker| worker % self.streams == stream % self.streams)
    }

    fn run(self, trace: &Trace, rate: f64, packets: usize) -> Outcome {
        let count = self.streams * PARTITIONS;
        let owner = |partition: u32| {
            let rank = |worker: u32| hash(&partition.to_le_bytes(), u64::from(worker));
            self.readers(partition / PARTITIONS).max_by_key(|worker| rank(*worker)).unwrap_or_default()
        };
        let mut run = Run {
            fleet: self,
            trace,
            now: 0,
            events: BinaryHeap::new(),
            scheduled: 0,
            partitions: (0..count).map(|_| Partition::default()).collect(),
            owners: (0..count).map(owner).collect(),
            free: vec![0; self.workers as usize],
            store: vec![0; self.streams as usize],
            senders: vec![[0; SENDERS]; self.streams as usize],
            worked: 0.0,
            judged: Vec::new(),
            done: Vec::new(),
        };
        run.all(rate, packets)
    }
}

impl Run<'_> {
    fn all(&mut self, rate: f64, packets: usize) -> Outcome {
        let mut rng = Rng::with_seed(self.fleet.seed);
        let mut published = 0;
        let end = ((packets as f64 / rate * 1e9) as u64).max(SHORTEST);
        self.schedule(0, Event::Published, 0);
        // What is left at the end is not waited for: with more packets than can be judged, that would be the larger part.
        while let Some(Reverse((time, _, event, partition))) = self.events.pop().filter(|event| event.0.0 <= end) {
            self.now = time;
            match event {
                Event::Published => {
                    self.publish(published);
                    published += 1;
                    let pause = -(1.0 - rng.f64()).ln() / rate * 1e9;
                    self.schedule(time + pause as u64, Event::Published, 0);
                }
                event => self.partition(event, partition),
            }
        }
        // Not from the beginning, when everything is empty.
        let begin = end / 4;
        let done: Vec<_> = self.done.iter().filter(|(at, _)| *at >= begin).collect();
        let judged: usize = self.judged.iter().filter(|(at, _)| *at >= begin).map(|(_, packets)| packets).sum();
        Outcome {
            // Judged, not committed: where more comes than can be judged, commits come in large and rare pieces.
            rate: judged as f64 / ((end - begin) as f64 / 1e9),
            // What is read past is counted when it is given to a worker, which may be a moment before it is done.
            busy: (self.worked / (end as f64 * f64::from(self.fleet.workers))).min(1.0),
            latencies: done.iter().map(|(_, took)| *took as f64 / 1e6).collect(),
        }
    }

    fn schedule(&mut self, time: u64, event: Event, partition: u32) {
        self.scheduled += 1;
        self.events.push(Reverse((time, self.scheduled, event, partition)));
    }

    fn publish(&mut self, number: usize) {
        let (id, size) = self.trace.packet(number);
        let partition = (id % self.partitions.len() as u64) as u32;
        let (now, time) = (self.now, self.fleet.times.store * size);
        let Some(store) = self.store.get_mut((partition / PARTITIONS) as usize) else { return };
        *store = (*store).max(now + ONE_WAY) + time as u64;
        let stored = *store;
        if let Some(partition) = self.partitions.get_mut(partition as usize) {
            partition.coming.push_back((now, size));
        }
        self.schedule(stored, Event::Stored, partition);
    }

    fn partition(&mut self, event: Event, number: u32) {
        let now = self.now;
        let Some(partition) = self.partitions.get_mut(number as usize) else { return };
        match event {
            Event::Published => {}
            Event::Stored => partition.stored.extend(partition.coming.pop_front()),
            Event::Delivered => {
                partition.is_asking = false;
                partition.delivered = mem::take(&mut partition.asked);
            }
            Event::Judged => {
                // Counted at its end, so that what is not done when the run ends is not counted.
                self.worked += mem::take(&mut partition.takes);
                self.judged.push((now, partition.judging.len()));
                partition.judged.extend(mem::take(&mut partition.judging).iter().map(|(at, _)| *at));
            }
            Event::Due => partition.is_due = false,
            Event::Committed => {
                partition.committed_at = now;
                self.done.extend(mem::take(&mut partition.committing).iter().map(|at| (now, now - at)));
            }
        }
        self.go_on(number);
    }

    /// The workers that do not judge packets read them all the same. They do so at the pace at which packets are judged, since no worker
    /// reads much more than it can judge.
    fn read_past(&mut self, number: u32, size: f64) {
        let (owner, now) = (self.owners.get(number as usize).copied(), self.now);
        let time = size * self.fleet.times.read;
        for worker in self.fleet.readers(number / PARTITIONS).filter(|worker| Some(*worker) != owner) {
            if let Some(free) = self.free.get_mut(worker as usize) {
                *free = (*free).max(now) + time as u64;
                self.worked += time;
            }
        }
    }

    /// Begins what a partition can do.
    fn go_on(&mut self, number: u32) {
        let (now, times) = (self.now, self.fleet.times);
        let stream = (number / PARTITIONS) as usize;
        let Some(partition) = self.partitions.get_mut(number as usize) else { return };
        let mut next: Vec<(u64, Event)> = Vec::new();
        let mut read = 0.0;
        if !partition.is_at_work() && !partition.judged.is_empty() && !partition.is_due {
            if now >= partition.committed_at + OFTEN {
                partition.committing = mem::take(&mut partition.judged);
                // The stream of findings has little else to store.
                next.push((now + 2 * ONE_WAY + times.store as u64, Event::Committed));
            } else {
                partition.is_due = true;
                next.push((partition.committed_at + OFTEN, Event::Due));
            }
        }
        if !partition.is_at_work() && !partition.delivered.is_empty() {
            partition.judging = mem::take(&mut partition.delivered);
            let time = partition.judging.iter().map(|(_, size)| size * times.judge).sum::<f64>();
            let owner = self.owners.get(number as usize).map_or(0, |owner| *owner as usize);
            if let Some(free) = self.free.get_mut(owner) {
                *free = (*free).max(now) + time as u64;
                partition.takes = time;
                next.push((*free, Event::Judged));
            }
            read = time / times.judge;
        }
        if !partition.is_asking && partition.delivered.is_empty() && !partition.stored.is_empty() {
            let count = partition.stored.len().min(BATCH);
            partition.asked = partition.stored.drain(..count).collect();
            partition.is_asking = true;
            let further = self.fleet.readers(number / PARTITIONS).count().saturating_sub(1);
            let each = times.send + further as f64 * times.again;
            let time = partition.asked.iter().map(|(_, size)| size * each).sum::<f64>();
            let sender = self.senders.get_mut(stream).and_then(|senders| senders.iter_mut().min());
            if let Some(sender) = sender {
                *sender = (*sender).max(now + ONE_WAY) + time as u64;
                next.push((*sender + ONE_WAY, Event::Delivered));
            }
        }
        self.read_past(number, read);
        for (time, event) in next {
            self.schedule(time, event, number);
        }
    }
}

impl fmt::Display for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:10}{:>10}{:>14}{:>10}{:>8}{:>12}{:>12}",
            "simulated", "streams", "packets/s", "of one", "busy", "p50 ms", "p99 ms"
        )?;
        self.rows.iter().try_for_each(|row| {
            let Row { workers, streams, packets_s, over_one, busy, verdict_ms: Quantiles { p50, p99 } } = row;
            writeln!(f, "{workers:10}{streams:10}{packets_s:14.0}{over_one:10.1}{busy:8.2}{p50:12.1}{p99:12.1}")
        })
    }
}

/// Partitions of a stream.
const PARTITIONS: u32 = 64;

/// Packets that a worker asks for at a time.
const BATCH: usize = 512;

/// How long a partition waits with a commit, in nanoseconds.
const OFTEN: u64 = 250_000_000;

/// From one machine to another, in nanoseconds.
const ONE_WAY: u64 = 250_000;

/// Processors of a server.
const SENDERS: usize = 8;

/// The shortest run, in nanoseconds: some commits of each partition.
const SHORTEST: u64 = 1_500_000_000;

/// Packets of a run, at least.
const PACKETS: usize = 600_000;
