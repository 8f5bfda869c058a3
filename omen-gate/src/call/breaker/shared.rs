//! What breakers share, behind one lock.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::limits::BreakerLimits;
use super::state::{Breaker, End};
use crate::base::{GateClock, ToolName};

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) limits: BreakerLimits,
    pub(super) clock: Arc<dyn GateClock>,
    pub(super) table: Mutex<Table>,
}

#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) breakers: BTreeMap<ToolName, Breaker>,
    /// Counts the changes of state of all breakers, also of those that are forgotten.
    pub(super) generation: u64,
}

impl Shared {
    /// Every change behind the lock is whole by the time that anything could panic.
    pub(super) fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends a call that was admitted.
    pub(super) fn resolve(&self, tool: &ToolName, generation: u64, end: End) {
        let mut table = self.lock();
        let now = self.clock.monotonic();
        let Table { breakers, generation: last } = &mut *table;
        if let Some(breaker) = breakers.get_mut(tool) {
            breaker.resolve(generation, end, now, self.limits, last);
        }
    }
}
