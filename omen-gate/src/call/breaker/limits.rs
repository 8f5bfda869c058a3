//! When breakers open.

use std::num::NonZeroU32;
use std::time::Duration;

/// When breakers open, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerLimits {
    /// How many failures in a row open a breaker.
    pub failures: NonZeroU32,
    /// How long it stays open before a probe is let through.
    pub cooldown: Duration,
}
