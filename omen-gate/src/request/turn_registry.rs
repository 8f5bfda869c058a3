//! What a gate knows of turns: their failure budgets, and which directives have had their call (A2, R2, PG-6).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use omen_types::PacketId;

use crate::base::{Blocked, GateCode, TurnId};
use crate::call::{BudgetLimits, FailureBudget};
use crate::request::before::Before;
use crate::request::context::RequestContext;

/// What a gate remembers of a turn. A call locks it: a turn makes one call at a time.
#[derive(Debug)]
pub(crate) struct TurnRecord {
    pub(crate) budget: FailureBudget,
    /// The directives whose tool was called: an order is good for one call, however often its task is taken up.
    pub(crate) called: BTreeSet<PacketId>,
}

impl TurnRecord {
    /// Whether the directive that asks for a call, if one does, has not had its call yet.
    pub(crate) fn is_fresh(&self, context: &RequestContext) -> Result<(), Blocked> {
        match context.directive() {
            Some(directive) if self.called.contains(directive) => {
                let message = format!("the tool of the directive `{directive}` was already called");
                let help = "settle the task with the result of that call, or send a new directive";
                Err(Blocked::new(GateCode::Pg6, message, help))
            }
            _ => Ok(()),
        }
    }
}

/// The records of turns. One that says nothing, and is not in use, need not be kept.
#[derive(Debug)]
pub(crate) struct TurnRegistry {
    limits: BudgetLimits,
    /// What is known of turns that began before the gate was restarted.
    before: Option<Before>,
    records: Mutex<Records>,
}

type Records = BTreeMap<TurnId, Arc<tokio::sync::Mutex<TurnRecord>>>;

/// How many turns with something to remember (failures, directives whose tool was called) a gate keeps. One that knows
/// so many lets no new turn make a call.
pub const MAX_TURNS: usize = 65_536;

impl TurnRegistry {
    pub(crate) fn new(limits: BudgetLimits) -> Self {
        Self { limits, before: None, records: Mutex::default() }
    }

    /// The records of a gate that goes on where another one has ended.
    pub(crate) fn after(limits: BudgetLimits, before: Before) -> Self {
        Self { before: Some(before), ..Self::new(limits) }
    }

    /// The record of a turn, which is new if there is nothing to remember of the turn.
    pub(crate) fn record(&self, turn: &TurnId) -> Result<Arc<tokio::sync::Mutex<TurnRecord>>, Blocked> {
        let mut records = self.lock();
        if let Some(record) = records.get(turn) {
            return Ok(Arc::clone(record));
        }
        if records.len() >= MAX_TURNS {
            // One that is held is in use.
            let says = |record: &TurnRecord| record.budget.failures() > 0 || !record.called.is_empty();
            records.retain(|_, record| {
                Arc::strong_count(record) > 1 || record.try_lock().map_or(true, |record| says(&record))
            });
            if records.len() >= MAX_TURNS {
                let message = format!("more than {MAX_TURNS} turns have failures or calls to remember");
                return Err(Blocked::new(
                    GateCode::R2,
                    message,
                    "end turns that are over: `gate.end_turn(&turn)`, or `gate.closed(&episode)`",
                ));
            }
        }
        let new = || {
            let before = self.before.as_ref();
            let budget =
                before.map_or_else(|| FailureBudget::new(self.limits), |before| before.budget(turn, self.limits));
            TurnRecord { budget, called: BTreeSet::new() }
        };
        Ok(Arc::clone(records.entry(turn.clone()).or_insert_with(|| Arc::new(new().into()))))
    }

    /// Forgets a turn that is over.
    pub(crate) fn end(&self, turn: &TurnId) {
        self.lock().remove(turn);
    }

    /// A map of shared pointers is whole whenever something panics.
    fn lock(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails says so")]

    use super::*;

    fn id(number: usize) -> TurnId {
        TurnId::new(format!("turn_{number}")).unwrap()
    }

    fn remember(turns: &TurnRegistry, number: usize) {
        let record = turns.record(&id(number)).unwrap();
        // Dropped without a word, an attempt is a failure.
        drop(record.try_lock().unwrap().budget.attempt());
    }

    #[test]
    fn so_many_turns_are_remembered_until_one_ends() {
        let turns = TurnRegistry::new(BudgetLimits::default());
        // Those of whom there is nothing to remember take no room.
        (0..MAX_TURNS).for_each(|number| drop(turns.record(&id(number)).unwrap()));
        (MAX_TURNS..2 * MAX_TURNS).for_each(|number| remember(&turns, number));
        let refused = turns.record(&id(0)).unwrap_err();
        assert_eq!(refused.code, GateCode::R2);
        assert!(refused.help.contains("gate.closed"), "{refused:?}");
        assert!(turns.record(&id(MAX_TURNS)).is_ok(), "one that is remembered goes on");
        turns.end(&id(MAX_TURNS));
        assert!(turns.record(&id(0)).is_ok());
    }
}
