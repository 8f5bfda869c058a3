//! State machine of one breaker.

use std::num::NonZeroU32;
use std::time::Duration;

use serde::Serialize;

/// Breaker limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerLimits {
    /// Number of consecutive failures that opens a breaker.
    pub failures: NonZeroU32,
    /// Time from opening until a probe is let through.
    pub cooldown: Duration,
}

/// Circuit breaker. Every state change begins a new generation; a call admitted in an earlier generation changes
/// nothing when it ends.
#[derive(Debug)]
pub(super) struct Breaker {
    state: State,
    generation: u64,
    /// Number of calls that have not ended, in all generations.
    under_way: u32,
}

#[derive(Debug)]
enum State {
    Closed { failures: u32 },
    Open { until: Duration },
    HalfOpen { probing: bool },
}

/// Public view of a breaker's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum BreakerState {
    /// Calls are let through.
    Closed {
        /// Number of consecutive failures.
        failures: u32,
    },
    /// No calls are let through.
    Open {
        /// Time until a probe is let through, in milliseconds.
        remaining_ms: u64,
    },
    /// One call is let through, as a probe.
    HalfOpen {
        /// Whether the probe is in progress.
        probing: bool,
    },
}

/// End of a call, as reported to its breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallEnd {
    Success,
    Failure,
    Unused,
}

/// Reason why a call is not admitted.
pub(super) struct NotAdmitted {
    pub(super) state: &'static str,
    pub(super) help: String,
}

impl Breaker {
    pub(super) fn new(generation: u64) -> Self {
        Self { state: State::Closed { failures: 0 }, generation, under_way: 0 }
    }

    /// Admits a call of the current generation.
    pub(super) fn admit(&mut self, now: Duration, last: &mut u64) -> Result<u64, NotAdmitted> {
        self.look(now)?;
        match &mut self.state {
            State::Closed { .. } => {}
            State::Open { .. } => self.change(State::HalfOpen { probing: true }, last),
            State::HalfOpen { probing } => *probing = true,
        }
        self.under_way += 1;
        Ok(self.generation)
    }

    /// Checks whether a call would be admitted now.
    pub(super) fn look(&self, now: Duration) -> Result<(), NotAdmitted> {
        match self.state {
            State::Closed { .. } | State::HalfOpen { probing: false } => Ok(()),
            State::Open { until } => {
                let remaining = until.saturating_sub(now);
                match remaining.is_zero() {
                    true => Ok(()),
                    false => Err(NotAdmitted {
                        state: "open",
                        help: format!("the next attempt is possible in {remaining:?}"),
                    }),
                }
            }
            State::HalfOpen { probing: true } => {
                let help = "one call is probing it; wait for that call to end".to_owned();
                Err(NotAdmitted { state: "half open, and its one probe is running", help })
            }
        }
    }

    /// Reports the end of a call.
    pub(super) fn resolve(
        &mut self,
        generation: u64,
        end: CallEnd,
        now: Duration,
        limits: BreakerLimits,
        last: &mut u64,
    ) {
        self.under_way = self.under_way.saturating_sub(1);
        if generation != self.generation {
            return;
        }
        match (&mut self.state, end) {
            (State::Closed { failures }, CallEnd::Success) => *failures = 0,
            (State::Closed { failures }, CallEnd::Failure) => {
                *failures += 1;
                if *failures >= limits.failures.get() {
                    self.change(State::Open { until: now.saturating_add(limits.cooldown) }, last);
                }
            }
            (State::Closed { .. }, CallEnd::Unused) => {}
            (State::HalfOpen { .. }, CallEnd::Success) => self.change(State::Closed { failures: 0 }, last),
            (State::HalfOpen { .. }, CallEnd::Failure) => {
                self.change(State::Open { until: now.saturating_add(limits.cooldown) }, last)
            }
            (State::HalfOpen { probing }, CallEnd::Unused) => *probing = false,
            // No call has the generation of an open breaker.
            (State::Open { .. }, _) => {}
        }
    }

    /// Returns whether the breaker equals a new one and can therefore be forgotten.
    pub(super) fn is_idle(&self) -> bool {
        self.under_way == 0 && matches!(self.state, State::Closed { failures: 0 })
    }

    pub(super) fn state(&self, now: Duration) -> BreakerState {
        match self.state {
            State::Closed { failures } => BreakerState::Closed { failures },
            State::Open { until } => {
                let remaining = until.saturating_sub(now);
                BreakerState::Open { remaining_ms: u64::try_from(remaining.as_millis()).unwrap_or(u64::MAX) }
            }
            State::HalfOpen { probing } => BreakerState::HalfOpen { probing },
        }
    }

    fn change(&mut self, state: State, last: &mut u64) {
        self.state = state;
        self.generation = next(last);
    }
}

/// Returns the next generation; generations are numbered across all breakers.
pub(super) fn next(generation: &mut u64) -> u64 {
    *generation += 1;
    *generation
}
