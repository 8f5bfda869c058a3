//! Memory of an episode, while it is open and after it has ended.
//!
//! A separate process measures it, so that its memory contains nothing else. It counts resident pages rather than allocated
//! bytes, since pages are what a machine runs out of.

use std::process::Command;
use std::{env, fs};

use omen::{Finding, Validator};

use super::corpus::{Kind, Plan};
use crate::Failure;

/// Number of episodes that are open at the same time, or have ended.
const EPISODES: u64 = 100_000;

/// Returns the bytes of resident memory per episode; `None` if the system does not report memory.
pub(super) fn per_episode(seed: u64, kind: Kind) -> Result<Option<f64>, Failure> {
    if resident().is_none() {
        return Ok(None);
    }
    let flag = if kind == Kind::Open { "--child-open-episodes" } else { "--child-closed-episodes" };
    let output = Command::new(env::current_exe()?)
        .args(["bench", "--seed", &seed.to_string(), flag, &EPISODES.to_string()])
        .output()?;
    if !output.status.success() {
        return Err(
            format!("the process that measures memory failed: {}", String::from_utf8_lossy(&output.stderr)).into()
        );
    }
    let bytes: u64 = String::from_utf8(output.stdout)?.trim().parse()?;
    Ok(Some(bytes as f64 / EPISODES as f64))
}

/// Returns the growth of this process in bytes when it validates this many episodes of a kind.
pub(super) fn growth(seed: u64, kind: Kind, episodes: u64) -> Result<u64, Failure> {
    // Code and buffers are needed once, regardless of the number of episodes.
    drop(fed(seed, kind, WARM_UP)?);
    let before = resident().ok_or(UNKNOWN)?;
    let validator = fed(seed, kind, episodes)?;
    let after = resident().ok_or(UNKNOWN)?;
    drop(validator);
    Ok(after.saturating_sub(before))
}

fn fed(seed: u64, kind: Kind, episodes: u64) -> Result<Validator, Failure> {
    let mut findings: Vec<Finding> = Vec::new();
    let mut validator = Validator::new(omen::ValidatorOptions::default());
    Plan { kind, ..Plan::new(seed, episodes) }.pieces(1, |line, _| {
        let Ok(()) = validator.feed(line, &mut findings);
    });
    match findings.first() {
        None => Ok(validator),
        Some(finding) => Err(format!("the episodes have a finding: {}", finding.diagnostic).into()),
    }
}

/// Returns the resident memory of this process in bytes, as reported by Linux.
pub(super) fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

const UNKNOWN: &str = "the system does not report the memory of a process";

const WARM_UP: u64 = 100;
