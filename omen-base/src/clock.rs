//! Injected clocks.

use std::fmt::Debug;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant, SystemTime};

use crate::lock::Mutex;

use tokio::runtime::Handle;

/// Gate clock. The gate reads no other clock, except for call timeouts, which use the runtime's.
pub trait GateClock: Debug + Send + Sync + 'static {
    /// Returns the time of day, for the expiry of grants and tokens and for audit log entries. The time of day may be
    /// set back; that does not restore anything that has expired (D56).
    fn wall(&self) -> SystemTime;

    /// Returns the time since a fixed moment before the first call. It never goes back; breakers use it.
    fn monotonic(&self) -> Duration;
}

/// First use of the monotonic clock in this process.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// System clock, shared by episodes and the gate.
pub use omen_types::time::SystemClock;

impl GateClock for SystemClock {
    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }

    fn monotonic(&self) -> Duration {
        START.elapsed()
    }
}

/// Clock that is set manually, for tests and replays.
#[derive(Debug)]
pub struct ManualClock(Mutex<ClockReading>);

impl ManualClock {
    /// Creates a clock that shows the given time.
    #[must_use]
    pub fn new(epoch: SystemTime) -> Self {
        Self(Mutex::new(ClockReading { wall: epoch, monotonic: Duration::ZERO }))
    }

    /// Advances both clocks.
    pub fn advance(&self, by: Duration) {
        let mut reading = self.0.lock();
        // Saturates at the last representable time of day.
        reading.wall = reading.wall.checked_add(by).unwrap_or(reading.wall);
        reading.monotonic = reading.monotonic.saturating_add(by);
    }

    /// Sets only the time of day, forward or back, as an operator or a time server does.
    pub fn set_wall(&self, to: SystemTime) {
        self.0.lock().wall = to;
    }

    fn reading(&self) -> ClockReading {
        *self.0.lock()
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

/// Readings of both clocks at the same moment.
#[derive(Clone, Copy, Debug)]
struct ClockReading {
    wall: SystemTime,
    monotonic: Duration,
}

impl ClockReading {
    fn now(clock: &dyn GateClock) -> Self {
        Self { wall: clock.wall(), monotonic: clock.monotonic() }
    }
}

/// Monotonic clock for expiry: the later of the two clocks (D56).
///
/// INVARIANT: neither of its times goes back or runs slower than the monotonic clock of the underlying clock. Anything
/// expired therefore stays expired, and setting the time of day back extends nothing. A time set too far ahead stays
/// until the process restarts, or longer if the audit log has an entry with that time.
#[derive(Debug)]
pub struct Ratchet {
    clock: Arc<dyn GateClock>,
    state: Mutex<RatchetState>,
}

#[derive(Clone, Copy, Debug)]
struct RatchetState {
    /// Last reading of the underlying clock.
    seen: ClockReading,
    /// Latest time of day.
    latest: SystemTime,
    /// Elapsed time: the sum, over all readings, of the larger advance of the two clocks since the previous reading.
    elapsed: Duration,
}

impl Ratchet {
    /// Creates a ratchet over a clock.
    pub fn over(clock: Arc<dyn GateClock>) -> Arc<Self> {
        Self::not_before(clock, None)
    }

    /// Creates a ratchet whose time of day starts no earlier than `reached`, whatever the clock shows now.
    pub fn not_before(clock: Arc<dyn GateClock>, reached: Option<SystemTime>) -> Arc<Self> {
        let seen = ClockReading::now(clock.as_ref());
        let latest = reached.map_or(seen.wall, |reached| reached.max(seen.wall));
        let state = Mutex::new(RatchetState { seen, latest, elapsed: Duration::ZERO });
        Arc::new(Self { clock, state })
    }

    /// Returns the elapsed time, for durations that start now.
    pub fn elapsed(&self) -> Duration {
        self.read().elapsed
    }

    fn read(&self) -> RatchetState {
        // Read with the lock held, so that readings stay in order.
        let mut state = self.state.lock();
        let RatchetState { seen, latest, elapsed } = *state;
        let now = ClockReading::now(self.clock.as_ref());
        let by_monotonic = now.monotonic.saturating_sub(seen.monotonic);
        let by_wall = now.wall.duration_since(seen.wall).unwrap_or_default();
        *state = RatchetState {
            seen: ClockReading { wall: now.wall, monotonic: now.monotonic.max(seen.monotonic) },
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

/// Waits until a time of day is reached, or until the duration that remained initially has passed in the runtime's
/// time. The clock is read repeatedly, because it may be set forward.
pub async fn reached(clock: &dyn GateClock, time: SystemTime) {
    if Handle::try_current().is_err() {
        // Without a runtime, waiting is impossible, and no tool is called.
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

/// Interval for rereading the time of day.
const AGAIN: Duration = Duration::from_secs(1);

/// Returns the time of day for logs and reports, rounded down to whole seconds. Times before 1970 become 1970, because
/// no correctly set clock shows them.
pub fn instant(time: SystemTime) -> omen_types::Instant {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    omen_types::Instant::default().plus_seconds(since.as_secs())
}
