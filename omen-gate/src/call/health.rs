//! R5: the health of tools, for reading only.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use crate::base::{GateClock, ToolId, ToolName, bounded, clock};
use crate::call::breaker::{BreakerState, Breakers};
use crate::call::fault::{Fault, FaultClass};

/// Counts calls and faults. Clones share the counts. Nothing in the gate reads them to decide anything: there is no
/// way from here back to a breaker, a budget or a grant (R5).
#[derive(Clone, Debug)]
pub struct Health(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    clock: Arc<dyn GateClock>,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    tools: BTreeMap<ToolId, ToolHealth>,
    untracked: u64,
}

/// What is known at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    /// When it was taken, in RFC 3339.
    pub at: String,
    /// Each tool that was called, in order of server and name.
    pub tools: Vec<ToolHealth>,
    /// Calls of tools beyond the first [`MAX_TOOLS`].
    pub untracked: u64,
    /// The breakers that have something to remember. All others are closed.
    pub breakers: BTreeMap<ToolName, BreakerState>,
}

/// How one tool fares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolHealth {
    /// The tool.
    pub tool: ToolId,
    /// How often it was called.
    pub calls: u64,
    /// How many of the calls failed, by class.
    pub faults: BTreeMap<FaultClass, u64>,
    /// The last fault.
    pub last_fault: Option<LastFault>,
}

/// The last fault of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LastFault {
    /// Its class.
    pub class: FaultClass,
    /// What was said of it, cut to a bounded length.
    pub message: String,
    /// When it was counted, in RFC 3339.
    pub at: String,
}

/// How many tools are counted one by one.
pub const MAX_TOOLS: usize = 1024;

impl Health {
    /// Nothing is counted yet.
    #[must_use]
    pub fn new(clock: Arc<dyn GateClock>) -> Self {
        Self(Arc::new(Shared { clock, counts: Mutex::default() }))
    }

    /// Counts a call and how it ended.
    pub fn observe(&self, tool: &ToolId, fault: Option<&Fault>) {
        let mut counts = self.0.lock();
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

    /// What is known now, with the state of the breakers.
    #[must_use]
    pub fn snapshot(&self, breakers: &Breakers) -> Snapshot {
        let breakers = breakers.states();
        let counts = self.0.lock();
        let at = clock::instant(self.0.clock.wall()).to_string();
        Snapshot { at, tools: counts.tools.values().cloned().collect(), untracked: counts.untracked, breakers }
    }
}

impl ToolHealth {
    fn new(tool: ToolId) -> Self {
        Self { tool, calls: 0, faults: BTreeMap::new(), last_fault: None }
    }
}

impl Shared {
    /// Counts that a panic left behind are counts still.
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
