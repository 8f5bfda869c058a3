//! Amount of work, and summaries of many values.

use serde::{Deserialize, Serialize};

/// Number of packets per faulty packet, where the time to find a fault is measured.
pub(super) const FAULTY: u32 = 50;

/// Amount of work.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Seed of the packets.
    pub seed: u64,
    /// Number of rounds of the throughput measures; the report shows medians.
    pub rounds: u32,
    /// Number of episodes in the log.
    pub episodes: u64,
    /// Number of partitions.
    pub partitions: u16,
    /// Duration for which packets arrive at each rate.
    pub seconds: f64,
    /// Number of workers that are killed.
    pub kills: u32,
    /// Number of episodes that are open at the same time.
    pub open_episodes: u64,
}

/// Median and 99th percentile.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct Quantiles {
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
}

impl Quantiles {
    pub(super) fn new(mut all: Vec<f64>) -> Self {
        all.sort_unstable_by(f64::total_cmp);
        let at = |part: f64| {
            let at = (part * all.len() as f64).ceil() as usize;
            all.get(at.saturating_sub(1)).copied().unwrap_or(f64::NAN)
        };
        Self { p50: at(0.5), p99: at(0.99) }
    }
}
