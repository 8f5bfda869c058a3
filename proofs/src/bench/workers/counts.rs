//! Amount of work, and what is kept of many values.

use serde::{Deserialize, Serialize};

/// Packets per faulty packet, where the time to find a fault is measured.
pub(super) const FAULTY: u32 = 50;

/// The amount of work.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Seed of the packets.
    pub seed: u64,
    /// Rounds of the measures of throughput; the report shows medians.
    pub rounds: u32,
    /// Episodes of the log.
    pub episodes: u64,
    /// How many partitions there are.
    pub partitions: u16,
    /// How long packets come at each rate.
    pub seconds: f64,
    /// How many workers are killed.
    pub kills: u32,
    /// Episodes that are open at once.
    pub open_episodes: u64,
}

/// The median and the 99th percentile.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct Quantiles {
    /// Half of the values are no larger.
    pub p50: f64,
    /// 99 of a hundred values are no larger.
    pub p99: f64,
}

impl Quantiles {
    pub(super) fn of(mut all: Vec<f64>) -> Self {
        all.sort_unstable_by(f64::total_cmp);
        let at = |part: f64| {
            let at = (part * all.len() as f64).ceil() as usize;
            all.get(at.saturating_sub(1)).copied().unwrap_or(f64::NAN)
        };
        Self { p50: at(0.5), p99: at(0.99) }
    }
}
