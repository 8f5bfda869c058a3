//! Registry of turns: their failure budgets, and the directives that have had their call (A2, R2, PG-6).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use omen_base::Mutex;
use omen_types::PacketId;

use serde_json::{Map, Value};

use crate::base::{Blocked, GateCode, TurnId};
use crate::call::call_limits::room;
use crate::call::{BudgetLimits, CallLimits, FailureBudget};
use crate::request::context::RequestContext;
use crate::request::restart_state::RestartState;
use omen_audit::{SESSION, TURN_CALLS};

/// Record of a turn. Each call locks it, because a turn makes one call at a time.
#[derive(Debug)]
pub(crate) struct TurnRecord {
    pub(crate) budget: FailureBudget,
    /// Directives whose tool was called: a directive allows one call, no matter how often its task is resumed.
    pub(crate) called: BTreeSet<PacketId>,
    /// Number of calls that the turn has made, if they are limited.
    pub(crate) calls: u32,
}

impl TurnRecord {
    /// Checks that the directive that requests the call, if any, has not yet had its call.
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

/// Records of turns. An empty record that is not in use need not be kept.
#[derive(Debug)]
pub(crate) struct TurnRegistry {
    limits: BudgetLimits,
    calls: CallLimits,
    /// Number of calls in each session, if they are limited.
    sessions: Mutex<BTreeMap<TurnId, u32>>,
    before: Option<RestartState>,
    records: Mutex<Records>,
}

type Records = BTreeMap<TurnId, Arc<tokio::sync::Mutex<TurnRecord>>>;

/// Maximum number of turns with recorded failures or directives. A gate that has reached it refuses calls in new turns.
pub const MAX_TURNS: usize = 65_536;

impl TurnRegistry {
    pub(crate) fn new(limits: BudgetLimits) -> Self {
        Self {
            limits,
            calls: CallLimits::default(),
            sessions: Mutex::default(),
            before: None,
            records: Mutex::default(),
        }
    }

    /// Creates the registry of a gate that continues after a restart.
    pub(crate) fn after(limits: BudgetLimits, calls: CallLimits, before: RestartState) -> Self {
        Self { calls, before: Some(before), ..Self::new(limits) }
    }

    /// Returns the record of a turn, or a new one if nothing is recorded.
    pub(crate) fn record(&self, turn: &TurnId) -> Result<Arc<tokio::sync::Mutex<TurnRecord>>, Blocked> {
        let mut records = self.records.lock();
        if let Some(record) = records.get(turn) {
            return Ok(Arc::clone(record));
        }
        if records.len() >= MAX_TURNS {
            // A locked record is in use.
            let says =
                |record: &TurnRecord| record.budget.failures() > 0 || !record.called.is_empty() || record.calls > 0;
            records.retain(|_, record| {
                Arc::strong_count(record) > 1 || record.try_lock().map_or(true, |record| says(&record))
            });
            if records.len() >= MAX_TURNS {
                let message = format!("more than {MAX_TURNS} turns have failures or calls to remember");
                return Err(Blocked::new(
                    GateCode::R2,
                    message,
                    "end finished turns: `gate.end_turn(&turn)`, or `gate.closed(&episode)`",
                ));
            }
        }
        let new = || {
            let before = self.before.as_ref();
            let budget =
                before.map_or_else(|| FailureBudget::new(self.limits), |before| before.budget(turn, self.limits));
            let calls = before.map(|before| before.calls(turn)).unwrap_or_default();
            TurnRecord { budget, called: BTreeSet::new(), calls }
        };
        Ok(Arc::clone(records.entry(turn.clone()).or_insert_with(|| Arc::new(new().into()))))
    }

    /// Checks that a turn that has made `calls` calls, and its session, may make another one (R2).
    pub(crate) fn may_call(&self, calls: u32, session: Option<&TurnId>) -> Result<(), Blocked> {
        room(self.calls.turn, calls, "turn", "turn_calls")?;
        let Some(session) = session.filter(|_| self.calls.session.is_some()) else { return Ok(()) };
        room(self.calls.session, self.made_by(session, &self.sessions.lock())?, "session", "session_calls")
    }

    /// Counts a call and checks the limits, atomically. A call over a limit also counts until the returned guard is dropped.
    pub(crate) fn count_call<'r>(
        &'r self,
        calls: &'r mut u32,
        session: Option<&TurnId>,
    ) -> (CountedCall<'r>, Result<(), Blocked>) {
        let mut verdict = Ok(());
        let mut counted = CountedCall { registry: self, calls: None, session: None };
        if self.calls.turn.is_some() {
            verdict = room(self.calls.turn, *calls, "turn", "turn_calls");
            *calls = calls.saturating_add(1);
            counted.calls = Some(calls);
        }
        if let Some(session) = session.filter(|_| self.calls.session.is_some()) {
            let mut sessions = self.sessions.lock();
            let room = self.made_by(session, &sessions).and_then(|made| {
                sessions.insert(session.clone(), made.saturating_add(1));
                counted.session = Some(session.clone());
                room(self.calls.session, made, "session", "session_calls")
            });
            verdict = verdict.and(room);
        }
        (counted, verdict)
    }

    fn made_by(&self, session: &TurnId, sessions: &BTreeMap<TurnId, u32>) -> Result<u32, Blocked> {
        if let Some(made) = sessions.get(session) {
            return Ok(*made);
        }
        if sessions.len() >= MAX_TURNS {
            let message = format!("more than {MAX_TURNS} sessions have calls to remember");
            return Err(Blocked::new(GateCode::R2, message, "end finished sessions: `gate.end_turn(&session)`"));
        }
        Ok(self.before.as_ref().map(|before| before.calls_of_session(session)).unwrap_or_default())
    }

    /// Forgets a finished turn or session.
    pub(crate) fn end(&self, turn: &TurnId) {
        self.records.lock().remove(turn);
        self.sessions.lock().remove(turn);
    }
}

/// Call counted for its turn and session. Dropping it discards the count unless it was kept.
#[derive(Debug)]
#[must_use = "the call is not counted if this is dropped"]
pub(crate) struct CountedCall<'r> {
    registry: &'r TurnRegistry,
    calls: Option<&'r mut u32>,
    session: Option<TurnId>,
}

impl CountedCall<'_> {
    /// Returns the data for the call's intent, so that the call also counts after a restart.
    pub(crate) fn noted(&self) -> Map<String, Value> {
        let turn = self.calls.as_ref().map(|calls| (TURN_CALLS.to_owned(), Value::from(**calls)));
        let session = self.session.as_ref().map(|session| (SESSION.to_owned(), session.as_str().into()));
        turn.into_iter().chain(session).collect()
    }

    pub(crate) fn keep(mut self) {
        (self.calls, self.session) = (None, None);
    }
}

impl Drop for CountedCall<'_> {
    fn drop(&mut self) {
        if let Some(calls) = self.calls.take() {
            *calls = calls.saturating_sub(1);
        }
        if let Some(session) = self.session.take()
            && let Some(made) = self.registry.sessions.lock().get_mut(&session)
        {
            *made = made.saturating_sub(1);
        }
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
        // Dropping an attempt without a report counts as a failure.
        drop(record.try_lock().unwrap().budget.attempt());
    }

    #[test]
    fn so_many_turns_are_remembered_until_one_ends() {
        let turns = TurnRegistry::new(BudgetLimits::default());
        // Empty records take up no room.
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
