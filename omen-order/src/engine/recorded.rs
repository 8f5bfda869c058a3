//! Calls of a log, judged again at their positions, by the same rules or by others.
//!
//! The log entry of a call has the data that the rules in force read. Data that other rules read is taken from the arguments, as
//! far as the log has them; the rest is unknown, and a verdict that depends on it is undecided.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::event::{Mode, Output};
use super::{CallReading, Engine, Finding};
use crate::history::{Call, CallId, Ended, Moment, Now, OrderMember, Reading, State};
use crate::judge::{CallRelation, RelatedCall, Verdict};
use crate::rules::{ContentId, RuleSet, Side, Tool, ToolRules};
use crate::values::{self, Amount, MemberValue, Secret};

/// Calls of a log, and the rules that judge them.
#[derive(Debug)]
pub struct RecordedCalls {
    engine: Engine,
    /// Whether the log's secret is known, so that arguments can be hashed to keys.
    has_secret: bool,
    /// Contents that the rules then in force read of calls.
    known: HashSet<ContentId>,
    /// Latest time of an entry. A later entry may have an earlier time, if the clock was set back.
    latest: Option<i64>,
    /// Log entries of the root causes of calls that were made although a rule refuses them.
    roots: HashMap<CallId, u64>,
    sessions: HashSet<String>,
}

/// Call in a log: a request that was made or refused.
#[derive(Clone, Copy, Debug)]
pub struct RecordedCall<'c> {
    /// Tool.
    pub tool: &'c Tool,
    /// Session; `None` if the log does not state it.
    pub session: Option<&'c str>,
    /// Turn in the session.
    pub turn: &'c str,
    /// Whether a human confirmed the call.
    pub is_confirmed: bool,
    /// Whether the call was refused.
    pub is_refused: bool,
    /// Facts that the rules then in force read of the call.
    pub order: Option<&'c OrderMember>,
    /// Arguments, as far as they were recorded.
    pub args: Option<RecordedArgs<'c>>,
}

/// Arguments as logged. Values may be hidden.
#[derive(Clone, Copy)]
pub struct RecordedArgs<'a> {
    /// Object with the arguments.
    pub value: &'a Value,
    /// Whether the value at a JSON pointer is hidden.
    pub is_hidden: &'a dyn Fn(&str) -> bool,
}

impl std::fmt::Debug for RecordedArgs<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecordedArgs").finish_non_exhaustive()
    }
}

/// Verdict on a call of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedCall {
    /// Identifier of the call, for reporting its end.
    pub id: CallId,
    /// Verdict at this point of the log.
    pub verdict: Verdict,
    /// Earlier calls behind a verdict against the call, in the order of the log.
    pub related: Vec<RelatedCall>,
    /// Log entry of the root cause: a call that itself broke a rule, and without which this one would break none.
    pub root: Option<u64>,
}

impl RecordedCalls {
    /// Creates the state before the first entry. Without the log's secret, members of arguments for which the log has no
    /// keys cannot be compared.
    #[must_use]
    pub fn new(rules: RuleSet, secret: Option<Secret>) -> Self {
        let has_secret = secret.is_some();
        let secret = secret.unwrap_or_else(|| Secret::new(&[0; 32]));
        Self {
            engine: Engine::new(rules, secret, Mode::Observe, Now { mono: 0, wall: 0 }),
            has_secret,
            known: HashSet::new(),
            latest: None,
            roots: HashMap::new(),
            sessions: HashSet::new(),
        }
    }

    /// Returns whether a rule counts refusals of a tool's calls.
    #[must_use]
    pub fn counts_refusals(&self, tool: &Tool) -> bool {
        self.engine.counts_refusals(tool)
    }

    /// Accepts the time of the next entry, in milliseconds since 1970. Setting the clock back does not make anything younger.
    pub fn advance(&mut self, wall: i64) {
        let passed = self.latest.map_or(0, |latest| wall.saturating_sub(latest).max(0));
        self.latest = Some(wall);
        let mono = self.engine.now.mono.saturating_add(passed);
        self.engine.advance(Now { mono, wall });
    }

    /// Accepts the contents that the rules read of calls, when they come into force.
    pub fn rules(&mut self, contents: &[ContentId]) {
        self.known = contents.iter().cloned().collect();
    }

    /// Judges a call with the number of its entry, and remembers it.
    pub fn call(&mut self, entry: u64, call: RecordedCall<'_>) -> JudgedCall {
        self.engine.last_id += 1;
        let id = CallId(self.engine.last_id);
        let Some(rules) = self.engine.rules.tools.get(call.tool).cloned() else {
            return JudgedCall {
                id,
                verdict: Verdict::Allow { rests_on: Vec::new() },
                related: Vec::new(),
                root: None,
            };
        };
        self.remember(id, entry, call, &rules);
        let (verdict, related) = self.judge(id);
        let is_broken = matches!(&verdict, Verdict::Refuse(refusal) if !refusal.cause.is_undecided());
        let root = if is_broken { self.root(id, &related) } else { None };
        let moment = self.engine.moment();
        if is_broken && !call.is_refused {
            self.roots.insert(id, root.unwrap_or(entry));
            if self.roots.len() > 2 * self.engine.history.calls.len() + 1000 {
                self.roots.retain(|id, _| self.engine.history.calls.contains_key(id));
            }
        }
        self.engine.change(id, |known| {
            (known.is_broken, known.begun) = (is_broken, Some(moment));
            match call.is_refused {
                true => (known.state, known.ended) = (State::Refused, Some(moment)),
                false => known.state = State::Made,
            }
        });
        JudgedCall { id, verdict, related, root }
    }

    fn remember(&mut self, id: CallId, entry: u64, call: RecordedCall<'_>, rules: &ToolRules) {
        let engine = &mut self.engine;
        let (session, turn) = match call.session {
            Some(session) => engine.history.open(session, call.turn, engine.rules.has_turns),
            None => (None, None),
        };
        if let Some(session) = call.session.filter(|_| session.is_some()) {
            self.sessions.insert(session.to_owned());
        }
        // Calls that ran concurrently are awaited in the order of their requests.
        engine.last_arrival = engine.last_arrival.max(call.order.map_or(0, |order| order.arrival));
        let arrival = call.order.map_or(engine.last_arrival, |order| order.arrival);
        let Now { mono, wall } = engine.now;
        let earlier = call.order.and_then(|order| order.asked).map_or(0, |asked| wall.saturating_sub(asked).max(0));
        let asked = mono.saturating_sub(earlier);
        let reading = self.reading(rules, call);
        let call = Call {
            id,
            arrival,
            tool: call.tool.clone(),
            session,
            turn,
            turn_name: call.turn.into(),
            state: State::Asked,
            confirmed: call.is_confirmed,
            asked: Moment { position: 0, forbids: asked, permits: asked, wall: wall.saturating_sub(earlier) },
            begun: None,
            ended: None,
            entries: [Some(entry), None],
            reading,
            closed: Vec::new(),
            is_unplaced: call.session.is_none(),
            is_broken: false,
            held: 0,
        };
        self.engine.history.ask(call, rules);
    }

    /// Reads a call: from its log entry what the rules then in force read, the rest from its arguments.
    fn reading(&self, rules: &ToolRules, call: RecordedCall<'_>) -> Reading {
        let mut reading = Reading::of_args(rules, &self.engine.secret, None);
        if let Some(order) = call.order {
            super::log::fill_in(&self.known, &mut reading, rules, (Side::Args, order));
        }
        let Some(args) = call.args else { return reading };
        let is_recorded = |content: &ContentId| call.order.is_some() && self.known.contains(content);
        for ((content, side, test), fit) in rules.tests.iter().zip(&mut reading.tests) {
            if *side == Side::Args && !is_recorded(content) {
                *fit = Some(test.judge_recorded(args.value));
            }
        }
        for ((content, member), value) in rules.members.iter().zip(&mut reading.members) {
            if member.side == Side::Args && !is_recorded(content) && !(args.is_hidden)(&member.pointer) {
                *value = match values::key_of(&self.engine.secret, args.value, &member.pointer) {
                    MemberValue::Key(_) if !self.has_secret => MemberValue::Unknown,
                    value => value,
                };
            }
        }
        for ((content, at), amount) in rules.sums.iter().zip(&mut reading.sums) {
            if !is_recorded(content) {
                let is_hidden = (args.is_hidden)(at);
                *amount = if is_hidden { Amount::Unknown } else { values::amount(args.value, at) };
            }
        }
        reading
    }

    fn judge(&self, id: CallId) -> (Verdict, Vec<RelatedCall>) {
        let verdict = self.engine.judge(id);
        let related = self.engine.judged(id).map(|judge| judge.related(&verdict)).unwrap_or_default();
        match verdict {
            Verdict::Wait { on } => (Verdict::Refuse(self.engine.waited(id, &on, 0, false)), related),
            verdict => (verdict, related),
        }
    }

    /// Finds the call that itself broke a rule and without which this one would not.
    fn root(&mut self, id: CallId, related: &[RelatedCall]) -> Option<u64> {
        let causes = related.iter().filter(|related| {
            matches!(related.relation, CallRelation::Forbids | CallRelation::Counts | CallRelation::Cancels)
                && self.roots.contains_key(&related.id)
        });
        let causes: Vec<_> = causes.map(|related| related.id).collect();
        let mut is_kept_without = |hidden: &[CallId]| {
            self.engine.history.hidden = hidden.iter().copied().collect();
            let verdict = self.engine.judge(id);
            self.engine.history.hidden.clear();
            matches!(verdict, Verdict::Allow { .. } | Verdict::Wait { .. })
        };
        if causes.is_empty() || !is_kept_without(&causes) {
            return None;
        }
        let one = causes.iter().take(CAUSES).find(|cause| is_kept_without(&[**cause])).or(causes.first())?;
        self.roots.get(one).copied()
    }

    /// Accepts the end of a call, with the number of its entry.
    pub fn ended(&mut self, id: CallId, end: Ended, entry: u64, order: Option<&OrderMember>) {
        let Some(call) = self.engine.history.calls.get(&id).filter(|call| call.state == State::Made) else { return };
        let reading = self.engine.rules.tools.get(&call.tool).map(|rules| {
            let mut reading = Reading::of_answer(rules, &self.engine.secret, None);
            if let Some(order) = order {
                super::log::fill_in(&self.known, &mut reading, rules, (Side::Answer, order));
            }
            CallReading { rules: std::sync::Arc::clone(&self.engine.rules), reading }
        });
        self.engine.logged(id, entry, true);
        self.engine.ended(id, end, reading);
    }

    /// Records that the answer of a call was withheld after its end.
    pub fn withheld(&mut self, id: CallId) {
        if self.engine.history.calls.get(&id).is_some_and(|call| call.state == State::Ok) {
            self.engine.change(id, |call| call.state = State::Failed);
        }
    }

    /// Accepts the start of a gate: calls that were running are over, and may have run.
    pub fn restarted(&mut self) {
        for id in self.engine.history.all_in_flight() {
            self.engine.ended(id, Ended::MayHaveRun, None);
        }
    }

    /// Accepts the end of a session, which must have settled its debts.
    pub fn session_ended(&mut self, session: &str) {
        let Now { mono, wall } = self.engine.now;
        self.sessions.remove(session);
        self.engine.end_session(Now { mono, wall }, session);
    }

    /// Returns the sessions that have begun and not ended, in order of their names.
    #[must_use]
    pub fn open_sessions(&self) -> Vec<String> {
        let mut sessions: Vec<_> = self.sessions.iter().cloned().collect();
        sessions.sort_unstable();
        sessions
    }

    /// Returns whether a session owes something.
    #[must_use]
    pub fn is_owing(&self, session: &str) -> bool {
        !self.engine.owed(session).is_empty()
    }

    /// Takes the debts that were not settled in time, each with its root cause if its opener broke a rule.
    pub fn found(&mut self) -> Vec<(Finding, Option<u64>)> {
        let outputs: Vec<_> = self.engine.outputs().collect();
        let root = |finding: &Finding| self.roots.get(&finding.owed.opener.0).copied();
        let found = outputs.into_iter().filter_map(|output| match output {
            Output::Found(finding) => Some((finding.clone(), root(&finding))),
            _ => None,
        });
        found.collect()
    }
}

/// Maximum number of calls that are tried one by one as the root cause.
const CAUSES: usize = 64;
