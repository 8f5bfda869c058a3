//! Time, from outside.

use std::fmt::Debug;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tokio::runtime::Handle;

/// Returns the time. Nothing in the gate reads a clock by itself, except the timeouts of calls, which are
/// the runtime's.
pub trait GateClock: Debug + Send + Sync + 'static {
    /// The time of day: when grants and tokens expire, and what entries of the audit log carry. It may be set back;
    /// that revives nothing (D56).
    fn wall(&self) -> SystemTime;

    /// The time since some moment before the first call. It never goes back: breakers wait by it.
    fn monotonic(&self) -> Duration;
}

/// When the monotonic clock of this process was first asked.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The clocks of the machine are an episode's and the gate's.
pub use omen_types::time::SystemClock;

impl GateClock for SystemClock {
    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }

    fn monotonic(&self) -> Duration {
        START.elapsed()
    }
}

/// A clock that is set by hand, for tests and for replaying.
#[derive(Debug)]
pub struct ManualClock(Mutex<Reading>);

impl ManualClock {
    /// A clock that stands at a time.
    #[must_use]
    pub fn new(epoch: SystemTime) -> Self {
        Self(Mutex::new(Reading { wall: epoch, monotonic: Duration::ZERO }))
    }

    /// Lets time pass, on both clocks.
    pub fn advance(&self, by: Duration) {
        let mut reading = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Past the end of time, the time of day stands still.
        reading.wall = reading.wall.checked_add(by).unwrap_or(reading.wall);
        reading.monotonic = reading.monotonic.saturating_add(by);
    }

    /// Sets the time of day alone, forward or back, as an operator or a time server does.
    pub fn set_wall(&self, to: SystemTime) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).wall = to;
    }

    fn reading(&self) -> Reading {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GateClock for ManualClock {
    fn wall(&self) -> SystemTime {
        self.reading().wall
    }

    fn monotonic(&self) -> Duration {
        self.reading().monotonic
    }
}

/// What both clocks showed at one moment.
#[derive(Clone, Copy, Debug)]
struct Reading {
    wall: SystemTime,
    monotonic: Duration,
}

impl Reading {
    fn of(clock: &dyn GateClock) -> Self {
        Self { wall: clock.wall(), monotonic: clock.monotonic() }
    }
}

/// The time by which things expire (D56): the later of what the two clocks say.
///
/// INVARIANT: neither of its times goes back or goes slower than the monotonic clock of the clock below. So what has
/// expired once stays so, and setting the time of day back makes nothing last longer. What an operator has set too far
/// ahead, it keeps until the process begins anew, and longer if the audit log has an entry of that time.
#[derive(Debug)]
pub struct Ratchet {
    clock: Arc<dyn GateClock>,
    state: Mutex<Passed>,
}

#[derive(Clone, Copy, Debug)]
struct Passed {
    /// What the clock showed last.
    seen: Reading,
    /// The latest time of day.
    latest: SystemTime,
    /// What has passed since the beginning, by whichever clock has gone further from one reading to the next.
    elapsed: Duration,
}

impl Ratchet {
    /// The ratchet over a clock.
    pub fn over(clock: Arc<dyn GateClock>) -> Arc<Self> {
        Self::not_before(clock, None)
    }

    /// As [`over`](Self::over), with a time of day that has been reached before, whatever the clock shows now.
    pub fn not_before(clock: Arc<dyn GateClock>, reached: Option<SystemTime>) -> Arc<Self> {
        let seen = Reading::of(clock.as_ref());
        let latest = reached.map_or(seen.wall, |reached| reached.max(seen.wall));
        let state = Mutex::new(Passed { seen, latest, elapsed: Duration::ZERO });
        Arc::new(Self { clock, state })
    }

    /// What has passed, for what lasts so long from now on.
    pub fn elapsed(&self) -> Duration {
        self.read().elapsed
    }

    fn read(&self) -> Passed {
        // With the lock held, so that no reading overtakes the one before it.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Passed { seen, latest, elapsed } = *state;
        let now = Reading::of(self.clock.as_ref());
        let by_monotonic = now.monotonic.saturating_sub(seen.monotonic);
        let by_wall = now.wall.duration_since(seen.wall).unwrap_or_default();
        *state = Passed {
            seen: Reading { wall: now.wall, monotonic: now.monotonic.max(seen.monotonic) },
            latest: latest.checked_add(by_monotonic).unwrap_or(latest).max(now.wall),
            elapsed: elapsed.saturating_add(by_monotonic.max(by_wall)),
        };
        *state
    }
}

impl GateClock for Ratchet {
    fn wall(&self) -> SystemTime {
        self.read().latest
    }

    fn monotonic(&self) -> Duration {
        self.read().seen.monotonic
    }
}

/// Waits until a time of day is reached, or until so much of the runtime's time has passed as was left at first. The clock
/// is read again in between, for it may be set forward.
pub async fn reached(clock: &dyn GateClock, time: SystemTime) {
    if Handle::try_current().is_err() {
        // Outside of a runtime nothing can be waited for, and nothing is called.
        return std::future::pending().await;
    }
    let left = |now: SystemTime| time.duration_since(now).unwrap_or_default();
    let Some(end) = tokio::time::Instant::now().checked_add(left(clock.wall())) else {
        return std::future::pending().await;
    };
    while !left(clock.wall()).is_zero() && tokio::time::Instant::now() < end {
        let next = tokio::time::Instant::now() + left(clock.wall()).min(AGAIN);
        tokio::time::sleep_until(next.min(end)).await;
    }
}

/// How soon it is noticed that the time of day was set forward.
const AGAIN: Duration = Duration::from_secs(1);

/// The time of day as logs and reports write it, to whole seconds, rounded down. Times before 1970 are
/// written as 1970: no clock that is set gives one.
pub fn instant(time: SystemTime) -> omen_types::Instant {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    omen_types::Instant::default().plus_seconds(since.as_secs())
}
