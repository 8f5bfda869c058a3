//! Allocations by validation and by the typed API.
//!
//! A counting allocator would slow down what is timed, so only a separate program has one; the benchmark starts it.

use std::process::Command;
use std::{env, io};

use omen_types::PacketFacts;
use serde::{Deserialize, Serialize};

use super::corpus::{Corpus, Form};
use super::episode;
use super::measure::{Nowhere, lines};
use super::programs::environment;
use crate::Failure;

/// Average number of times that memory is allocated, grown or shrunk.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Allocations {
    /// To parse one line to its facts.
    pub per_parse: f64,
    /// To validate one line of a log.
    pub per_verdict: f64,
    /// To build, judge, write to memory and accept one packet of the typed API.
    pub per_step: f64,
    /// To write one packet as JSON.
    pub per_emit: f64,
    /// To write an equal hand-made struct as JSON.
    pub per_hand: f64,
}

/// Counts over this many episodes, in a log and in the typed API. `so_far` returns the number of allocations by this process.
///
/// # Errors
/// If the corpus or the episodes are not as expected.
pub fn count(episodes: u64, so_far: impl Fn() -> usize) -> Result<Allocations, Failure> {
    let corpus = Corpus::generate(SEED, episodes, Form::Compact);
    let per = |before: usize, packets: u64| so_far().saturating_sub(before) as f64 / packets as f64;

    let before = so_far();
    let mut parsed = 0;
    for line in lines(&corpus.bytes) {
        parsed += u64::from(PacketFacts::parse(str::from_utf8(line)?).is_ok());
    }
    let per_parse = per(before, parsed);

    let before = so_far();
    let mut validator = omen::Validator::new(omen::ValidatorOptions::default());
    let Ok(()) = validator.feed(&corpus.bytes, &mut Nowhere);
    let Ok(summary) = validator.finish(&mut Nowhere);
    let per_verdict = per(before, summary.packets);
    if parsed != corpus.packets || summary.accepted != corpus.packets {
        return Err(format!("the corpus is not clean: {summary:?}").into());
    }

    let before = so_far();
    let logs = episode::complete(episodes)?;
    let packets = logs.iter().map(|closed| closed.lines().len() as u64).sum();
    let per_step = per(before, packets);
    let written = episode::written(&logs)?;

    let before = so_far();
    written.iter().try_for_each(|(packet, _)| episode::emit(packet))?;
    let per_emit = per(before, packets);
    let before = so_far();
    written.iter().try_for_each(|(_, hand)| episode::emit(hand))?;
    Ok(Allocations { per_parse, per_verdict, per_step, per_emit, per_hand: per(before, packets) })
}

/// Measures the typed API and its allocations.
///
/// # Errors
/// If an episode does not end as expected, or a child process fails.
pub(super) fn of_the_typed_api(counts: &episode::Counts) -> Result<episode::Report, Failure> {
    let allocations: Option<Allocations> = counted()?;
    Ok(episode::Report {
        allocations_per_packet: allocations.map(|counts| counts.per_step),
        allocations_per_emit: allocations.map(|counts| counts.per_emit),
        allocations_per_hand: allocations.map(|counts| counts.per_hand),
        ..episode::run(counts)?
    })
}

/// Returns the counts of the program; `None` if there is no cargo to build it.
///
/// # Errors
/// If the program fails.
pub(super) fn counted() -> Result<Option<Allocations>, Failure> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let program = ["run", "--quiet", "--release", "--package", env!("CARGO_PKG_NAME"), "--bin", "allocations"];
    let mut command = Command::new(cargo);
    command.args(program).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = match environment::forget_package(&mut command).output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        output => output?,
    };
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("the program that counts allocations failed: {reason}").into());
    }
    Ok(Some(serde_json::from_slice(&output.stdout)?))
}

const SEED: u64 = 7;
