//! Sessions and turns: how they begin and end, and what they owe.

use super::Engine;
use super::event::{Output, SessionsOf};
use crate::history::{Call, Ended, Now, OrderMember, Scope, State};
use crate::judge::Owed;

impl Engine {
    /// Sets the owner of the sessions that begin from now on.
    pub fn set_sessions(&mut self, of: SessionsOf) {
        self.sessions = of;
        self.idle_check = i64::MIN;
    }

    /// Returns whether a session has begun and not ended.
    #[must_use]
    pub fn has_session(&self, session: &str) -> bool {
        self.history.session(session).is_some()
    }

    /// Returns the sessions of clients, in order of their names.
    #[must_use]
    pub fn client_sessions(&self) -> Vec<String> {
        let mut clients = self.history.clients();
        clients.sort_unstable();
        clients
    }

    /// Returns the member `order` of the entries to be logged for calls of an earlier gate whose end is not in the log.
    /// Without these entries, a later start would assume that the calls ran until then.
    #[must_use]
    pub fn lost_calls(&self) -> Vec<OrderMember> {
        let is_lost = |call: &&Call| call.state == State::MayHaveRun && call.entries.iter().flatten().count() == 1;
        let mut lost: Vec<_> = self.history.calls.values().filter(is_lost).map(|call| call.id).collect();
        lost.sort_unstable();
        lost.into_iter().map(|id| self.outcome_member(id)).collect()
    }

    /// Returns the current debts of a session.
    #[must_use]
    pub fn owed(&self, session: &str) -> Vec<Owed> {
        let Some(number) = self.history.session(session) else { return Vec::new() };
        let turns = self.history.turns(session).into_iter().map(Scope::Turn);
        let scopes: Vec<_> = turns.chain([Scope::Session(number)]).collect();
        self.owed_in(&scopes)
    }

    /// Returns the current debts of a turn, in any session.
    #[must_use]
    pub fn owed_by_turn(&self, turn: &str) -> Vec<Owed> {
        let sessions = self.history.sessions_with(turn);
        let numbers = sessions.iter().filter_map(|session| self.history.turn(session, turn));
        self.owed_in(&numbers.map(Scope::Turn).collect::<Vec<_>>())
    }

    fn owed_in(&self, scopes: &[Scope]) -> Vec<Owed> {
        self.history.debts.in_scopes(scopes).into_iter().map(|debt| self.owed_by(debt)).collect()
    }

    /// Accepts the end of a turn, and reports its debts.
    pub fn end_turn(&mut self, now: Now, session: &str, turn: &str) {
        self.run_timers(now);
        if let Some(number) = self.history.turn(session, turn) {
            self.report_scope(Scope::Turn(number));
        }
    }

    /// Accepts the end of a turn by name only, in any session.
    pub fn end_turn_named(&mut self, now: Now, turn: &str) {
        for session in self.history.sessions_with(turn) {
            self.end_turn(now, &session, turn);
        }
    }

    /// Accepts the end of a session: its running calls may have run, waiting ones are dropped, and what it owes is reported.
    pub fn end_session(&mut self, now: Now, session: &str) {
        self.run_timers(now);
        self.close_session(session, false);
        self.settle();
    }

    fn close_session(&mut self, session: &str, is_idle: bool) {
        let Some(number) = self.history.session(session) else { return };
        let owed = self.owed(session);
        for id in self.history.all_in_flight() {
            let Some(call) = self.history.calls.get(&id).filter(|call| call.session == Some(number)) else { continue };
            match call.state {
                State::Made => self.ended(id, Ended::MayHaveRun, None),
                _ => self.drop_flight(id),
            }
        }
        for turn in self.history.turns(session) {
            self.report_scope(Scope::Turn(turn));
        }
        self.report_scope(Scope::Session(number));
        self.history.end_session(session);
        self.outputs.push_back(Output::SessionEnded { session: session.to_owned(), owed, is_idle });
    }

    /// Reports for the log that a session has begun, once there are rules.
    pub(super) fn begin_session(&mut self, session: &str) {
        let is_recorded = self.sessions == SessionsOf::Record || self.rules.is_empty();
        if !is_recorded && self.history.announce(session, self.sessions == SessionsOf::Clients) {
            self.outputs.push_back(Output::SessionBegan(session.to_owned()));
        }
    }

    /// Records a request or an end of a call in a session.
    pub(super) fn note_activity(&mut self, session: Option<u64>) {
        self.history.note_activity(session, self.now.mono);
        if self.sessions == SessionsOf::Program {
            self.idle_check = self.idle_check.min(self.now.mono.saturating_add(self.rules.idle_ms));
        }
    }

    /// Ends the sessions of programs that have been idle for too long.
    pub(super) fn end_idle(&mut self) {
        if self.sessions == SessionsOf::Record || self.now.mono < self.idle_check {
            return;
        }
        let (now, idle) = (self.now.mono, self.rules.idle_ms);
        let is_due = |last: i64| now.saturating_sub(last) >= idle;
        let due = self.history.activity().filter(|(_, last)| is_due(*last)).map(|(name, _)| name.to_owned());
        let mut due: Vec<_> = due.filter(|name| !self.history.is_busy(name)).collect();
        due.sort_unstable();
        for session in due {
            self.close_session(&session, true);
        }
        let next = self.history.activity().map(|(_, last)| last.saturating_add(idle)).filter(|next| *next > now);
        // A session with a call in flight becomes active again when that call ends.
        self.idle_check = next.min().unwrap_or(i64::MAX);
    }

    /// Returns the monotonic time at which a session may become idle.
    pub(super) fn next_idle(&self) -> Option<i64> {
        (self.sessions != SessionsOf::Record && self.idle_check < i64::MAX).then_some(self.idle_check)
    }
}
