//! State shared by all breakers, behind one lock.

use std::collections::BTreeMap;
use std::sync::Arc;

use omen_base::Mutex;

use super::state::{Breaker, BreakerLimits, CallEnd};
use crate::base::{GateClock, ToolName};

#[derive(Debug)]
pub(super) struct SharedBreakers {
    pub(super) limits: BreakerLimits,
    pub(super) clock: Arc<dyn GateClock>,
    pub(super) table: Mutex<Table>,
}

#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) breakers: BTreeMap<ToolName, Breaker>,
    /// Number of state changes of all breakers, including forgotten ones.
    pub(super) generation: u64,
}

impl SharedBreakers {
    /// Ends an admitted call.
    pub(super) fn resolve(&self, tool: &ToolName, generation: u64, end: CallEnd) {
        let mut table = self.table.lock();
        let now = self.clock.monotonic();
        let Table { breakers, generation: last } = &mut *table;
        if let Some(breaker) = breakers.get_mut(tool) {
            breaker.resolve(generation, end, now, self.limits, last);
        }
    }
}
