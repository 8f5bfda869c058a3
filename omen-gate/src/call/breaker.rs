//! R1: a tool that keeps failing is left alone for a while.

mod admission;
mod state;

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::{Blocked, Clock, Code, ToolName};

pub use admission::Admission;
pub use state::BreakerState;

use state::{Breaker, NotNow};

/// When breakers open, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerLimits {
    /// How many failures in a row open a breaker.
    pub failures: NonZeroU32,
    /// How long it stays open before a probe is let through.
    pub cooldown: Duration,
}

/// One breaker for each tool name (D50): a tool of the same name on another server shares it. They are in memory
/// only, and wait by the injected clock. Clones share them.
///
/// A breaker is closed at first. So many failures in a row open it; while it is open, no call is let through. After
/// the cooldown it is half open: one call is let through, as a probe, and no other until that one has ended. If the
/// probe succeeds, the breaker closes, else it is open again.
#[derive(Clone, Debug)]
pub struct Breakers(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    limits: BreakerLimits,
    clock: Arc<dyn Clock>,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    breakers: BTreeMap<ToolName, Breaker>,
    /// Counts the changes of state of all breakers, also of those that are forgotten.
    generation: u64,
}

/// How many breakers there are at most. One that has nothing to remember makes room for another.
pub const MAX_BREAKERS: usize = 1024;

impl Breakers {
    /// All breakers are closed.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, limits: BreakerLimits) -> Self {
        Self(Arc::new(Shared { limits, clock, table: Mutex::default() }))
    }

    /// Asks for leave to call a tool.
    ///
    /// # Errors
    /// If the tool's breaker is open, or half open with its probe under way; or if [`MAX_BREAKERS`] tools have calls
    /// under way or failures behind them.
    pub fn admit(&self, tool: &ToolName) -> Result<Admission, Blocked> {
        let mut table = self.0.lock();
        let now = self.0.clock.monotonic();
        let Table { breakers, generation } = &mut *table;
        if breakers.len() >= MAX_BREAKERS && !breakers.contains_key(tool) {
            breakers.retain(|_, breaker| !breaker.is_idle());
            if breakers.len() >= MAX_BREAKERS {
                let message = format!("more than {MAX_BREAKERS} tools have calls under way or failures behind them");
                return Err(Blocked::new(Code::R1, message, "wait until calls have ended"));
            }
        }
        let breaker = breakers.entry(tool.clone()).or_insert_with(|| Breaker::new(next(generation)));
        let admitted = breaker.admit(now, self.0.limits.cooldown, generation).map_err(|why| refused(tool, &why))?;
        Ok(Admission::new(self.clone(), tool.clone(), admitted))
    }

    /// Checks whether a call would be admitted now, and takes nothing: no probe, and no room.
    pub(crate) fn look(&self, tool: &ToolName) -> Result<(), Blocked> {
        let table = self.0.lock();
        let now = self.0.clock.monotonic();
        table
            .breakers
            .get(tool)
            .map_or(Ok(()), |breaker| breaker.look(now, self.0.limits.cooldown).map_err(|why| refused(tool, &why)))
    }

    /// The breakers that have something to remember, by tool name. All others are closed, without a failure.
    #[must_use]
    pub fn states(&self) -> BTreeMap<ToolName, BreakerState> {
        let table = self.0.lock();
        let now = self.0.clock.monotonic();
        let cooldown = self.0.limits.cooldown;
        table.breakers.iter().map(|(tool, breaker)| (tool.clone(), breaker.state(now, cooldown))).collect()
    }

    /// The state of one breaker.
    #[must_use]
    pub fn state(&self, tool: &ToolName) -> BreakerState {
        let table = self.0.lock();
        let breaker = table.breakers.get(tool);
        breaker.map_or(BreakerState::Closed { failures: 0 }, |breaker| {
            breaker.state(self.0.clock.monotonic(), self.0.limits.cooldown)
        })
    }

    fn resolve(&self, tool: &ToolName, generation: u64, end: admission::End) {
        let mut table = self.0.lock();
        let now = self.0.clock.monotonic();
        let Table { breakers, generation: last } = &mut *table;
        if let Some(breaker) = breakers.get_mut(tool) {
            breaker.resolve(generation, end, now, self.0.limits.failures.get(), last);
        }
    }
}

impl Shared {
    /// Every change behind the lock is whole by the time that anything could panic.
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refused(tool: &ToolName, why: &NotNow) -> Blocked {
    let message = format!("the breaker of `{tool}` is {}", why.state);
    Blocked::new(Code::R1, message, format!("the tool has failed too often; {}", why.help))
}

fn next(generation: &mut u64) -> u64 {
    *generation += 1;
    *generation
}
