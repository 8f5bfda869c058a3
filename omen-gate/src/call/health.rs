//! R5: read-only health of the tools.

use std::collections::BTreeMap;
use std::sync::Arc;

use omen_base::Mutex;
use serde::Serialize;

use crate::base::{GateClock, ToolId, ToolName, bounded, clock};
use crate::call::breaker::{BreakerState, Breakers};
use crate::call::fault::{Fault, FaultClass};

/// Counts of calls and faults. Clones share them. The gate never bases a decision on them: no breaker, budget or grant
/// can read them (R5).
#[derive(Clone, Debug)]
pub struct Health(Arc<SharedCounts>);

#[derive(Debug)]
struct SharedCounts {
    clock: Arc<dyn GateClock>,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    tools: BTreeMap<ToolId, ToolHealth>,
    untracked: u64,
}

/// Health at a point in time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    /// Time of the snapshot, in RFC 3339.
    pub at: String,
    /// Called tools, ordered by server and name.
    pub tools: Vec<ToolHealth>,
    /// Number of calls to tools beyond the first [`MAX_TOOLS`].
    pub untracked: u64,
    /// Breakers that are not idle. All others are closed.
    pub breakers: BTreeMap<ToolName, BreakerState>,
}

/// Health of one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolHealth {
    /// Tool that the counts are for.
    pub tool: ToolId,
    /// Number of calls so far.
    pub calls: u64,
    /// Number of failed calls, by class.
    pub faults: BTreeMap<FaultClass, u64>,
    /// Last fault.
    pub last_fault: Option<LastFault>,
}

/// Last fault of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LastFault {
    /// Class of the fault.
    pub class: FaultClass,
    /// Description of the fault, truncated to a bounded length.
    pub message: String,
    /// Time of the fault, in RFC 3339.
    pub at: String,
}

/// Maximum number of tools counted separately.
pub const MAX_TOOLS: usize = 1024;

impl Health {
    /// Creates empty counts.
    #[must_use]
    pub fn new(clock: Arc<dyn GateClock>) -> Self {
        Self(Arc::new(SharedCounts { clock, counts: Mutex::default() }))
    }

    /// Counts a call and its fault, if any.
    pub fn observe(&self, tool: &ToolId, fault: Option<&Fault>) {
        let mut counts = self.0.counts.lock();
        if counts.tools.len() >= MAX_TOOLS && !counts.tools.contains_key(tool) {
            counts.untracked = counts.untracked.saturating_add(1);
            return;
        }
        let health = counts.tools.entry(tool.clone()).or_insert_with(|| ToolHealth::new(tool.clone()));
        health.calls = health.calls.saturating_add(1);
        if let Some(fault) = fault {
            let count = health.faults.entry(fault.class()).or_default();
            *count = count.saturating_add(1);
            let at = clock::instant(self.0.clock.wall()).to_string();
            health.last_fault = Some(LastFault { class: fault.class(), message: bounded(&fault.to_string()), at });
        }
    }

    /// Returns the current counts and breaker states.
    #[must_use]
    pub fn snapshot(&self, breakers: &Breakers) -> Snapshot {
        let breakers = breakers.states();
        let counts = self.0.counts.lock();
        let at = clock::instant(self.0.clock.wall()).to_string();
        Snapshot { at, tools: counts.tools.values().cloned().collect(), untracked: counts.untracked, breakers }
    }
}

impl ToolHealth {
    fn new(tool: ToolId) -> Self {
        Self { tool, calls: 0, faults: BTreeMap::new(), last_fault: None }
    }
}
