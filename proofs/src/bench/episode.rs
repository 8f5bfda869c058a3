//! Cost of the typed API: the packets of an episode, writing them as JSON, the lease of a task, and dropping an episode.
//!
//! Each measure is compared, in the same round, with its counterpart: the same packets validated from their text, equal structs
//! written by `serde_json`, or the same episode ended by hand.

use std::fmt;
use std::hint::black_box;
use std::time::{Duration, Instant};

use omen::episode::{Belief, Closed, Episode, Execute, Open, Pending};
use omen_fsm::Machine;
use omen_types::{Packet, PacketFacts};
use serde::Serialize;

use super::agent;
use super::hand::Hand;
use super::samples::Samples;
use crate::Failure;

/// Amount of work.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Number of rounds; the report shows medians.
    pub rounds: u32,
    /// Number of episodes per round and measure.
    pub episodes: u32,
    /// Number of leases per round.
    pub leases: u32,
}

impl Default for Counts {
    fn default() -> Self {
        Self { rounds: 5, episodes: 2_000, leases: 200_000 }
    }
}

/// Result: medians over the rounds; a ratio is the median of the ratios in each round. Times are in microseconds (µs) and
/// nanoseconds (ns).
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// A packet of a complete episode: built, judged, written to memory and accepted.
    pub packet_us: f64,
    /// The same packet, judged and accepted from its text.
    pub judged_us: f64,
    /// `packet_us` divided by `judged_us`.
    pub packet_over_judged: f64,
    /// The packet, already built, written as JSON.
    pub emit_us: f64,
    /// An equal hand-made struct, written by `serde_json::to_vec`.
    pub hand_us: f64,
    /// `emit_us` divided by `hand_us`.
    pub emit_over_hand: f64,
    /// Allocations for a packet: built, judged, written to memory and accepted. `None` if there is no cargo to build the
    /// counting program, or if nothing was counted.
    pub allocations_per_packet: Option<f64>,
    /// Allocations for writing a packet as JSON.
    pub allocations_per_emit: Option<f64>,
    /// Allocations for writing the equal struct.
    pub allocations_per_hand: Option<f64>,
    /// A lease: a task is started, its lease is checked once, and it is returned.
    pub lease_ns: f64,
    /// A lease divided by a packet.
    pub lease_over_packet: f64,
    /// A dropped episode with an open directive, whose end the drop policy writes.
    pub dropped_us: f64,
    /// The same episode ended by hand: result, belief update, close.
    pub ended_us: f64,
    /// `dropped_us` divided by `ended_us`.
    pub dropped_over_ended: f64,
    /// Number of packets in an episode.
    pub packets: usize,
    /// Number of measurements of each kind.
    pub rounds: u32,
    /// Number of episodes per round and measure.
    pub episodes: u32,
}

/// Measured quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Measure {
    Packet,
    Judged,
    Emit,
    Hand,
    Lease,
    Dropped,
    Ended,
}

/// Measures everything except allocations.
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
        emit_us: samples.median(Measure::Emit),
        hand_us: samples.median(Measure::Hand),
        emit_over_hand: ratio(Measure::Emit, Measure::Hand),
        allocations_per_packet: None,
        allocations_per_emit: None,
        allocations_per_hand: None,
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

/// Runs episodes from start to end.
pub(super) fn complete(episodes: u64) -> Result<Vec<Closed>, Failure> {
    (0..u32::try_from(episodes)?).map(|number| end(agent::task(agent::setup(number)?)?)).collect()
}

/// Returns the packets of episodes, each with the equal struct.
///
/// # Errors
/// If a packet is not written exactly as the line in its episode.
pub(super) fn written(logs: &[Closed]) -> Result<Vec<(Packet, Hand)>, Failure> {
    let lines = logs.iter().flat_map(Closed::lines);
    lines
        .map(|line| {
            let (packet, hand): (Packet, Hand) =
                (line.parse()?, serde_json::from_str(line).map_err(|error| format!("{line}: {error}"))?);
            let (ours, theirs) = (serde_json::to_string(&packet)?, serde_json::to_string(&hand)?);
            if ours != *line || theirs != *line {
                return Err(format!("{line} is written as\n{ours} and as\n{theirs}").into());
            }
            Ok((packet, hand))
        })
        .collect()
}

/// Writes a value as JSON.
pub(super) fn emit(value: &impl Serialize) -> Result<(), Failure> {
    black_box(serde_json::to_vec(value)?);
    Ok(())
}

/// Measures complete episodes, typed and judged; returns the number of packets in one.
fn whole(episodes: u32, samples: &mut Samples<Measure>) -> Result<usize, Failure> {
    let begun = Instant::now();
    let logs = complete(u64::from(episodes))?;
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

    let written = written(&logs)?;
    let begun = Instant::now();
    written.iter().try_for_each(|(packet, _)| emit(packet))?;
    samples.add(Measure::Emit, each(begun.elapsed(), packets));
    let begun = Instant::now();
    written.iter().try_for_each(|(_, hand)| emit(hand))?;
    samples.add(Measure::Hand, each(begun.elapsed(), packets));
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

/// Measures episodes with an open directive, dropped and ended by hand.
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
            ("the packet written as JSON", self.emit_us, "µs"),
            ("an equal struct written as JSON", self.hand_us, "µs"),
            ("a lease: start, check, return", self.lease_ns, "ns"),
            ("an episode dropped with an open directive", self.dropped_us, "µs"),
            ("the same episode ended by hand", self.ended_us, "µs"),
        ];
        rows.iter().try_for_each(|(name, value, unit)| writeln!(f, "{name:46}{value:10.1} {unit}"))?;
        writeln!(f, "\n{:46}{:>10}", "ratios within a round", "")?;
        let rows = [
            ("a packet, typed / judged", self.packet_over_judged),
            ("a packet / an equal struct, written as JSON", self.emit_over_hand),
            ("a lease / a packet, typed", self.lease_over_packet),
            ("dropped / ended by hand", self.dropped_over_ended),
        ];
        rows.iter().try_for_each(|(name, ratio)| writeln!(f, "  {name:44}{ratio:10.3}"))?;
        let rows = [
            ("allocations of a packet, typed", self.allocations_per_packet),
            ("  written as JSON", self.allocations_per_emit),
            ("  an equal struct", self.allocations_per_hand),
        ];
        let counts = rows.iter().filter_map(|(name, count)| Some((name, (*count)?)));
        counts.into_iter().try_for_each(|(name, count)| writeln!(f, "{name:46}{count:10.1}"))
    }
}
