//! R1: a tool that keeps failing is left alone for a while.

mod admission;
mod limits;
mod shared;
mod state;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::base::{Blocked, GateClock, GateCode, ToolName};

pub use admission::Admission;
pub use limits::BreakerLimits;
pub use state::BreakerState;

use shared::{Shared, Table};
use state::{Breaker, NotNow, next};

/// One breaker for each tool name (D50): a tool of the same name on another server shares it. They are in memory
/// only, and wait by the injected clock. Clones share them.
///
/// A breaker is closed at first. So many failures in a row open it; while it is open, no call is let through. After
/// the cooldown it is half open: one call is let through, as a probe, and no other until that one has ended. If the
/// probe succeeds, the breaker closes, else it is open again.
#[derive(Clone, Debug)]
pub struct Breakers(Arc<Shared>);

/// How many breakers there are at most. One that has nothing to remember makes room for another.
pub const MAX_BREAKERS: usize = 1024;

impl Breakers {
    /// All breakers are closed.
    #[must_use]
    pub fn new(clock: Arc<dyn GateClock>, limits: BreakerLimits) -> Self {
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
                let message = format!("more than {MAX_BREAKERS} tools have running calls or recent failures");
                return Err(Blocked::new(GateCode::R1, message, "wait for calls to end"));
            }
        }
        let breaker = breakers.entry(tool.clone()).or_insert_with(|| Breaker::new(next(generation)));
        let admitted = breaker.admit(now, generation).map_err(|why| refused(tool, &why))?;
        Ok(Admission::new(Arc::clone(&self.0), tool.clone(), admitted))
    }

    /// Checks whether a call would be admitted now, and takes nothing: no probe, and no room.
    pub(crate) fn look(&self, tool: &ToolName) -> Result<(), Blocked> {
        let table = self.0.lock();
        let now = self.0.clock.monotonic();
        table.breakers.get(tool).map_or(Ok(()), |breaker| breaker.look(now).map_err(|why| refused(tool, &why)))
    }

    /// The breakers that have something to remember, by tool name. All others are closed, without a failure.
    #[must_use]
    pub fn states(&self) -> BTreeMap<ToolName, BreakerState> {
        let table = self.0.lock();
        let now = self.0.clock.monotonic();
        table.breakers.iter().map(|(tool, breaker)| (tool.clone(), breaker.state(now))).collect()
    }

    /// The state of one breaker.
    #[must_use]
    pub fn state(&self, tool: &ToolName) -> BreakerState {
        let table = self.0.lock();
        let breaker = table.breakers.get(tool);
        breaker.map_or(BreakerState::Closed { failures: 0 }, |breaker| breaker.state(self.0.clock.monotonic()))
    }
}

fn refused(tool: &ToolName, why: &NotNow) -> Blocked {
    let message = format!("the breaker of `{tool}` is {}", why.state);
    Blocked::new(GateCode::R1, message, format!("the tool has failed too often; {}", why.help))
}
