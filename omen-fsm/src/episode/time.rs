//! The clock of an episode.

use std::time::SystemTime;

use omen_types::Instant;

/// The source of the time in packets. No rule reads a clock.
pub trait TimeSource: Send + Sync + 'static {
    /// Returns the current time.
    fn now(&self) -> Instant;
}

impl<F: Fn() -> Instant + Send + Sync + 'static> TimeSource for F {
    fn now(&self) -> Instant {
        self()
    }
}

/// The system clock.
///
/// ```
/// use omen_fsm::episode::{SystemClock, TimeSource};
///
/// let before = std::time::SystemTime::now();
/// assert!(SystemClock::default().now() >= before.into());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock(());

impl TimeSource for SystemClock {
    fn now(&self) -> Instant {
        SystemTime::now().into()
    }
}
