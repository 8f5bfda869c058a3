//! Scaling of validation: its speed by the number of episodes, and by how many of them are interleaved.
//!
//! A log is generated in pieces, and only their validation is timed, so that a log of 10 GB needs no more memory than the
//! validator does. Each piece is also skipped, so that other load on the machine affects both equally.

use std::fmt;
use std::time::{Duration, Instant};

use omen::{Validator, ValidatorOptions};
use serde::Serialize;

use super::corpus::Plan;
use super::measure::{Nowhere, skip};
use crate::Failure;

/// Sizes of a log.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Number of episodes.
    pub episodes: u64,
    /// Number of episodes that are written at a time.
    pub interleaved: usize,
}

/// Growing numbers of episodes, then growing numbers of interleaved ones.
pub const SIZES: &[Size] = &[
    Size { episodes: 10_000, interleaved: 2_000 },
    Size { episodes: 100_000, interleaved: 2_000 },
    Size { episodes: 1_000_000, interleaved: 2_000 },
    Size { episodes: 150_000, interleaved: 1 },
    Size { episodes: 150_000, interleaved: 1_000 },
    Size { episodes: 150_000, interleaved: 100_000 },
];

/// Result, with one row per size.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The rows.
    pub scaling: Vec<Row>,
}

/// Speed for one size.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Row {
    /// Number of episodes.
    pub episodes: u64,
    /// Number of episodes that are written at a time.
    pub interleaved: usize,
    /// Number of lines.
    pub packets: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// Speed of the validator. A megabyte is 10^6 bytes.
    pub verdict_mb_s: f64,
    /// `verdict_mb_s` divided by the speed of skipping.
    pub verdict_over_skip: f64,
}

/// Measures each size once.
///
/// # Errors
/// If a packet is rejected.
pub fn run(seed: u64, sizes: &[Size]) -> Result<Report, Failure> {
    Ok(Report { scaling: sizes.iter().map(|size| row(seed, *size)).collect::<Result<_, _>>()? })
}

fn row(seed: u64, size: Size) -> Result<Row, Failure> {
    let Size { episodes, interleaved } = size;
    let (mut verdict, mut skipped) = (Duration::ZERO, Duration::ZERO);
    let (mut packets, mut unread) = (0, 0);
    let mut validator = Validator::new(ValidatorOptions::default());
    Plan { interleaved, ..Plan::new(seed, episodes) }.pieces(PIECE, |piece, count| {
        packets += count;
        let begun = Instant::now();
        unread += skip(piece);
        skipped += begun.elapsed();
        let begun = Instant::now();
        let Ok(()) = validator.feed(piece, &mut Nowhere);
        verdict += begun.elapsed();
    });
    let begun = Instant::now();
    let Ok(summary) = validator.finish(&mut Nowhere);
    verdict += begun.elapsed();
    if summary.accepted != packets || unread > 0 {
        return Err(format!("the log is not clean: {unread} unreadable lines, {summary:?}").into());
    }
    Ok(Row {
        episodes,
        interleaved,
        packets,
        bytes: summary.bytes,
        verdict_mb_s: summary.bytes as f64 / 1e6 / verdict.as_secs_f64(),
        verdict_over_skip: skipped.as_secs_f64() / verdict.as_secs_f64(),
    })
}

/// Size of a piece in bytes: more than a processor's caches hold.
const PIECE: usize = 64_000_000;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:>10}{:>12}{:>12}{:>10}{:>14}{:>10}",
            "episodes", "at a time", "packets", "MB", "verdict MB/s", "of skip"
        )?;
        self.scaling.iter().try_for_each(|row| {
            let Row { episodes, interleaved, packets, bytes, verdict_mb_s, verdict_over_skip } = row;
            let megabytes = *bytes as f64 / 1e6;
            writeln!(
                f,
                "{episodes:10}{interleaved:12}{packets:12}{megabytes:10.0}{verdict_mb_s:14.1}{verdict_over_skip:10.2}"
            )
        })
    }
}
