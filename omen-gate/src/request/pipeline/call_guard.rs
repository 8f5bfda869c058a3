//! Guard for a call that has begun and not ended.

use omen_order::Ended;
use serde_json::json;

use crate::call::breaker::BreakerState;
use crate::call::{Admission, Attempt, Call, Fault, Ran};
use crate::request::audit_queue::data;
use crate::request::context::RequestContext;
use crate::request::gate::Gate;
use crate::request::order::OrderedCall;
use omen_audit::Kind;

/// Guard for a call, from when it is counted until its outcome is known. If the caller goes away in between, dropping
/// the guard completes the accounts: a call that was made counts as failed for the budget (R2), the breaker (R1) and
/// the health (R5), a call that was not made counts for none of them, and an intent that may be in the log gets its
/// outcome, also for the order rules.
pub(super) struct CallGuard<'o> {
    gate: &'o Gate,
    context: &'o RequestContext,
    call: &'o Call,
    attempt: Option<Attempt<'o>>,
    admission: Option<Admission>,
    pub(super) order: OrderedCall,
    at: CallProgress,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CallProgress {
    /// The log has no entry that needs an outcome.
    Unlogged,
    /// The intent may be in the log; the tool was not called.
    Intended,
    /// The tool is being called.
    Called,
    /// Everything is recorded.
    Ended,
}

impl<'o> CallGuard<'o> {
    pub(super) fn new(
        gate: &'o Gate,
        context: &'o RequestContext,
        call: &'o Call,
        attempt: Attempt<'o>,
        order: OrderedCall,
    ) -> Self {
        Self { gate, context, call, attempt: Some(attempt), admission: None, order, at: CallProgress::Unlogged }
    }

    /// Marks the intent as about to be recorded.
    pub(super) fn mark_intended(&mut self, admission: Admission) {
        (self.admission, self.at) = (Some(admission), CallProgress::Intended);
    }

    /// Ends a call that is not made. The caller records the refusal.
    pub(super) fn mark_refused(&mut self) {
        self.at = CallProgress::Unlogged;
    }

    /// Ends a call that is refused before its intent is in the log, although the order rules let it through.
    pub(super) fn withdraw(&mut self) {
        self.mark_refused();
        self.order.withdrawn();
    }

    /// Marks the tool as about to be called.
    pub(super) fn mark_called(&mut self) {
        self.at = CallProgress::Called;
    }

    /// Ends a call that a rule cancelled: neither the tool nor the turn failed. The caller records the cancellation.
    pub(super) fn end_cancelled(&mut self) {
        self.at = CallProgress::Ended;
        self.release();
        self.gate.observed(self.call.tool(), Some(&Fault::Cancelled));
    }

    /// Ends a call that is over. The caller records the outcome.
    pub(super) fn end(&mut self, fault: Option<&Fault>) {
        self.at = CallProgress::Ended;
        self.report_end(fault);
    }

    /// Releases the budget and breaker without counting the call.
    fn release(&mut self) {
        self.attempt.take().into_iter().for_each(Attempt::unused);
        self.admission.take().into_iter().for_each(Admission::unused);
    }

    /// Reports the end of the call to the breaker, budget and health.
    fn report_end(&mut self, fault: Option<&Fault>) {
        if let Some(admission) = self.admission.take() {
            admission.resolve(fault);
        }
        match (self.attempt.take(), fault) {
            (Some(attempt), Some(fault)) => attempt.failure(fault),
            (Some(attempt), None) => attempt.success(),
            (None, _) => {}
        }
        self.gate.observed(self.call.tool(), fault);
    }
}

impl Drop for CallGuard<'_> {
    fn drop(&mut self) {
        let ran = match self.at {
            CallProgress::Unlogged | CallProgress::Intended => {
                self.release();
                Ran::No
            }
            CallProgress::Called => {
                self.report_end(Some(&Fault::Cancelled));
                Ran::Unknown
            }
            CallProgress::Ended => return,
        };
        if self.at != CallProgress::Unlogged {
            let why = "the caller stopped waiting";
            let class = Fault::Cancelled.class();
            let mut entry = data(json!({ "call": self.call.hash(), "class": class, "ran": ran, "why": why }));
            let breaker = self.gate.breakers().state(&self.call.tool().tool);
            if ran != Ran::No && breaker != (BreakerState::Closed { failures: 0 }) {
                entry.insert("breaker".to_owned(), json!(breaker));
            }
            let end = if ran == Ran::No { Ended::DidNotRun } else { Ended::MayHaveRun };
            entry.extend(self.order.ended(end, None));
            self.context.record_later(Kind::Outcome, entry);
        }
    }
}
