//! State machine of the order rules: requests, ends and timers go in; verdicts and findings come out.
//!
//! It reads no clock and never waits: the caller passes the time, and asks [`Engine::next_timer`] when to call
//! [`Engine::tick`].

mod event;
mod input;
mod log;
mod queue;
mod recorded;
mod sessions;
pub mod trace;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde_json::Value;

use crate::history::{Call, CallId, Ended, History, Moment, Now, Reading, State};
use crate::judge::{Judge, Owed, Refusal, Verdict};
use crate::rules::{RuleSet, Tool, Was};
use crate::values::Secret;

pub use event::{Ask, Finding, HowEnded, Mode, Output, SessionsOf};
pub use recorded::{JudgedCall, RecordedArgs, RecordedCall, RecordedCalls};

/// State of all calls, and the rules that judge them.
#[derive(Debug)]
pub struct Engine {
    rules: Arc<RuleSet>,
    secret: Secret,
    mode: Mode,
    history: History,
    flights: BTreeMap<CallId, Flight>,
    outputs: VecDeque<Output>,
    last_id: u64,
    last_arrival: u64,
    position: u64,
    /// Latest readings of the clocks.
    now: Now,
    /// Monotonic time at which the rules came into force.
    rules_since: i64,
    changes: u32,
    /// Owner of the sessions.
    sessions: SessionsOf,
    /// Monotonic time before which no session becomes idle.
    idle_check: i64,
}

/// Call that has not been made yet.
#[derive(Debug)]
struct Flight {
    session: String,
    args: Option<Arc<Value>>,
    /// Whether a human must confirm the call.
    must_confirm: bool,
    step: Step,
    /// Whether the call has been held back before.
    was_gathered: bool,
    gather_until: Option<i64>,
    wait_until: Option<i64>,
    parked_since: Option<i64>,
}

/// Step of a call that has not been made yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Before a confirmation.
    First,
    /// A human is being asked.
    Confirming,
    /// After a confirmation.
    Second,
}

/// Maximum number of waiting calls, in all sessions and in one.
const MAX_WAITING: (usize, usize) = (256, 64);
/// Number of changes after which old facts are removed.
const SWEEP: u32 = 4096;

impl Engine {
    /// Creates the state of a new log.
    #[must_use]
    pub fn new(rules: RuleSet, secret: Secret, mode: Mode, now: Now) -> Self {
        Self {
            rules: Arc::new(rules),
            secret,
            mode,
            history: History::default(),
            flights: BTreeMap::new(),
            outputs: VecDeque::new(),
            last_id: 0,
            last_arrival: 0,
            position: 0,
            now,
            rules_since: now.mono,
            changes: 0,
            sessions: SessionsOf::Record,
            idle_check: i64::MAX,
        }
    }

    /// Takes the outputs of all events so far, in order.
    pub fn outputs(&mut self) -> impl Iterator<Item = Output> + use<'_> {
        self.outputs.drain(..)
    }

    /// Returns the rules in force.
    #[must_use]
    pub fn rules(&self) -> &Arc<RuleSet> {
        &self.rules
    }

    /// Returns how verdicts are applied now.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns whether a rule counts refusals of a tool's calls, which the log must then describe in more detail.
    #[must_use]
    pub fn counts_refusals(&self, tool: &Tool) -> bool {
        let rules = self.rules.tools.get(tool);
        rules.is_some_and(|rules| rules.links.iter().any(|link| matches!(link.watch.was, Was::Asked | Was::Refused)))
    }

    /// Advances to a later time. Neither clock ever goes back.
    fn advance(&mut self, now: Now) {
        self.now = Now { mono: self.now.mono.max(now.mono), wall: self.now.wall.max(now.wall) };
        for debt in self.history.debts.overdue(self.now) {
            self.report(debt, HowEnded::Overdue);
        }
        self.end_idle();
        self.changes += 1;
        if self.changes >= SWEEP {
            self.changes = 0;
            let rules = Arc::clone(&self.rules);
            self.history.sweep(&rules, self.now);
        }
    }

    /// Returns the moment of a log entry that is written now.
    fn moment(&mut self) -> Moment {
        self.position += 1;
        let Now { mono, wall } = self.now;
        Moment { position: self.position, forbids: mono, permits: mono, wall }
    }

    /// Changes the state of a call, and updates the shelves that hold it.
    fn change(&mut self, id: CallId, change: impl FnOnce(&mut Call)) {
        let Some(call) = self.history.calls.get_mut(&id) else { return };
        let before = call.clone();
        change(call);
        let rules = self.rules.tools.get(&before.tool).cloned().unwrap_or_default();
        self.history.changed(id, &rules, |watch| before.is(watch.was));
        if self.history.calls.get(&id).is_some_and(|call| call.state == State::Ok) {
            self.history.succeeded(id, &rules);
        }
    }

    fn judge(&self, id: CallId) -> Verdict {
        if !self.history.calls.contains_key(&id) {
            return Verdict::Cancelled;
        }
        self.judged(id).map_or_else(|| Verdict::Allow { rests_on: Vec::new() }, |judge| judge.verdict())
    }

    /// Returns everything that a verdict on a call depends on; `None` if no rule names its tool.
    fn judged(&self, id: CallId) -> Option<Judge<'_>> {
        let call = self.history.calls.get(&id)?;
        let own = self.rules.tools.get(&call.tool)?;
        let since_reload = self.now.mono.saturating_sub(self.rules_since);
        Some(Judge { history: &self.history, rules: &self.rules.tools, call, own, now: self.now, since_reload })
    }

    fn owed_by(&self, debt: &crate::history::Debt) -> Owed {
        let entry = self.history.calls.get(&debt.opener).and_then(|call| call.entries.iter().flatten().next().copied());
        Owed {
            tools: debt.watch.named.clone(),
            opener: (debt.opener, entry),
            age_ms: u64::try_from(debt.since.forbid_age(self.now)).unwrap_or(0),
            members: debt.watch.args.iter().map(ToString::to_string).collect(),
        }
    }

    fn with_debts(&self, mut refusal: Box<Refusal>, session: &str) -> Box<Refusal> {
        refusal.owed = self.owed(session);
        refusal
    }

    fn tool_of(&self, id: CallId) -> Option<Tool> {
        self.history.calls.get(&id).map(|call| call.tool.clone())
    }
}

impl From<Ended> for State {
    fn from(end: Ended) -> Self {
        match end {
            Ended::Ok => Self::Ok,
            Ended::Failed => Self::Failed,
            Ended::MayHaveRun => Self::MayHaveRun,
            Ended::DidNotRun => Self::DidNotRun,
        }
    }
}

/// Reader of calls under the rules in force when it was created.
#[derive(Clone, Debug)]
pub struct Reader {
    rules: Arc<RuleSet>,
    secret: Secret,
}

/// Facts that rules read from the arguments or the answer of a call.
#[derive(Clone, Debug)]
pub struct CallReading {
    rules: Arc<RuleSet>,
    reading: Reading,
}

impl Engine {
    /// Creates a reader for the rules in force.
    #[must_use]
    pub fn reader(&self) -> Reader {
        self.reader_by(&self.rules)
    }

    /// Creates a reader for other rules, which come into force later.
    #[must_use]
    pub fn reader_by(&self, rules: &Arc<RuleSet>) -> Reader {
        Reader { rules: Arc::clone(rules), secret: self.secret.clone() }
    }
}

impl Reader {
    /// Returns whether a test of a tool's calls may query the file system.
    #[must_use]
    pub fn may_block(&self, tool: &Tool) -> bool {
        self.rules.tools.get(tool).is_some_and(|rules| rules.tests.iter().any(|(_, _, test)| test.may_block()))
    }

    /// Reads the arguments of a call without blocking. If a test needs the file system, nothing is known.
    fn at_once(&self, tool: &Tool, args: Option<&Value>) -> Reading {
        self.args(tool, args.filter(|_| !self.may_block(tool))).reading
    }

    /// Reads the arguments of a call; `args` is `None` if they are unknown.
    #[must_use]
    pub fn args(&self, tool: &Tool, args: Option<&Value>) -> CallReading {
        let reading = self.rules.tools.get(tool).map(|rules| Reading::of_args(rules, &self.secret, args));
        CallReading { rules: Arc::clone(&self.rules), reading: reading.unwrap_or_default() }
    }

    /// Reads the answer of a call; `answer` is `None` if it is unknown.
    #[must_use]
    pub fn answer(&self, tool: &Tool, answer: Option<&Value>) -> CallReading {
        let reading = self.rules.tools.get(tool).map(|rules| Reading::of_answer(rules, &self.secret, answer));
        CallReading { rules: Arc::clone(&self.rules), reading: reading.unwrap_or_default() }
    }
}
