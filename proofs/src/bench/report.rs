//! Report on the speed of validation.

use std::fmt;

use serde::Serialize;

use super::allocations::{self, Allocations};
use super::corpus::Kind;
use super::measure::{self, Logs, Measure};
use super::memory;
use crate::Failure;

/// Result. A megabyte is 10^6 bytes.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Skipping each line: `serde_json` with `IgnoredAny`.
    pub skip_mb_s: f64,
    /// Parsing each line to a [`omen_types::Packet`].
    pub typed_mb_s: f64,
    /// Passing the whole log through [`omen::Validator`].
    pub verdict_mb_s: f64,
    /// The target ratio: `verdict_mb_s` divided by `skip_mb_s`.
    pub verdict_over_skip: f64,
    /// The same, with the members of all objects shuffled.
    pub verdict_shuffled_over_skip: f64,
    /// The same, in Python's default form.
    pub verdict_spaced_over_skip: f64,
    /// A log with a tenth of its packets faulty, without printing the findings, divided by the clean log.
    pub verdict_faulty_over_clean: f64,
    /// The log through [`omen::ParallelValidator`] with two threads, divided by one thread.
    pub verdict_two_threads_over_one: f64,
    /// Compared with the `jsonschema` crate, which checks only the schema.
    pub verdict_over_jsonschema: f64,
    /// Memory of the validator per open episode; `None` if the system does not report memory.
    pub bytes_per_open_episode: Option<f64>,
    /// The same for an ended episode.
    pub bytes_per_closed_episode: Option<f64>,
    /// Allocations by the validator per packet; `None` if there is no cargo to build the counting program.
    pub allocations_per_packet: Option<f64>,
    /// Parsing each line to the facts that rules check.
    pub parse_mb_s: f64,
    /// As `verdict_over_skip`, for these facts; the difference is the cost of the rules.
    pub parse_over_skip: f64,
    /// Allocations per line for its facts.
    pub allocations_per_parse: Option<f64>,
    /// Parsing each line to a [`serde_json::Value`].
    pub value_mb_s: f64,
    /// Parsing each line to a value, which the `jsonschema` crate then checks.
    pub jsonschema_mb_s: f64,
    /// As `verdict_over_skip`, for typed packets.
    pub typed_over_skip: f64,
    /// Size of the corpus.
    pub corpus_bytes: usize,
    /// Number of lines in the corpus.
    pub packets: u64,
    /// Number of episodes in the corpus.
    pub episodes: u64,
    /// Number of measurements of each kind.
    pub rounds: u32,
    /// Seed of the corpus.
    pub seed: u64,
}

/// Measures everything.
///
/// # Errors
/// If a log is not as expected, or a child process fails.
pub(super) fn run(seed: u64, episodes: u64, rounds: u32) -> Result<Report, Failure> {
    let bytes_per_open_episode = memory::per_episode(seed, Kind::Open)?;
    let bytes_per_closed_episode = memory::per_episode(seed, Kind::Closed)?;
    let allocations: Option<Allocations> = allocations::counted()?;
    let logs = Logs::generate(seed, episodes)?;
    let speeds = measure::speeds(&logs, rounds)?;
    let speed = |measure| speeds.median(measure);
    let ratio = |measure, base| speeds.ratio(measure, base);
    Ok(Report {
        skip_mb_s: speed(Measure::Skip),
        typed_mb_s: speed(Measure::Typed),
        verdict_mb_s: speed(Measure::Verdict),
        verdict_over_skip: ratio(Measure::Verdict, Measure::Skip),
        verdict_shuffled_over_skip: ratio(Measure::ShuffledVerdict, Measure::ShuffledSkip),
        verdict_spaced_over_skip: ratio(Measure::SpacedVerdict, Measure::SpacedSkip),
        verdict_faulty_over_clean: ratio(Measure::FaultyVerdict, Measure::Verdict),
        verdict_two_threads_over_one: ratio(Measure::TwoThreads, Measure::Verdict),
        verdict_over_jsonschema: ratio(Measure::Verdict, Measure::JsonSchema),
        bytes_per_open_episode,
        bytes_per_closed_episode,
        allocations_per_packet: allocations.map(|counts| counts.per_verdict),
        parse_mb_s: speed(Measure::Parse),
        parse_over_skip: ratio(Measure::Parse, Measure::Skip),
        allocations_per_parse: allocations.map(|counts| counts.per_parse),
        value_mb_s: speed(Measure::Value),
        jsonschema_mb_s: speed(Measure::JsonSchema),
        typed_over_skip: ratio(Measure::Typed, Measure::Skip),
        corpus_bytes: logs.compact.bytes.len(),
        packets: logs.compact.packets,
        episodes,
        rounds,
        seed,
    })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { packets, episodes, rounds, seed, .. } = self;
        writeln!(
            f,
            "{packets} packets of {episodes} episodes, {:.1} MB, seed {seed}; medians of {rounds} rounds\n",
            self.corpus_bytes as f64 / 1e6
        )?;
        writeln!(f, "{:34}{:>10}{:>10}", "", "MB/s", "of skip")?;
        let rows = [
            ("skip (serde_json, IgnoredAny)", self.skip_mb_s),
            ("serde_json::Value", self.value_mb_s),
            ("typed packets", self.typed_mb_s),
            ("facts that rules check", self.parse_mb_s),
            ("verdict", self.verdict_mb_s),
            ("jsonschema crate", self.jsonschema_mb_s),
        ];
        for (name, speed) in rows {
            writeln!(f, "{name:34}{speed:10.1}{:10.2}", speed / self.skip_mb_s)?;
        }
        let rows = [
            ("verdict, members shuffled", self.verdict_shuffled_over_skip),
            ("verdict, as Python writes", self.verdict_spaced_over_skip),
        ];
        for (name, ratio) in rows {
            writeln!(f, "{name:34}{:>10}{ratio:10.2}", "")?;
        }
        writeln!(f, "\nverdict / jsonschema crate: {:.1}", self.verdict_over_jsonschema)?;
        writeln!(f, "verdict, a tenth of the packets faulty / clean: {:.2}", self.verdict_faulty_over_clean)?;
        writeln!(f, "verdict, two threads / one: {:.2}", self.verdict_two_threads_over_one)?;
        let rows = [
            ("memory of an open episode, bytes", self.bytes_per_open_episode, 0),
            ("memory of a closed episode, bytes", self.bytes_per_closed_episode, 0),
            ("allocations of a verdict", self.allocations_per_packet, 2),
            ("allocations of its facts", self.allocations_per_parse, 2),
        ];
        for (name, value, digits) in rows {
            match value {
                Some(value) => writeln!(f, "{name}: {value:.digits$}")?,
                None => writeln!(f, "{name}: not available on this system")?,
            }
        }
        Ok(())
    }
}
