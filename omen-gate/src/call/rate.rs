//! Rate limits: calls to a tool within a sliding window.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use omen_base::Mutex;

use crate::base::{Blocked, GateClock, GateCode, ToolId};

/// Rate limit, such as `10/min`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    calls: NonZeroU32,
    window: Duration,
}

/// Error for an invalid limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a number of calls from 1 to {MAX_CALLS}, a `/`, and a time of at most a day: `10/min`, `3/30s`, `100/day`"
)]
pub struct BadRate;

/// Maximum number of calls in a limit, and of calls remembered per tool.
pub(crate) const MAX_CALLS: u32 = 1000;
/// Maximum window length of a limit.
pub(crate) const MAX_WINDOW: Duration = Duration::from_secs(86_400);

impl Rate {
    /// Creates a limit on the number of calls within a window.
    ///
    /// # Errors
    /// If the limit allows more than 1000 calls, or the window is zero or longer than a day.
    pub fn new(calls: NonZeroU32, window: Duration) -> Result<Self, BadRate> {
        let is_right = calls.get() <= MAX_CALLS && !window.is_zero() && window <= MAX_WINDOW;
        is_right.then_some(Self { calls, window }).ok_or(BadRate)
    }
}

impl Rate {
    /// Returns the number of calls allowed in a window.
    #[must_use]
    pub fn calls(self) -> u32 {
        self.calls.get()
    }

    /// Returns the length of the window.
    #[must_use]
    pub fn window(self) -> Duration {
        self.window
    }
}

impl FromStr for Rate {
    type Err = BadRate;

    fn from_str(text: &str) -> Result<Self, BadRate> {
        let (calls, time) = text.split_once('/').ok_or(BadRate)?;
        let plain = |digits: &str| {
            let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
            is_plain.then(|| digits.parse::<NonZeroU32>().ok()).flatten().ok_or(BadRate)
        };
        let end = time.find(|c: char| !c.is_ascii_digit()).ok_or(BadRate)?;
        let (count, unit) = time.split_at(end);
        let count = if count.is_empty() { 1 } else { plain(count)?.get() };
        let (_, seconds) = UNITS.iter().find(|(name, _)| *name == unit).ok_or(BadRate)?;
        Self::new(plain(calls)?, Duration::from_secs(u64::from(count) * seconds))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.window.as_secs();
        // The longest unit that divides the window evenly.
        let fits = UNITS.iter().rev().find(|(_, unit)| seconds.is_multiple_of(*unit));
        let (name, unit) = fits.copied().unwrap_or(("s", 1));
        match seconds / unit {
            1 => write!(f, "{}/{name}", self.calls),
            count => write!(f, "{}/{count}{name}", self.calls),
        }
    }
}

/// Units for windows, in seconds.
const UNITS: [(&str, u64); 4] = [("s", 1), ("min", 60), ("h", 3600), ("day", 86_400)];

/// Times of each tool's calls. Every call with an intent in the log counts, even if it was stopped right after, so the
/// state read back from the log after a restart is the same.
#[derive(Debug)]
pub(crate) struct Rates {
    clock: Arc<dyn GateClock>,
    calls: Mutex<BTreeMap<ToolId, VecDeque<Duration>>>,
}

/// Counted call. Dropping the guard discards the count unless it was kept.
#[derive(Debug)]
#[must_use = "the call is not counted if this is dropped"]
pub(crate) struct CountGuard<'r> {
    rates: &'r Rates,
    tool: ToolId,
    at: Option<Duration>,
}

impl Rates {
    pub(crate) fn new(clock: Arc<dyn GateClock>) -> Self {
        Self { clock, calls: Mutex::default() }
    }

    /// Counts a call made `age` ago, before a restart.
    pub(crate) fn restore(&self, tool: ToolId, age: Duration) {
        // No window extends back before the start of the clock, so older calls do not count.
        let Some(at) = self.now().checked_sub(age) else { return };
        self.calls.lock().entry(tool).or_default().push_back(at);
    }

    /// Checks whether a call could be made now.
    pub(crate) fn look(&self, tool: &ToolId, rate: Option<Rate>) -> Result<(), Blocked> {
        let calls = self.calls.lock();
        let now = self.now();
        match (rate, calls.get(tool)) {
            (Some(rate), Some(made)) => room(tool, rate, made, now),
            _ => Ok(()),
        }
    }

    /// Counts a call and checks the limit, atomically. A call over the limit also counts until the returned guard is dropped.
    pub(crate) fn take(&self, tool: &ToolId, rate: Option<Rate>) -> (CountGuard<'_>, Result<(), Blocked>) {
        let mut calls = self.calls.lock();
        let now = self.now();
        let made = calls.entry(tool.clone()).or_default();
        let verdict = rate.map_or(Ok(()), |rate| room(tool, rate, made, now));
        made.push_back(now);
        while made.len() > MAX_CALLS as usize
            || made.front().is_some_and(|first| now.saturating_sub(*first) >= MAX_WINDOW)
        {
            made.pop_front();
        }
        drop(calls);
        (CountGuard { rates: self, tool: tool.clone(), at: Some(now) }, verdict)
    }

    /// Returns the time plus one maximum window, so that calls from before the process started have a time too.
    fn now(&self) -> Duration {
        self.clock.monotonic().saturating_add(MAX_WINDOW)
    }
}

/// Checks that one more call stays within the limit.
fn room(tool: &ToolId, rate: Rate, made: &VecDeque<Duration>, now: Duration) -> Result<(), Blocked> {
    // The call that must leave the window first.
    let before = made.len().checked_sub(rate.calls.get() as usize).and_then(|index| made.get(index));
    let left = before.map(|at| at.saturating_add(rate.window).saturating_sub(now)).unwrap_or_default();
    if left.is_zero() {
        return Ok(());
    }
    let s = if rate.calls.get() == 1 { "" } else { "s" };
    let message = format!("`{tool}` had {} call{s} within the window of its limit, `max = \"{rate}\"`", rate.calls);
    // Rounded up, because a fraction of a second must be waited for too.
    let seconds = left.as_secs() + u64::from(left.subsec_nanos() > 0);
    Err(Blocked::new(
        GateCode::Pg3,
        message,
        format!("try again in {seconds} s, or ask the operator for a higher limit"),
    ))
}

impl CountGuard<'_> {
    pub(crate) fn keep(mut self) {
        self.at = None;
    }
}

impl Drop for CountGuard<'_> {
    fn drop(&mut self) {
        let Some(at) = self.at else { return };
        if let Some(made) = self.rates.calls.lock().get_mut(&self.tool)
            && let Some(index) = made.iter().rposition(|made| *made == at)
        {
            made.remove(index);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{BadRate, Rate};

    #[test]
    fn limits_are_read_and_shown() {
        for (text, shown) in [
            ("10/min", "10/min"),
            ("1/s", "1/s"),
            ("3/30s", "3/30s"),
            ("3/90s", "3/90s"),
            ("3/120s", "3/2min"),
            ("100/day", "100/day"),
            ("1000/24h", "1000/day"),
        ] {
            assert_eq!(text.parse::<Rate>().unwrap().to_string(), shown);
        }
        for text in [
            "",
            "10",
            "10/",
            "/min",
            "0/min",
            "01/min",
            "-1/min",
            "+1/min",
            "1.5/min",
            "1001/min",
            "1/week",
            "1/0s",
            "1/2day",
            "1/ min",
            "1/min ",
            "1/MIN",
            "1/99999999999s",
        ] {
            assert_eq!(text.parse::<Rate>(), Err(BadRate), "{text}");
        }
    }
}
