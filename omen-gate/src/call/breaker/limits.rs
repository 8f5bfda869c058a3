//! Breaker limits.

use std::num::NonZeroU32;
use std::time::Duration;

/// Breaker limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerLimits {
    /// Number of consecutive failures that opens a breaker.
    pub failures: NonZeroU32,
    /// Time from opening until a probe is let through.
    pub cooldown: Duration,
}
