//! Clock of an episode.

use std::time::SystemTime;

use omen_types::Instant;
pub use omen_types::time::SystemClock;

/// Source of the time in packets. No rule reads a clock.
pub trait TimeSource: Send + Sync + 'static {
    /// Returns the current time.
    fn now(&self) -> Instant;
}

impl<F: Fn() -> Instant + Send + Sync + 'static> TimeSource for F {
    fn now(&self) -> Instant {
        self()
    }
}

impl TimeSource for SystemClock {
    fn now(&self) -> Instant {
        SystemTime::now().into()
    }
}
