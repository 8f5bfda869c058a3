//! The machine of one breaker.

use std::time::Duration;

use serde::Serialize;

use super::limits::BreakerLimits;

/// One breaker. Every change of state begins a new generation; a call that was admitted in an earlier one changes
/// nothing when it ends.
#[derive(Debug)]
pub(super) struct Breaker {
    state: State,
    generation: u64,
    /// Calls that have not ended, of all generations.
    under_way: u32,
}

#[derive(Debug)]
enum State {
    Closed { failures: u32 },
    Open { until: Duration },
    HalfOpen { probing: bool },
}

/// What a breaker looks like from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum BreakerState {
    /// Calls are let through.
    Closed {
        /// How many calls have failed since one succeeded.
        failures: u32,
    },
    /// No call is let through.
    Open {
        /// How long that will last, in milliseconds.
        remaining_ms: u64,
    },
    /// One call is let through.
    HalfOpen {
        /// Whether it is under way.
        probing: bool,
    },
}

/// How a call ended, to its breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Success,
    Failure,
    Unused,
}

/// Why a call is not let through.
pub(super) struct NotNow {
    pub(super) state: &'static str,
    pub(super) help: String,
}

impl Breaker {
    pub(super) fn new(generation: u64) -> Self {
        Self { state: State::Closed { failures: 0 }, generation, under_way: 0 }
    }

    /// Lets a call through, as one of the current generation.
    pub(super) fn admit(&mut self, now: Duration, last: &mut u64) -> Result<u64, NotNow> {
        self.look(now)?;
        match &mut self.state {
            State::Closed { .. } => {}
            State::Open { .. } => self.change(State::HalfOpen { probing: true }, last),
            State::HalfOpen { probing } => *probing = true,
        }
        self.under_way += 1;
        Ok(self.generation)
    }

    /// Whether a call would be let through now.
    pub(super) fn look(&self, now: Duration) -> Result<(), NotNow> {
        match self.state {
            State::Closed { .. } | State::HalfOpen { probing: false } => Ok(()),
            State::Open { until } => {
                let remaining = until.saturating_sub(now);
                match remaining.is_zero() {
                    true => Ok(()),
                    false => {
                        Err(NotNow { state: "open", help: format!("the next attempt is possible in {remaining:?}") })
                    }
                }
            }
            State::HalfOpen { probing: true } => {
                let help = "one call is probing it; wait for that call to end".to_owned();
                Err(NotNow { state: "half open, and its one probe is running", help })
            }
        }
    }

    /// A call has ended.
    pub(super) fn resolve(&mut self, generation: u64, end: End, now: Duration, limits: BreakerLimits, last: &mut u64) {
        self.under_way = self.under_way.saturating_sub(1);
        if generation != self.generation {
            return;
        }
        match (&mut self.state, end) {
            (State::Closed { failures }, End::Success) => *failures = 0,
            (State::Closed { failures }, End::Failure) => {
                *failures += 1;
                if *failures >= limits.failures.get() {
                    self.change(State::Open { until: now.saturating_add(limits.cooldown) }, last);
                }
            }
            (State::Closed { .. }, End::Unused) => {}
            (State::HalfOpen { .. }, End::Success) => self.change(State::Closed { failures: 0 }, last),
            (State::HalfOpen { .. }, End::Failure) => {
                self.change(State::Open { until: now.saturating_add(limits.cooldown) }, last)
            }
            (State::HalfOpen { probing }, End::Unused) => *probing = false,
            // No call is admitted in the generation of an open breaker.
            (State::Open { .. }, _) => {}
        }
    }

    /// Whether forgetting it makes no difference.
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

/// The number of the next generation, of all breakers.
pub(super) fn next(generation: &mut u64) -> u64 {
    *generation += 1;
    *generation
}
