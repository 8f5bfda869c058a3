//! The cost of the typed API: the packets of an episode, the lease of a task, and dropping an episode.
//!
//! Each measure is compared, in the same round, with its counterpart: the same packets validated from their text; the same
//! episode ended by hand.

use std::fmt;
use std::hint::black_box;
use std::time::{Duration, Instant};

use omen::episode::{Belief, Closed, Episode, Execute, Open, Pending};
use omen_fsm::Machine;
use omen_types::PacketFacts;
use serde::Serialize;

use super::samples::Samples;
use super::{Failure, agent};

/// The amount of work.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Rounds; the report shows medians.
    pub rounds: u32,
    /// Episodes for each round and measure.
    pub episodes: u32,
    /// Leases for each round.
    pub leases: u32,
}

impl Default for Counts {
    fn default() -> Self {
        Self { rounds: 5, episodes: 2_000, leases: 200_000 }
    }
}

/// The result: medians over the rounds; a ratio is the median of the ratios of each round. Times are in microseconds (µs) and
/// nanoseconds (ns).
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// A packet of a complete episode: built, judged, written to memory and accepted.
    pub packet_us: f64,
    /// The same packet, judged and accepted from its text.
    pub judged_us: f64,
    /// The first divided by the second.
    pub packet_over_judged: f64,
    /// A lease: a task is started, its lease is checked once, and it is returned.
    pub lease_ns: f64,
    /// A lease divided by a packet.
    pub lease_over_packet: f64,
    /// An episode with an open directive that is dropped, so that the drop policy writes its end.
    pub dropped_us: f64,
    /// The same episode ended by hand: result, belief update, close.
    pub ended_us: f64,
    /// Dropped over ended by hand.
    pub dropped_over_ended: f64,
    /// Packets in an episode.
    pub packets: usize,
    /// Number of measurements of each kind.
    pub rounds: u32,
    /// Episodes for each round and measure.
    pub episodes: u32,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Measure {
    Packet,
    Judged,
    Lease,
    Dropped,
    Ended,
}

/// Measures everything.
///
/// # Errors
/// If an episode does not end as expected.
pub fn run(counts: &Counts) -> Result<Report, Failure> {
    let Counts { rounds, episodes, leases } = *counts;
    let mut samples = Samples::default();
    let mut packets = 0;
    for _ in 0..rounds {
        packets = whole(episodes, &mut samples)?;
        lease(leases, &mut samples)?;
        ends(episodes, &mut samples)?;
    }
    let ratio = |measure, base| samples.ratio(measure, base);
    Ok(Report {
        packet_us: samples.median(Measure::Packet),
        judged_us: samples.median(Measure::Judged),
        packet_over_judged: ratio(Measure::Packet, Measure::Judged),
        lease_ns: samples.median(Measure::Lease) * 1e3,
        lease_over_packet: ratio(Measure::Lease, Measure::Packet),
        dropped_us: samples.median(Measure::Dropped),
        ended_us: samples.median(Measure::Ended),
        dropped_over_ended: ratio(Measure::Dropped, Measure::Ended),
        packets,
        rounds,
        episodes,
    })
}

fn each(time: Duration, count: usize) -> f64 {
    time.as_secs_f64() * 1e6 / count as f64
}

type Acting = (Episode<Open<Execute, 1>>, Pending);

fn end((episode, task): Acting) -> Result<Closed, Failure> {
    let episode = episode.settle([task.success(50)])?;
    Ok(episode.review(Belief::new("db", "pool", 50)).close()?)
}

/// Complete episodes, typed and judged; returns the number of packets in one.
fn whole(episodes: u32, samples: &mut Samples<Measure>) -> Result<usize, Failure> {
    let begun = Instant::now();
    let mut logs = Vec::new();
    for number in 0..episodes {
        logs.push(end(agent::task(agent::setup(number)?)?)?);
    }
    let time = begun.elapsed();
    let packets = logs.iter().map(|closed| closed.lines().len()).sum::<usize>();
    samples.add(Measure::Packet, each(time, packets));

    let begun = Instant::now();
    for closed in &logs {
        let mut machine = Machine::default();
        for line in closed.lines() {
            let facts = PacketFacts::parse(line)?;
            let verdict = machine.judge(&facts, None);
            if verdict.errors().next().is_some() {
                return Err(format!("an episode has a finding: {verdict:?}").into());
            }
            machine.accept(&facts, &verdict);
        }
        black_box(&machine);
    }
    samples.add(Measure::Judged, each(begun.elapsed(), packets));
    Ok(packets / logs.len().max(1))
}

fn lease(leases: u32, samples: &mut Samples<Measure>) -> Result<(), Failure> {
    let (episode, mut task) = agent::task(agent::setup(0)?)?;
    let begun = Instant::now();
    for _ in 0..leases {
        let running = task.start()?;
        running.stands()?;
        task = running.not_called();
    }
    samples.add(Measure::Lease, each(begun.elapsed(), leases as usize));
    end((episode, task)).map(drop)
}

/// Episodes with an open directive, dropped and ended by hand.
fn ends(episodes: u32, samples: &mut Samples<Measure>) -> Result<(), Failure> {
    let acting = || (0..episodes).map(|number| agent::task(agent::setup(number)?)).collect::<Result<Vec<_>, _>>();
    let (dropped, ended) = (acting()?, acting()?);
    let begun = Instant::now();
    drop(dropped);
    samples.add(Measure::Dropped, each(begun.elapsed(), episodes as usize));
    let begun = Instant::now();
    for episode in ended {
        let _ = black_box(end(episode)?);
    }
    samples.add(Measure::Ended, each(begun.elapsed(), episodes as usize));
    Ok(())
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rounds, episodes, packets, .. } = self;
        writeln!(
            f,
            "medians of {rounds} rounds; each measure has {episodes} episodes of {packets} packets in a round\n"
        )?;
        let rows = [
            ("a packet, typed", self.packet_us, "µs"),
            ("the same packet, judged from its text", self.judged_us, "µs"),
            ("a lease: start, check, return", self.lease_ns, "ns"),
            ("an episode dropped with an open directive", self.dropped_us, "µs"),
            ("the same episode ended by hand", self.ended_us, "µs"),
        ];
        rows.iter().try_for_each(|(name, value, unit)| writeln!(f, "{name:46}{value:10.1} {unit}"))?;
        writeln!(f, "\n{:46}{:>10}", "ratios within a round", "")?;
        let rows = [
            ("a packet, typed / judged", self.packet_over_judged),
            ("a lease / a packet, typed", self.lease_over_packet),
            ("dropped / ended by hand", self.dropped_over_ended),
        ];
        rows.iter().try_for_each(|(name, ratio)| writeln!(f, "  {name:44}{ratio:10.3}"))
    }
}
