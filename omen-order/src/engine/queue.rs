//! Waiting calls, their timers, and reports at the end of a scope.

use std::sync::Arc;

use super::event::{Finding, HowEnded, Mode, Output};
use super::{CallReading, Engine, MAX_WAITING, Step};
use crate::history::{CallId, Debt, Ended, Now, Reading, Scope, State};
use crate::judge::{Cause, OrderCode, Refusal, Verdict};

impl Engine {
    /// Judges a call and applies the verdict. Returns whether the call was made or refused.
    pub(super) fn decide(&mut self, id: CallId) -> bool {
        let verdict = self.judge(id);
        self.apply(id, verdict)
    }

    fn apply(&mut self, id: CallId, verdict: Verdict) -> bool {
        if self.mode == Mode::Observe {
            return self.observe(id, verdict);
        }
        match verdict {
            Verdict::Allow { rests_on } => self.pass(id, rests_on),
            Verdict::Refuse(refusal) if refusal.code == OrderCode::O1 => self.gather(id, refusal),
            Verdict::Refuse(refusal) => self.refuse_with(id, refusal),
            Verdict::Wait { on } => self.wait(id, &on),
            Verdict::Cancelled => false,
        }
    }

    fn pass(&mut self, id: CallId, rests_on: Vec<CallId>) -> bool {
        let Some(flight) = self.flights.get_mut(&id) else { return false };
        if flight.must_confirm && flight.step == Step::First {
            flight.step = Step::Confirming;
            (flight.parked_since, flight.gather_until) = (None, None);
            self.outputs.push_back(Output::Confirm(id));
            return false;
        }
        self.made(id);
        self.outputs.push_back(Output::Verdict(id, Verdict::Allow { rests_on }));
        true
    }

    /// Records that a call is let pass; it counts from now on.
    pub(super) fn made(&mut self, id: CallId) {
        self.flights.remove(&id);
        let moment = self.moment();
        self.change(id, |call| (call.state, call.begun) = (State::Made, Some(moment)));
    }

    /// Lets a call pass, whatever the verdict.
    fn observe(&mut self, id: CallId, verdict: Verdict) -> bool {
        let Some(flight) = self.flights.get_mut(&id) else { return false };
        let is_first = flight.must_confirm && flight.step == Step::First;
        if is_first {
            (flight.step, flight.parked_since) = (Step::Confirming, None);
        }
        let session = flight.session.clone();
        let verdict = match verdict {
            Verdict::Wait { on } => Verdict::Refuse(self.waited(id, &on, 0, false)),
            verdict => verdict,
        };
        let output = match verdict {
            Verdict::Refuse(refusal) => Output::Verdict(id, Verdict::Refuse(self.with_debts(refusal, &session))),
            _ if is_first => Output::Confirm(id),
            verdict => Output::Verdict(id, verdict),
        };
        if !is_first {
            self.made(id);
        }
        self.outputs.push_back(output);
        !is_first
    }

    /// Holds back a call without its premise, once.
    fn gather(&mut self, id: CallId, refusal: Box<Refusal>) -> bool {
        let has_room = self.has_room(id);
        let (now, gather) = (self.now.mono, self.rules.gather_ms);
        let Some(flight) = self.flights.get_mut(&id) else { return false };
        if flight.gather_until.is_some() {
            return false;
        }
        if flight.was_gathered || gather == 0 || !has_room {
            return self.refuse_with(id, refusal);
        }
        flight.was_gathered = true;
        flight.gather_until = Some(now.saturating_add(gather));
        self.park(id);
        false
    }

    fn wait(&mut self, id: CallId, on: &[CallId]) -> bool {
        let has_room = self.has_room(id);
        let (now, wait) = (self.now.mono, self.rules.wait_ms);
        let Some(flight) = self.flights.get_mut(&id) else { return false };
        if !has_room {
            let refusal = self.waited(id, on, 0, true);
            return self.refuse_with(id, refusal);
        }
        flight.gather_until = None;
        flight.wait_until.get_or_insert(now.saturating_add(wait));
        self.park(id);
        false
    }

    fn park(&mut self, id: CallId) {
        let now = self.now.mono;
        let Some(flight) = self.flights.get_mut(&id) else { return };
        if flight.parked_since.is_none() {
            flight.parked_since = Some(now);
            self.outputs.push_back(Output::Waits(id));
        }
    }

    /// Returns whether a call is already waiting, or one more may wait.
    fn has_room(&self, id: CallId) -> bool {
        let Some(flight) = self.flights.get(&id) else { return false };
        let waiting = || self.flights.values().filter(|flight| flight.parked_since.is_some());
        flight.parked_since.is_some()
            || (waiting().count() < MAX_WAITING.0
                && waiting().filter(|other| other.session == flight.session).count() < MAX_WAITING.1)
    }

    pub(super) fn waited(&self, id: CallId, on: &[CallId], ms: i64, is_crowded: bool) -> Box<Refusal> {
        let mut tools: Vec<_> = on.iter().filter_map(|id| self.tool_of(*id)).collect();
        tools.sort();
        tools.dedup();
        let ms = u64::try_from(ms).unwrap_or(0);
        let tool = self.tool_of(id).unwrap_or_else(|| crate::rules::Tool::new("", ""));
        Box::new(Refusal::new(OrderCode::O5, tool, Cause::Waited { tools, ms, is_crowded }))
    }

    fn refuse_with(&mut self, id: CallId, refusal: Box<Refusal>) -> bool {
        let Some(flight) = self.flights.remove(&id) else { return false };
        let refusal = self.with_debts(refusal, &flight.session);
        self.refused(id);
        self.outputs.push_back(Output::Verdict(id, Verdict::Refuse(refusal)));
        true
    }

    /// Records that a call was refused.
    pub(super) fn refused(&mut self, id: CallId) {
        self.flights.remove(&id);
        let moment = self.moment();
        self.change(id, |call| (call.state, call.begun, call.ended) = (State::Refused, Some(moment), Some(moment)));
        let session = self.history.calls.get(&id).and_then(|call| call.session);
        self.note_activity(session);
    }

    /// Drops a call that was not made.
    pub(super) fn drop_flight(&mut self, id: CallId) {
        self.refused(id);
        self.outputs.push_back(Output::Verdict(id, Verdict::Cancelled));
    }

    /// Records the end of a call that was made.
    pub(super) fn ended(&mut self, id: CallId, end: Ended, answer: Option<CallReading>) {
        let moment = self.moment();
        if end == Ended::Ok
            && let Some(call) = self.history.calls.get_mut(&id)
            && let Some(rules) = self.rules.tools.get(&call.tool)
        {
            let reading = answer.filter(|answer| Arc::ptr_eq(&answer.rules, &self.rules)).map(|answer| answer.reading);
            call.reading.answered(reading.unwrap_or_else(|| Reading::of_answer(rules, &self.secret, None)));
        }
        self.change(id, |call| (call.state, call.ended) = (end.into(), Some(moment)));
        let session = self.history.calls.get(&id).and_then(|call| call.session);
        self.note_activity(session);
        self.outputs.push_back(Output::Ended(id, end));
    }

    /// Judges the waiting calls again, in order of arrival, until nothing changes.
    pub(super) fn settle(&mut self) {
        loop {
            let arrival = |id: &CallId| self.history.calls.get(id).map(|call| call.arrival);
            let parked = self.flights.iter().filter(|(_, flight)| flight.parked_since.is_some());
            let mut parked: Vec<_> = parked.map(|(id, _)| (arrival(id), *id)).collect();
            parked.sort_unstable();
            if !parked.into_iter().any(|(_, id)| self.decide(id)) {
                return;
            }
        }
    }

    /// Returns the monotonic time at which [`Engine::tick`] next has something to do.
    #[must_use]
    pub fn next_timer(&self) -> Option<i64> {
        let due = self.next_due().map(|(due, ..)| due);
        due.into_iter().chain(self.history.debts.next_deadline()).chain(self.next_idle()).min()
    }

    fn next_due(&self) -> Option<(i64, u64, CallId)> {
        let due = self.flights.iter().filter_map(|(id, flight)| {
            let due = flight.gather_until.or(flight.wait_until)?.max(flight.parked_since?);
            Some((due, self.history.calls.get(id)?.arrival, *id))
        });
        due.min()
    }

    /// Fires the timers that were due before a time, and advances to that time. Ends at the same moment come before timers.
    pub(super) fn run_timers(&mut self, now: Now) {
        self.fire_before(now.mono);
        self.advance(now);
    }

    pub(super) fn fire_before(&mut self, mono: i64) {
        while let Some((due, _, id)) = self.next_due().filter(|(due, ..)| *due < mono) {
            self.advance(Now { mono: due, wall: self.now.wall });
            self.fire(id);
            self.settle();
        }
    }

    fn fire(&mut self, id: CallId) {
        let Some(flight) = self.flights.get_mut(&id) else { return };
        if flight.gather_until.take().is_some() {
            // Moves it to the end of the queue.
            self.last_arrival += 1;
            if let Some(call) = self.history.calls.get_mut(&id) {
                call.arrival = self.last_arrival;
            }
            self.decide(id);
            return;
        }
        match self.judge(id) {
            Verdict::Wait { on } => {
                let refusal = self.waited(id, &on, self.rules.wait_ms, false);
                self.refuse_with(id, refusal);
            }
            verdict => drop(self.apply(id, verdict)),
        }
    }

    /// Reports the debts of a scope at its end.
    pub(super) fn report_scope(&mut self, scope: Scope) {
        for debt in self.history.debts.take(scope) {
            self.report(debt, HowEnded::Ended);
        }
    }

    pub(super) fn report(&mut self, debt: Debt, how: HowEnded) {
        let finding = Finding {
            owed: self.owed_by(&debt),
            rule: debt.rule,
            content: debt.content.clone(),
            path: debt.path.clone(),
            how,
            is_uncertain: debt.is_uncertain,
        };
        self.outputs.push_back(Output::Found(finding));
        self.history.close(&debt);
    }
}
