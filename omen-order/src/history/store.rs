//! Calls, and the indexes in which matchers find them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::call_index::CallIndex;
use super::{Call, CallId, Debt, Debts, Now, Scope, State};
use crate::rules::{Bound, Link, MAX_CALLS, Per, Role, RuleSet, Tool, ToolRules, Watch};
use crate::values::{Fit, MemberValue};

/// Calls, indexes and debts.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) calls: HashMap<CallId, Call>,
    indexes: HashMap<Scope, HashMap<usize, CallIndex>>,
    /// Most recently ended calls of each tool, for rules of later configurations.
    recent: HashMap<Tool, VecDeque<CallId>>,
    in_flight: HashMap<Tool, BTreeSet<CallId>>,
    pub(crate) debts: Debts,
    sessions: HashMap<String, Session>,
    /// Monotonic time of the latest request or end of a call, by session number.
    active: HashMap<u64, i64>,
    next: u64,
    /// Number of places of calls in indexes and lists.
    places: usize,
    /// Calls that a verdict ignores, to show what it would be without them.
    pub(crate) hidden: HashSet<CallId>,
}

#[derive(Debug, Default)]
struct Session {
    number: u64,
    turns: BTreeMap<String, u64>,
    /// Whether the log records its beginning.
    is_announced: bool,
    /// Whether it belongs to a client, so that it ends with the gate.
    is_client: bool,
}

impl Session {
    /// Returns the number of a turn, if it can be remembered.
    fn turn(&mut self, name: &str, next: &mut u64) -> Option<u64> {
        if let Some(number) = self.turns.get(name) {
            return Some(*number);
        }
        *next += 1;
        (self.turns.len() < MAX_TURNS).then(|| *self.turns.entry(name.to_owned()).or_insert(*next))
    }
}

/// Maximum number of sessions, and of turns in a session, that are remembered.
const MAX_SESSIONS: usize = 1000;
const MAX_TURNS: usize = 10_000;
/// Bytes per place of a call, including its share of the call.
const PLACE_BYTES: usize = 96;
/// Maximum memory of all calls together, in bytes.
const MAX_BYTES: usize = 64 << 20;
/// Age beyond which a call cannot overlap with a new one, because no call runs that long.
const LONGEST_CALL_MS: i64 = 86_400_000;

impl History {
    /// Returns the numbers of a session and of its turn, if they can be remembered.
    pub(crate) fn open(&mut self, session: &str, turn: &str, has_turns: bool) -> (Option<u64>, Option<u64>) {
        if !self.begin_session(session) {
            return (None, None);
        }
        let Some(known) = self.sessions.get_mut(session) else { return (None, None) };
        if !has_turns {
            return (Some(known.number), None);
        }
        (Some(known.number), known.turn(turn, &mut self.next))
    }

    /// Begins a session unless it is known. Returns whether it can be remembered.
    fn begin_session(&mut self, session: &str) -> bool {
        if self.sessions.contains_key(session) {
            return true;
        }
        if self.sessions.len() >= MAX_SESSIONS {
            return false;
        }
        self.next += 1;
        self.sessions.insert(session.to_owned(), Session { number: self.next, ..Session::default() });
        true
    }

    /// Records that the log has the beginning of a session. Returns whether it did not have it before.
    pub(crate) fn announce(&mut self, session: &str, is_client: bool) -> bool {
        let is_remembered = self.begin_session(session);
        let known = self.sessions.get_mut(session).filter(|session| is_remembered && !session.is_announced);
        let is_new = known.is_some();
        if let Some(known) = known {
            (known.is_announced, known.is_client) = (true, is_client);
        }
        is_new
    }

    /// Records a request or an end of a call.
    pub(crate) fn note_activity(&mut self, session: Option<u64>, mono: i64) {
        if let Some(session) = session {
            self.active.insert(session, mono);
        }
    }

    pub(crate) fn clients(&self) -> Vec<String> {
        let clients = self.sessions.iter().filter(|(_, session)| session.is_client);
        clients.map(|(name, _)| name.clone()).collect()
    }

    /// Returns the sessions of programs, each with the time of its latest activity.
    pub(crate) fn activity(&self) -> impl Iterator<Item = (&str, i64)> {
        let programs = self.sessions.iter().filter(|(_, session)| !session.is_client);
        programs.filter_map(|(name, session)| Some((name.as_str(), *self.active.get(&session.number)?)))
    }

    /// Returns whether a session has calls in flight.
    pub(crate) fn is_busy(&self, session: &str) -> bool {
        let number = self.session(session);
        let mut in_flight = self.in_flight.values().flatten().filter_map(|id| self.calls.get(id));
        number.is_some() && in_flight.any(|call| call.session == number)
    }

    pub(crate) fn sessions_with(&self, turn: &str) -> Vec<String> {
        let with = self.sessions.iter().filter(|(_, session)| session.turns.contains_key(turn));
        with.map(|(name, _)| name.clone()).collect()
    }

    pub(crate) fn session(&self, session: &str) -> Option<u64> {
        self.sessions.get(session).map(|session| session.number)
    }

    pub(crate) fn turn(&self, session: &str, turn: &str) -> Option<u64> {
        self.sessions.get(session)?.turns.get(turn).copied()
    }

    /// Returns the scope of a matcher for a call; `None` if it is not remembered.
    pub(crate) fn scope(call: &Call, per: Per) -> Option<Scope> {
        match per {
            Per::All => Some(Scope::All),
            Per::Session | Per::Turn if call.is_unplaced => Some(Scope::Unplaced),
            Per::Session => call.session.map(Scope::Session),
            Per::Turn => call.turn.map(Scope::Turn),
        }
    }

    pub(crate) fn scopes(call: &Call) -> Vec<Scope> {
        [Per::Turn, Per::Session, Per::All].into_iter().filter_map(|per| Self::scope(call, per)).collect()
    }

    /// Adds a requested call.
    pub(crate) fn ask(&mut self, call: Call, rules: &ToolRules) {
        let id = call.id;
        self.in_flight.entry(call.tool.clone()).or_default().insert(id);
        self.calls.insert(id, call);
        self.changed(id, rules, |_| false);
    }

    /// Puts a call into the indexes where it has become a fact, and removes it from those where it no longer is one.
    /// `was` returns whether it was a fact before.
    pub(crate) fn changed(&mut self, id: CallId, rules: &ToolRules, was: impl Fn(&Watch) -> bool) {
        let ended = self.calls.get(&id).filter(|call| !call.is_in_flight()).map(|call| call.tool.clone());
        if let Some(tool) = ended
            && self.in_flight.get_mut(&tool).is_some_and(|ids| ids.remove(&id))
        {
            let recent = self.recent.entry(tool).or_default();
            recent.push_back(id);
            let dropped = (recent.len() > MAX_CALLS as usize).then(|| recent.pop_front()).flatten();
            self.hold(id);
            dropped.into_iter().for_each(|id| self.release(id));
        }
        for link in &rules.links {
            if link.watch.role == Role::Settles {
                continue;
            }
            let Some(call) = self.calls.get(&id) else { return };
            match (was(&link.watch), call.is(link.watch.was)) {
                (false, true) => self.shelve(link, id),
                (true, false) => self.unshelve(link, id),
                _ => {}
            }
        }
    }

    fn shelve(&mut self, link: &Arc<Link>, id: CallId) {
        let Some(call) = self.calls.get(&id).filter(|call| call.fit(link) != Fit::No) else { return };
        let Some(scope) = Self::scope(call, link.watch.per) else { return };
        let index = self.indexes.entry(scope).or_default().entry(link.watch.id).or_default();
        let dropped = index.add(link, id, &self.calls);
        self.hold(id);
        dropped.into_iter().for_each(|id| self.release(id));
    }

    fn unshelve(&mut self, link: &Link, id: CallId) {
        let Some(call) = self.calls.get(&id) else { return };
        let Some(scope) = Self::scope(call, link.watch.per) else { return };
        let index = self.indexes.get_mut(&scope).and_then(|indexes| indexes.get_mut(&link.watch.id));
        if index.is_some_and(|index| index.remove(link, call)) {
            self.release(id);
        }
    }

    fn hold(&mut self, id: CallId) {
        self.places += 1;
        if let Some(call) = self.calls.get_mut(&id) {
            call.held += 1;
        }
    }

    fn release(&mut self, id: CallId) {
        self.places = self.places.saturating_sub(1);
        if let Some(call) = self.calls.get_mut(&id) {
            call.held = call.held.saturating_sub(1);
            if call.held == 0 && !call.is_in_flight() {
                self.calls.remove(&id);
            }
        }
    }

    /// Returns the calls in the index of a matcher that may have the given members.
    pub(crate) fn matching<'h>(
        &'h self,
        watch: &Watch,
        scope: Scope,
        members: &[MemberValue],
    ) -> impl Iterator<Item = &'h Call> + use<'h> {
        let unplaced = (scope != Scope::All).then_some(Scope::Unplaced);
        let indexes = unplaced.into_iter().chain([scope]).filter_map(|scope| self.indexes.get(&scope)?.get(&watch.id));
        let ids: Vec<_> = indexes.flat_map(|index| index.matching(members)).collect();
        ids.into_iter().filter(|id| !self.hidden.contains(id)).filter_map(|id| self.calls.get(&id))
    }

    /// Returns whether a call would exceed what can be remembered.
    pub(crate) fn is_full_for(&self, call: &Call, rules: &ToolRules) -> bool {
        let mut must_remember = rules.links.iter().filter(|link| link.watch.role.must_remember()).peekable();
        if must_remember.peek().is_some() && self.places * PLACE_BYTES > MAX_BYTES {
            return true;
        }
        must_remember.any(|link| {
            let Some(scope) = Self::scope(call, link.watch.per) else { return true };
            let index = self.indexes.get(&scope).and_then(|indexes| indexes.get(&link.watch.id));
            index.is_some_and(|index| index.is_full_for(&call.compared(link)))
        })
    }

    pub(crate) fn in_flight(&self, tool: &Tool) -> impl Iterator<Item = &Call> {
        self.in_flight.get(tool).into_iter().flatten().filter_map(|id| self.calls.get(id))
    }

    /// Returns all calls in flight, in the order of their requests.
    pub(crate) fn all_in_flight(&self) -> BTreeSet<CallId> {
        self.in_flight.values().flatten().copied().collect()
    }

    /// Returns the calls of a tool that have ended, newest first.
    pub(crate) fn recent(&self, tool: &Tool) -> impl Iterator<Item = &Call> {
        self.recent.get(tool).into_iter().flat_map(|ids| ids.iter().rev()).filter_map(|id| self.calls.get(id))
    }

    /// Adds the debts of a call that has succeeded, and settles the debts that it fulfils.
    pub(crate) fn succeeded(&mut self, id: CallId, rules: &ToolRules) {
        self.owe(id, rules);
        self.settle(id, rules);
    }

    fn owe(&mut self, id: CallId, rules: &ToolRules) {
        for duty in rules.duties.iter().filter(|duty| duty.bound == Bound::Owes) {
            let Some((watch, members)) = duty.premises.first() else { continue };
            let Some(call) = self.calls.get(&id) else { return };
            let applies = duty
                .condition
                .map_or(Fit::Yes, |test| call.reading.tests.get(test).copied().flatten().unwrap_or(Fit::Unknown));
            let (Some(scope), Some(since)) = (Self::scope(call, watch.per), call.ended) else { continue };
            if scope == Scope::Unplaced || applies == Fit::No || call.closed.contains(&duty.content) {
                continue;
            }
            let debt = Debt {
                opener: id,
                rule: duty.number,
                content: duty.content.clone(),
                path: duty.path.clone(),
                watch: Arc::clone(watch),
                scope,
                members: call.members(members),
                since,
                is_uncertain: applies == Fit::Unknown,
            };
            self.debts.add(debt);
            self.hold(id);
        }
    }

    fn settle(&mut self, id: CallId, rules: &ToolRules) {
        if !rules.links.iter().any(|link| link.watch.role == Role::Settles) {
            return;
        }
        let Some(call) = self.calls.get(&id) else { return };
        for debt in self.debts.settle(call, &Self::scopes(call)) {
            self.close(&debt);
        }
    }

    /// Marks a debt as settled or reported.
    pub(crate) fn close(&mut self, debt: &Debt) {
        if let Some(call) = self.calls.get_mut(&debt.opener) {
            call.closed.push(debt.content.clone());
        }
        self.release(debt.opener);
    }

    /// Forgets a session, with its turns.
    pub(crate) fn end_session(&mut self, session: &str) {
        let Some(Session { number, turns, .. }) = self.sessions.remove(session) else { return };
        self.active.remove(&number);
        let scopes = turns.into_values().map(Scope::Turn).chain([Scope::Session(number)]);
        for scope in scopes {
            let indexes = self.indexes.remove(&scope).unwrap_or_default();
            indexes.values().flat_map(CallIndex::ids).collect::<Vec<_>>().into_iter().for_each(|id| self.release(id));
        }
    }

    /// Numbers of a session's turns.
    pub(crate) fn turns(&self, session: &str) -> Vec<u64> {
        self.sessions.get(session).into_iter().flat_map(|session| session.turns.values()).copied().collect()
    }

    /// Forgets facts that are older than every window that counts them.
    pub(crate) fn sweep(&mut self, rules: &RuleSet, now: Now) {
        let mut watches = HashMap::new();
        for link in rules.tools.values().flat_map(|tool| &tool.links) {
            watches.insert(link.watch.id, Arc::clone(&link.watch));
            for until in &link.watch.untils {
                watches.insert(until.id, Arc::clone(until));
            }
        }
        let within: HashMap<usize, i64> = watches
            .values()
            .filter_map(|watch| Some((watch, watch.within?)))
            .flat_map(|(watch, within)| {
                let untils = watch.untils.iter().map(move |until| (until.id, within.saturating_add(LONGEST_CALL_MS)));
                untils.chain([(watch.id, within)])
            })
            .collect();
        let mut dropped = Vec::new();
        for (watch, index) in self.indexes.values_mut().flatten() {
            let (Some(watch), Some(within)) = (watches.get(watch), within.get(watch)) else { continue };
            dropped.extend(index.sweep(|id| {
                self.calls.get(&id).is_none_or(|call| {
                    let moment = call.moment(watch.was);
                    !call.is_in_flight() && moment.permit_age(now).min(moment.forbid_age(now)) >= *within
                })
            }));
        }
        for ids in self.recent.values_mut() {
            while let Some(id) = ids.front() {
                let age = self.calls.get(id).and_then(|call| call.ended).map(|ended| ended.forbid_age(now));
                let is_old =
                    age.is_none_or(|age| age >= i64::try_from(crate::rules::MAX_WINDOW_MS).unwrap_or(i64::MAX));
                let is_open = self.calls.get(id).is_some_and(|call| {
                    call.session.is_some_and(|number| self.sessions.values().any(|session| session.number == number))
                });
                if !is_old || is_open {
                    break;
                }
                dropped.extend(ids.pop_front());
            }
        }
        dropped.into_iter().for_each(|id| self.release(id));
    }

    /// Aligns all calls with new rules, except those that were read again, and rebuilds their indexes and debts.
    pub(crate) fn realign(&mut self, before: &RuleSet, now: &RuleSet, is_read: impl Fn(&CallId) -> bool) {
        for debt in self.debts.clear() {
            self.release(debt.opener);
        }
        let indexes = std::mem::take(&mut self.indexes);
        let recent: BTreeSet<_> = self.recent.values().flatten().copied().collect();
        let mut open: HashMap<_, _> = self.sessions.values_mut().map(|session| (session.number, session)).collect();
        for call in self.calls.values_mut() {
            call.held = 0;
            // After its session has ended, a call is known only to rules over all sessions.
            match call.session.and_then(|session| open.get_mut(&session)) {
                Some(session) if now.has_turns => call.turn = session.turn(&call.turn_name, &mut self.next),
                Some(_) => call.turn = None,
                None => (call.session, call.turn) = (None, None),
            }
            if let Some(rules) = now.tools.get(&call.tool).filter(|_| !is_read(&call.id)) {
                call.reading = call.reading.realigned(before.tools.get(&call.tool).map(Arc::as_ref), rules);
            }
        }
        drop(indexes);
        self.places = 0;
        for id in &recent {
            self.hold(*id);
        }
        let mut facts: Vec<_> = self.calls.values().map(|call| (call.end(), call.start(), call.id)).collect();
        facts.sort_unstable();
        let ids: Vec<_> = facts.into_iter().map(|(.., id)| id).collect();
        for id in &ids {
            let Some(rules) = self.calls.get(id).and_then(|call| now.tools.get(&call.tool)).cloned() else { continue };
            self.changed(*id, &rules, |_| false);
            if self.calls.get(id).is_some_and(|call| call.state == State::Ok) {
                self.owe(*id, &rules);
            }
        }
        for id in ids {
            let Some(call) = self.calls.get(&id) else { continue };
            let Some(rules) = now.tools.get(&call.tool).filter(|_| call.state == State::Ok).cloned() else { continue };
            self.settle(id, &rules);
        }
        // Calls that neither a rule nor a list holds are forgotten.
        self.calls.retain(|_, call| call.held > 0 || call.is_in_flight());
    }
}
