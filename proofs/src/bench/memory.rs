//! How much memory an open episode takes.
//!
//! A process of its own measures it, so that nothing else was ever in its memory; and it looks at the
//! resident pages, not at what was asked of the allocator, since pages are what a machine runs out of.

use std::process::Command;
use std::{env, fs};

use omen::{Finding, Validator};

use super::{Failure, corpus};

/// How many episodes are open at once.
const OPEN: u64 = 100_000;

/// Bytes of resident memory for an open episode; none where the system does not tell.
pub(super) fn per_open_episode(seed: u64) -> Result<Option<f64>, Failure> {
    if resident().is_none() {
        return Ok(None);
    }
    let output = Command::new(env::current_exe()?)
        .args(["bench", "--seed", &seed.to_string(), "--child-open-episodes", &OPEN.to_string()])
        .output()?;
    if !output.status.success() {
        return Err(format!("the measure of memory failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let bytes: u64 = String::from_utf8(output.stdout)?.trim().parse()?;
    Ok(Some(bytes as f64 / OPEN as f64))
}

/// By how many bytes this process grows when it takes in so many episodes that stay open.
pub(super) fn bytes_for_open(seed: u64, episodes: u64) -> Result<u64, Failure> {
    // What is needed but once, like code and buffers, is no matter of the number.
    drop(fed(seed, WARM_UP)?);
    let before = resident().ok_or(UNKNOWN)?;
    let validator = fed(seed, episodes)?;
    let after = resident().ok_or(UNKNOWN)?;
    drop(validator);
    Ok(after.saturating_sub(before))
}

fn fed(seed: u64, episodes: u64) -> Result<Validator, Failure> {
    let mut findings: Vec<Finding> = Vec::new();
    let mut validator = Validator::new(omen::ValidatorOptions::default());
    corpus::open_episodes(seed, episodes, |line| validator.feed(line, &mut findings));
    match findings.first() {
        None => Ok(validator),
        Some(finding) => Err(format!("the open episodes are not clean: {}", finding.diagnostic).into()),
    }
}

/// Bytes of this process that are in memory, as Linux tells them.
fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

const UNKNOWN: &str = "the system does not tell how much memory a process has";

const WARM_UP: u64 = 100;
