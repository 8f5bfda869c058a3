//! A call that has begun and not ended.

use serde_json::json;

use crate::call::breaker::BreakerState;
use crate::call::{Admission, Attempt, Call, Fault, Ran};
use crate::request::audit_queue::data;
use crate::request::context::RequestContext;
use crate::request::gate::Gate;
use omen_audit::Kind;

/// A call, from where it is counted to where its outcome is known. If its caller goes away in between, this
/// sees to what is left to do: a call that was made has failed, to the budget (R2), the breaker (R1) and the counts
/// (R5), and one that was not made counts for nothing; and where the log may have the intent, it gets the outcome.
pub(super) struct Open<'o> {
    gate: &'o Gate,
    context: &'o RequestContext,
    call: &'o Call,
    attempt: Option<Attempt<'o>>,
    admission: Option<Admission>,
    at: At,
}

/// How far a call has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// Nothing is in the log that an outcome would belong to.
    Asked,
    /// The intent may be in the log; the tool was not called.
    Intended,
    /// The tool is being called.
    Called,
    /// Everything is recorded.
    Ended,
}

impl<'o> Open<'o> {
    pub(super) fn new(gate: &'o Gate, context: &'o RequestContext, call: &'o Call, attempt: Attempt<'o>) -> Self {
        Self { gate, context, call, attempt: Some(attempt), admission: None, at: At::Asked }
    }

    /// The intent is about to be recorded.
    pub(super) fn intended(&mut self, admission: Admission) {
        (self.admission, self.at) = (Some(admission), At::Intended);
    }

    /// The call is not made after all. The caller records that.
    pub(super) fn refused(&mut self) {
        self.at = At::Asked;
    }

    /// The tool is about to be called.
    pub(super) fn called(&mut self) {
        self.at = At::Called;
    }

    /// The call was cancelled by a rule: neither tool nor turn has failed. The caller records that.
    pub(super) fn broken_off(mut self) {
        self.at = At::Ended;
        self.unused();
        self.gate.observed(self.call.tool(), Some(&Fault::Cancelled));
    }

    /// The call is over. The caller records the outcome.
    pub(super) fn ended(mut self, fault: Option<&Fault>) {
        self.at = At::Ended;
        self.tell(fault);
    }

    /// Nothing is counted.
    fn unused(&mut self) {
        self.attempt.take().into_iter().for_each(Attempt::unused);
        self.admission.take().into_iter().for_each(Admission::unused);
    }

    /// Reports to breaker, budget and health how the call went.
    fn tell(&mut self, fault: Option<&Fault>) {
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

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let ran = match self.at {
            At::Asked | At::Intended => {
                self.unused();
                Ran::No
            }
            At::Called => {
                self.tell(Some(&Fault::Cancelled));
                Ran::Unknown
            }
            At::Ended => return,
        };
        if self.at != At::Asked {
            let why = "the caller stopped waiting";
            let class = Fault::Cancelled.class();
            let mut entry = data(json!({ "call": self.call.hash(), "class": class, "ran": ran, "why": why }));
            let breaker = self.gate.breakers().state(&self.call.tool().tool);
            if ran != Ran::No && breaker != (BreakerState::Closed { failures: 0 }) {
                entry.insert("breaker".to_owned(), json!(breaker));
            }
            self.context.record_later(Kind::Outcome, entry);
        }
    }
}
