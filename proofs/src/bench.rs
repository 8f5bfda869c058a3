//! The benchmarks: the speed of validation compared with that of skipping a log, and the cost of the typed API and the gate.
//!
//! All measurements run in one process and one thread, on one corpus that a seed generates. They alternate round by round, so
//! that other load on the machine affects all of them alike. Only ratios within one run are comparable.

use std::process::ExitCode;
use std::{fmt, io};

use serde::Serialize;

mod agent;
pub mod corpus;
pub mod episode;
pub mod gate;
mod measure;
mod memory;
mod samples;

use corpus::Corpus;
use measure::Measure;
use samples::Samples;

/// Why a benchmark cannot run.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What to measure.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Measure the cost of the gate: calls, the audit log, and its verification
    #[arg(long)]
    gate: bool,
    /// Measure the cost of the typed API: packets, leases of tasks, and dropping an episode
    #[arg(long, conflicts_with = "gate")]
    episode: bool,
    /// Write one JSON object instead of a table
    #[arg(long)]
    json: bool,
    /// Number of rounds; the report shows medians
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Number of episodes in the corpus; about 10 kB each
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    episodes: u64,
    /// Seed of the corpus
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Measure the memory of this many open episodes in this process
    #[arg(long, hide = true)]
    child_open_episodes: Option<u64>,
}

/// The result. A megabyte is 10^6 bytes.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Each line skipped: `serde_json` with `IgnoredAny`.
    pub skip_mb_s: f64,
    /// Each line to a [`omen_types::Packet`].
    pub typed_mb_s: f64,
    /// The whole log through [`omen::Validator`].
    pub verdict_mb_s: f64,
    /// The target.
    pub verdict_over_skip: f64,
    /// The same with the members of all objects shuffled.
    pub verdict_shuffled_over_skip: f64,
    /// Compared with the `jsonschema` crate, which checks only the schema.
    pub verdict_over_jsonschema: f64,
    /// Memory of the validator for each open episode; none if the system does not report memory.
    pub bytes_per_open_episode: Option<f64>,
    /// Each line to a [`serde_json::Value`].
    pub value_mb_s: f64,
    /// Each line to a value, which the `jsonschema` crate checks.
    pub jsonschema_mb_s: f64,
    /// As `verdict_over_skip`, for the typed packets.
    pub typed_over_skip: f64,
    /// Size of the corpus.
    pub corpus_bytes: usize,
    /// Lines of the corpus.
    pub packets: u64,
    /// Episodes of the corpus.
    pub episodes: u64,
    /// Number of measurements of each kind.
    pub rounds: u32,
    /// Seed of the corpus.
    pub seed: u64,
}

/// Runs the benchmark and writes its report.
///
/// # Errors
/// If it was built without optimisations, if the corpus has findings, or if a child process fails.
pub fn command(options: &Options, out: &mut impl io::Write) -> Result<ExitCode, Failure> {
    if cfg!(debug_assertions) {
        return Err("the benchmark was built without optimisations; run `cargo xtask bench`".into());
    }
    if let Some(episodes) = options.child_open_episodes {
        writeln!(out, "{}", memory::bytes_for_open(options.seed, episodes)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    if options.gate {
        let counts = gate::Counts { rounds: options.rounds, ..gate::Counts::default() };
        return show(&gate::run(&counts)?, options.json, out);
    }
    if options.episode {
        let counts = episode::Counts { rounds: options.rounds, ..episode::Counts::default() };
        return show(&episode::run(&counts)?, options.json, out);
    }
    show(&run(options)?, options.json, out)
}

fn show(report: &(impl Serialize + fmt::Display), json: bool, out: &mut impl io::Write) -> Result<ExitCode, Failure> {
    if json {
        serde_json::to_writer(&mut *out, report)?;
        writeln!(out)?;
    } else {
        write!(out, "{report}")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn run(options: &Options) -> Result<Report, Failure> {
    let Options { rounds, episodes, seed, .. } = *options;
    let bytes_per_open_episode = memory::per_open_episode(seed)?;
    let corpus = Corpus::generate(seed, episodes, false);
    let shuffled = Corpus::generate(seed, episodes, true);
    measure::clean(&corpus)?;
    measure::clean(&shuffled)?;
    let speeds = measure::speeds(&corpus, &shuffled, rounds)?;
    let speed = |measure| speeds.median(measure);
    let ratio = |measure, base| speeds.ratio(measure, base);
    Ok(Report {
        skip_mb_s: speed(Measure::Skip),
        typed_mb_s: speed(Measure::Typed),
        verdict_mb_s: speed(Measure::Verdict),
        verdict_over_skip: ratio(Measure::Verdict, Measure::Skip),
        verdict_shuffled_over_skip: ratio(Measure::ShuffledVerdict, Measure::ShuffledSkip),
        verdict_over_jsonschema: ratio(Measure::Verdict, Measure::JsonSchema),
        bytes_per_open_episode,
        value_mb_s: speed(Measure::Value),
        jsonschema_mb_s: speed(Measure::JsonSchema),
        typed_over_skip: ratio(Measure::Typed, Measure::Skip),
        corpus_bytes: corpus.bytes.len(),
        packets: corpus.packets,
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
            ("verdict", self.verdict_mb_s),
            ("jsonschema crate", self.jsonschema_mb_s),
        ];
        for (name, speed) in rows {
            writeln!(f, "{name:34}{speed:10.1}{:10.2}", speed / self.skip_mb_s)?;
        }
        writeln!(f, "{:34}{:>10}{:10.2}", "verdict, members shuffled", "", self.verdict_shuffled_over_skip)?;
        writeln!(f, "\nverdict / jsonschema crate: {:.1}", self.verdict_over_jsonschema)?;
        match self.bytes_per_open_episode {
            Some(bytes) => writeln!(f, "memory of an open episode: {bytes:.0} bytes"),
            None => writeln!(f, "memory of an open episode: not available on this system"),
        }
    }
}
