//! Limits of breakers.

use std::num::NonZeroU32;
use std::time::Duration;

/// Limits of breakers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerLimits {
    /// Consecutive failures that open a breaker.
    pub failures: NonZeroU32,
    /// Time from opening until a probe is let through.
    pub cooldown: Duration,
}
