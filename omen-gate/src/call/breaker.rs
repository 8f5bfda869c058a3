//! R1: circuit breakers, which stop calls to a tool that keeps failing.

mod shared;
mod state;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::state::CallEnd;
use crate::base::{Blocked, GateClock, GateCode, ToolName};
use crate::call::fault::Fault;

pub use state::{BreakerLimits, BreakerState};

use shared::{SharedBreakers, Table};
use state::{Breaker, NotAdmitted, next};

/// Circuit breakers, one per tool name: tools with the same name on different servers share one (D50). They are kept
/// only in memory, and measure time with the injected clock. Clones share them.
///
/// A breaker starts closed. It opens at a limit of consecutive failures; while open, it refuses every call. After the
/// cooldown it is half open: it lets one call through as a probe, and no other until the probe ends. If the probe
/// succeeds, the breaker closes; otherwise it opens again.
#[derive(Clone, Debug)]
pub struct Breakers(Arc<SharedBreakers>);

/// Maximum number of breakers. An idle breaker is forgotten to make room.
pub const MAX_BREAKERS: usize = 1024;

impl Breakers {
    /// Creates the breakers, all closed.
    #[must_use]
    pub fn new(clock: Arc<dyn GateClock>, limits: BreakerLimits) -> Self {
        Self(Arc::new(SharedBreakers { limits, clock, table: Default::default() }))
    }

    /// Admits a call of a tool.
    ///
    /// # Errors
    /// If the tool's breaker is open, or half open with its probe in progress; or if [`MAX_BREAKERS`] other tools have
    /// calls in progress or recorded failures.
    pub fn admit(&self, tool: &ToolName) -> Result<Admission, Blocked> {
        let mut table = self.0.table.lock();
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

    /// Checks whether a call would be admitted now, without reserving a probe or a breaker.
    pub(crate) fn look(&self, tool: &ToolName) -> Result<(), Blocked> {
        let table = self.0.table.lock();
        let now = self.0.clock.monotonic();
        table.breakers.get(tool).map_or(Ok(()), |breaker| breaker.look(now).map_err(|why| refused(tool, &why)))
    }

    /// Returns the states of the breakers that are not idle, by tool name. All others are closed without a failure.
    #[must_use]
    pub fn states(&self) -> BTreeMap<ToolName, BreakerState> {
        let table = self.0.table.lock();
        let now = self.0.clock.monotonic();
        table.breakers.iter().map(|(tool, breaker)| (tool.clone(), breaker.state(now))).collect()
    }

    /// Returns the state of one breaker.
    #[must_use]
    pub fn state(&self, tool: &ToolName) -> BreakerState {
        let table = self.0.table.lock();
        let breaker = table.breakers.get(tool);
        breaker.map_or(BreakerState::Closed { failures: 0 }, |breaker| breaker.state(self.0.clock.monotonic()))
    }
}

fn refused(tool: &ToolName, why: &NotAdmitted) -> Blocked {
    let message = format!("the breaker of `{tool}` is {}", why.state);
    Blocked::new(GateCode::R1, message, format!("the tool has failed too often; {}", why.help))
}

/// Admission of one call. The holder reports how the call ended. Dropping the admission without a report, as when a
/// future is cancelled or code panics, counts as a failure and frees the probe.
///
/// ```compile_fail,E0382
/// # fn f(admission: omen_gate::breaker::Admission) {
/// admission.success();
/// admission.failure(); // One call, one end.
/// # }
/// ```
#[derive(Debug)]
#[must_use = "dropping it counts as a failure"]
pub struct Admission {
    shared: Arc<SharedBreakers>,
    tool: ToolName,
    generation: u64,
    end: CallEnd,
}

impl Admission {
    fn new(shared: Arc<SharedBreakers>, tool: ToolName, generation: u64) -> Self {
        Self { shared, tool, generation, end: CallEnd::Failure }
    }

    /// Reports that the tool answered.
    pub fn success(mut self) {
        self.end = CallEnd::Success;
    }

    /// Reports that the call failed.
    pub fn failure(self) {}

    /// Reports the end of the call: as a success, unless the fault is the tool's.
    pub fn resolve(mut self, fault: Option<&Fault>) {
        if fault.is_none_or(|fault| !fault.class().trips_breaker()) {
            self.end = CallEnd::Success;
        }
    }

    /// Reports that the call was not made because something else forbade it. Nothing is counted, and a probe is freed.
    pub fn unused(mut self) {
        self.end = CallEnd::Unused;
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.shared.resolve(&self.tool, self.generation, self.end);
    }
}
