//! Time, from outside.

use std::fmt::Debug;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Tells the time. Nothing in the gate reads a clock by itself, but for the timeouts of calls, which are
/// the runtime's.
pub trait Clock: Debug + Send + Sync + 'static {
    /// The time of day: when grants and confirmations expire, and what entries of the audit log carry.
    fn wall(&self) -> SystemTime;

    /// The time since some moment before the first call. It never goes back: breakers wait by it.
    fn monotonic(&self) -> Duration;
}

/// When the monotonic clock of this process was first asked.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The clocks of the machine are an episode's and the gate's.
pub use omen_fsm::episode::SystemClock;

impl Clock for SystemClock {
    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }

    fn monotonic(&self) -> Duration {
        START.elapsed()
    }
}

/// A clock that is set by hand, for tests and for replaying.
#[derive(Debug)]
pub struct ManualClock {
    epoch: SystemTime,
    passed: Mutex<Duration>,
}

impl ManualClock {
    /// A clock that stands at a time.
    #[must_use]
    pub fn new(epoch: SystemTime) -> Self {
        Self { epoch, passed: Mutex::default() }
    }

    /// Lets time pass.
    pub fn advance(&self, by: Duration) {
        let mut passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        *passed = passed.saturating_add(by);
    }

    fn passed(&self) -> Duration {
        *self.passed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn wall(&self) -> SystemTime {
        // Past the end of time, it stands still.
        self.epoch.checked_add(self.passed()).unwrap_or(self.epoch)
    }

    fn monotonic(&self) -> Duration {
        self.passed()
    }
}

/// The time of day as logs and reports write it, to whole seconds, rounded down. Times before 1970 are
/// written as 1970: no clock that is set gives one.
pub(crate) fn instant(time: SystemTime) -> omen_types::Instant {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    omen_types::Instant::default().plus_seconds(since.as_secs())
}
