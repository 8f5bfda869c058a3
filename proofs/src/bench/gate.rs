//! Cost of the gate: a call without the time of its tool, an entry of the audit log, and its verification.
//!
//! Each measure is compared, in the same round, with the same work without the gate: the tool's function called directly, a
//! line of JSON written to a file, or a log whose JSON is skipped.

use std::fmt;

use serde::Serialize;

mod calls;
mod log;

use super::Samples;
use crate::Failure;
use calls::{Measure, STEPS};

/// Amount of work.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Number of rounds; the report shows medians.
    pub rounds: u32,
    /// Number of calls per round and measure.
    pub calls: u32,
    /// Number of audit log entries per round and measure.
    pub entries: u32,
    /// Number of individually synced entries per round and measure.
    pub synced: u32,
}

impl Default for Counts {
    fn default() -> Self {
        Self { rounds: 5, calls: 2_000, entries: 10_000, synced: 200 }
    }
}

/// Result: medians over the rounds; a ratio is the median of the ratios in each round. `_us` is microseconds per call, `_s` per
/// second.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// A request from `screen` to `ground`, with the audit log in memory.
    pub call_us: f64,
    /// The same, with the audit log in files that are not synced.
    pub call_files_us: f64,
    /// `gate.run` for a task of an episode, with the audit log in memory.
    pub task_us: f64,
    /// The same, with the audit log in files that are not synced.
    pub task_files_us: f64,
    /// The tool's function with its arguments and its result as JSON, without a gate.
    pub bare_us: f64,
    /// A call through the gate, with the log in memory, divided by the function alone.
    pub call_over_bare: f64,
    /// The steps of a call, in order, with the log in memory.
    pub steps: Vec<StepCost>,
    /// Entries appended in memory.
    pub appends_memory_s: f64,
    /// Entries appended to files that are not synced.
    pub appends_files_s: f64,
    /// Entries appended to files that are synced.
    pub appends_synced_s: f64,
    /// Lines of JSON of the same length, written to a file that is not synced.
    pub writes_s: f64,
    /// Lines of JSON of the same length, written to a file that is synced after each.
    pub writes_synced_s: f64,
    /// Appends with `sync_data` divided by appends without.
    pub synced_over_files: f64,
    /// Appends divided by writes, both without `sync_data`.
    pub appends_over_writes: f64,
    /// Appends divided by writes, both with `sync_data`. An append syncs twice: the entry, then the head record.
    pub synced_over_writes: f64,
    /// Synced appends from several threads in parallel.
    pub writers: Vec<WritersCost>,
    /// Entries verified.
    pub verified_s: f64,
    /// Entries whose JSON is skipped (`IgnoredAny`).
    pub skipped_s: f64,
    /// Verification divided by skipping.
    pub verified_over_skipped: f64,
    /// Size of an entry in bytes.
    pub entry_bytes: usize,
    /// Number of measurements of each kind.
    pub rounds: u32,
    /// Number of calls per round and measure.
    pub calls: u32,
    /// Number of entries per round and measure.
    pub entries: u32,
    /// Number of synced entries per round and measure.
    pub synced: u32,
}

/// Cost of a step of a call.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct StepCost {
    /// Method of the step.
    pub step: &'static str,
    /// Time in microseconds.
    pub us: f64,
}

/// Synced entries per second from several threads in parallel.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct WritersCost {
    /// Number of threads that append, each of which waits for its own entries.
    pub writers: u32,
    /// Entries appended.
    pub appends_s: f64,
    /// The same bytes, written and synced by as many threads.
    pub writes_s: f64,
    /// Appends divided by writes.
    pub appends_over_writes: f64,
}

/// Measures everything.
///
/// # Errors
/// If a call is refused, or if the files cannot be written.
pub fn run(counts: &Counts) -> Result<Report, Failure> {
    let Counts { rounds, calls, entries, synced } = *counts;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let mut samples = Samples::default();
    let mut entry_bytes = 0;
    for round in 0..rounds {
        runtime.block_on(calls::round(calls, &mut samples)).map_err(|error| format!("round {round}: {error}"))?;
        entry_bytes = log::round(entries, synced, &mut samples)?;
    }
    let of = |measure| samples.median(measure);
    let ratio = |measure, base| samples.ratio(measure, base);
    Ok(Report {
        call_us: of(Measure::Call),
        call_files_us: of(Measure::CallFiles),
        task_us: of(Measure::Task),
        task_files_us: of(Measure::TaskFiles),
        bare_us: of(Measure::Bare),
        call_over_bare: ratio(Measure::Call, Measure::Bare),
        steps: STEPS.iter().map(|step| StepCost { step, us: of(Measure::Step(step)) }).collect(),
        appends_memory_s: of(Measure::Append),
        appends_files_s: of(Measure::AppendFiles),
        appends_synced_s: of(Measure::AppendSynced),
        writes_s: of(Measure::Write),
        writes_synced_s: of(Measure::WriteSynced),
        synced_over_files: ratio(Measure::AppendSynced, Measure::AppendFiles),
        appends_over_writes: ratio(Measure::AppendFiles, Measure::Write),
        synced_over_writes: ratio(Measure::AppendSynced, Measure::WriteSynced),
        writers: log::WRITERS
            .map(|writers| WritersCost {
                writers,
                appends_s: of(Measure::AppendBy(writers)),
                writes_s: of(Measure::WriteBy(writers)),
                appends_over_writes: ratio(Measure::AppendBy(writers), Measure::WriteBy(writers)),
            })
            .to_vec(),
        verified_s: of(Measure::Verify),
        skipped_s: of(Measure::Skip),
        verified_over_skipped: ratio(Measure::Verify, Measure::Skip),
        entry_bytes,
        rounds,
        calls,
        entries,
        synced,
    })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rounds, calls, entries, synced, entry_bytes, .. } = self;
        writeln!(
            f,
            "medians of {rounds} rounds; a round has {calls} calls, {entries} entries of {entry_bytes} bytes,"
        )?;
        writeln!(f, "and {synced} synced ones for each measure. Files are in the system's temporary folder.\n")?;
        writeln!(f, "{:46}{:>10}", "a call, without the time of its tool", "µs")?;
        let rows = [
            ("screen to ground, log in memory", self.call_us),
            ("screen to ground, log in files, no sync", self.call_files_us),
            ("gate.run of a task, log in memory", self.task_us),
            ("gate.run of a task, log in files, no sync", self.task_files_us),
            ("the tool's function alone", self.bare_us),
        ];
        rows.iter().try_for_each(|(name, us)| writeln!(f, "  {name:44}{us:10.1}"))?;
        writeln!(f, "of which, with the log in memory")?;
        self.steps.iter().try_for_each(|StepCost { step, us }| writeln!(f, "  {step:44}{us:10.1}"))?;
        writeln!(f, "\n{:46}{:>10}", "the audit log", "a second")?;
        let rows = [
            ("appends, in memory", self.appends_memory_s),
            ("appends, in files, no sync", self.appends_files_s),
            ("appends, in files, sync_data", self.appends_synced_s),
            ("bare writes of JSON, no sync", self.writes_s),
            ("bare writes of JSON, sync_data", self.writes_synced_s),
            ("entries verified", self.verified_s),
            ("entries skipped (serde_json, IgnoredAny)", self.skipped_s),
        ];
        rows.iter().try_for_each(|(name, rate)| writeln!(f, "  {name:44}{rate:10.0}"))?;
        writeln!(f, "\n{:46}{:>10}{:>10}{:>10}", "synced by threads at once, a second", "appends", "bare", "ratio")?;
        self.writers.iter().try_for_each(|WritersCost { writers, appends_s, writes_s, appends_over_writes }| {
            writeln!(f, "  {writers:<44}{appends_s:10.0}{writes_s:10.0}{appends_over_writes:10.3}")
        })?;
        writeln!(f, "\n{:46}{:>10}", "ratios within a round", "")?;
        let rows = [
            ("a call's time / the function's alone", self.call_over_bare),
            ("appends with sync_data / without", self.synced_over_files),
            ("appends / bare writes, no sync", self.appends_over_writes),
            ("appends / bare writes, sync_data", self.synced_over_writes),
            ("verified / skipped", self.verified_over_skipped),
        ];
        rows.iter().try_for_each(|(name, ratio)| writeln!(f, "  {name:44}{ratio:10.3}"))
    }
}
