//! Input events of the state machine.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::CallReading;
use super::event::{Ask, Mode, Output};
use super::{Engine, Flight, Step};
use crate::history::{Call, CallId, Ended, Moment, Now, State};
use crate::judge::Verdict;
use crate::rules::{RuleSet, Tool};

impl Engine {
    /// Accepts a request, and judges it. Returns the id of the call.
    pub fn ask(&mut self, now: Now, ask: Ask) -> CallId {
        let reading = self.reader().args(&ask.tool, ask.args.as_deref());
        self.ask_read(now, ask, reading)
    }

    /// Same as [`ask`](Self::ask), for a call that was read in advance. It is read again if the rules have changed since.
    pub fn ask_read(&mut self, now: Now, ask: Ask, reading: CallReading) -> CallId {
        self.run_timers(now);
        self.last_id += 1;
        self.last_arrival += 1;
        let id = CallId(self.last_id);
        let Ask { tool, session, turn, args, must_confirm, is_refused } = ask;
        let Some(rules) = self.rules.tools.get(&tool).cloned() else {
            let verdict = Verdict::Allow { rests_on: Vec::new() };
            self.outputs.push_back(Output::Verdict(id, verdict));
            return id;
        };
        let (number, turn_number) = self.history.open(&session, &turn, self.rules.has_turns);
        let reading = match Arc::ptr_eq(&reading.rules, &self.rules) {
            true => reading.reading,
            false => self.reader().at_once(&tool, args.as_deref()),
        };
        let Now { mono, wall } = self.now;
        self.begin_session(&session);
        self.note_activity(number);
        self.history.ask(
            Call {
                id,
                arrival: self.last_arrival,
                tool,
                session: number,
                turn: turn_number,
                turn_name: turn.into(),
                state: State::Asked,
                confirmed: false,
                asked: Moment { position: 0, forbids: mono, permits: mono, wall },
                begun: None,
                ended: None,
                entries: [None; 2],
                reading,
                closed: Vec::new(),
                is_unplaced: false,
                is_broken: false,
                held: 0,
            },
            &rules,
        );
        let flight = Flight {
            session,
            args,
            must_confirm,
            step: Step::First,
            was_gathered: false,
            gather_until: None,
            wait_until: None,
            parked_since: None,
        };
        self.flights.insert(id, flight);
        match is_refused {
            true => self.refused_elsewhere(id),
            false => drop(self.decide(id)),
        }
        self.settle();
        id
    }

    /// Accepts a human's answer. After a confirmation, the call is judged again.
    pub fn confirm(&mut self, now: Now, id: CallId, is_confirmed: bool) {
        self.run_timers(now);
        let Some(flight) = self.flights.get_mut(&id).filter(|flight| flight.step == Step::Confirming) else { return };
        if !is_confirmed {
            self.refused_elsewhere(id);
            return self.settle();
        }
        (flight.step, flight.wait_until) = (Step::Second, None);
        if let Some(call) = self.history.calls.get_mut(&id) {
            call.confirmed = true;
        }
        self.decide(id);
        self.settle();
    }

    /// Judges again a call that was allowed, and lets it pass without a confirmation.
    pub fn make(&mut self, now: Now, id: CallId) {
        self.run_timers(now);
        let Some(flight) = self.flights.get_mut(&id).filter(|flight| flight.step == Step::Confirming) else { return };
        (flight.step, flight.wait_until) = (Step::Second, None);
        self.decide(id);
        self.settle();
    }

    /// Accepts the end of a call that was made. Only [`Ended::Ok`] has an answer.
    pub fn end(&mut self, now: Now, id: CallId, end: Ended, answer: Option<&Value>) {
        let reading = self.tool_of(id).map(|tool| self.reader().answer(&tool, answer));
        self.end_read(now, id, end, reading);
    }

    /// Same as [`end`](Self::end), for an answer that was read in advance. If the rules have changed since, it is unknown.
    pub fn end_read(&mut self, now: Now, id: CallId, end: Ended, answer: Option<CallReading>) {
        self.run_timers(now);
        if self.history.calls.get(&id).is_some_and(|call| call.state == State::Made) {
            self.ended(id, end, answer);
            self.settle();
        }
    }

    /// Sets the number of the log entry of a call's intent or refusal, or of its outcome.
    pub fn logged(&mut self, id: CallId, entry: u64, is_outcome: bool) {
        if let Some(call) = self.history.calls.get_mut(&id) {
            let [intent, outcome] = &mut call.entries;
            *if is_outcome { outcome } else { intent } = Some(entry);
        }
    }

    /// Accepts a cancellation: a call not yet made never will be, and a running one may have run.
    pub fn cancel(&mut self, now: Now, id: CallId) {
        self.run_timers(now);
        match self.flights.contains_key(&id) {
            true => {
                self.drop_flight(id);
            }
            false if self.history.calls.get(&id).is_some_and(|call| call.state == State::Made) => {
                self.ended(id, Ended::MayHaveRun, None);
            }
            false => return,
        }
        self.settle();
    }

    /// Accepts another rule's refusal of a call that was already requested.
    pub fn refuse(&mut self, now: Now, id: CallId) {
        self.run_timers(now);
        if self.flights.contains_key(&id) {
            self.refused_elsewhere(id);
            self.settle();
        }
    }

    fn refused_elsewhere(&mut self, id: CallId) {
        self.refused(id);
        self.outputs.push_back(Output::Refused(id));
    }

    /// Accepts that a call that was let pass was refused after all, before its intent was logged.
    pub fn withdraw(&mut self, now: Now, id: CallId) {
        self.run_timers(now);
        if self.history.calls.get(&id).is_some_and(|call| call.state == State::Made) {
            self.refused_elsewhere(id);
            self.settle();
        }
    }

    /// Judges all calls by other rules from now on, waiting ones included. What both rule sets read of calls stays known;
    /// what only the old rules read is forgotten.
    pub fn reload(&mut self, now: Now, rules: RuleSet) {
        let rules = Arc::new(rules);
        let reader = self.reader_by(&rules);
        let readings = self.unmade().map(|(id, tool, args)| (id, reader.args(&tool, args.as_deref()))).collect();
        self.reload_read(now, rules, readings);
    }

    /// Returns the calls not yet made, with tool and arguments, so that other rules can read them.
    pub fn unmade(&self) -> impl Iterator<Item = (CallId, Tool, Option<Arc<Value>>)> {
        self.flights.iter().filter_map(|(id, flight)| Some((*id, self.tool_of(*id)?, flight.args.clone())))
    }

    /// Same as [`reload`](Self::reload), for calls that were read in advance under the new rules. For a call that arrived
    /// in between, what requires a query of the file system stays unknown.
    pub fn reload_read(&mut self, now: Now, rules: Arc<RuleSet>, mut readings: HashMap<CallId, CallReading>) {
        self.run_timers(now);
        let before = std::mem::replace(&mut self.rules, rules);
        (self.rules_since, self.idle_check) = (self.now.mono, i64::MIN);
        for (id, flight) in &self.flights {
            let Some(tool) = self.history.calls.get(id).map(|call| call.tool.clone()) else { continue };
            let read =
                readings.remove(id).filter(|read| Arc::ptr_eq(&read.rules, &self.rules)).map(|read| read.reading);
            let reading = read.unwrap_or_else(|| self.reader().at_once(&tool, flight.args.as_deref()));
            if let Some(call) = self.history.calls.get_mut(id) {
                call.reading = reading;
            }
        }
        self.outputs.push_back(Output::Reloaded);
        let rules = Arc::clone(&self.rules);
        let flights = &self.flights;
        self.history.realign(&before, &rules, |id| flights.contains_key(id));
        self.advance(self.now);
        self.settle();
    }

    /// Changes how verdicts are applied from now on.
    pub fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
        self.settle();
    }

    /// Advances the time and fires the timers that are due.
    pub fn tick(&mut self, now: Now) {
        self.fire_before(now.mono.saturating_add(1));
        self.advance(now);
        self.settle();
    }
}
