//! Verdicts of the order rules (O-1 to O-6) on the calls in an audit log, treated as facts and judged where they were made.
//!
//! The verdict on a call says whether it should have been made; later calls are judged as they were made, whatever the verdict.

mod entry;
mod finding;

use std::collections::{HashMap, HashSet, VecDeque};

use omen_order::{
    CallId, Ended, Entry, JudgedCall, OrderMember, Policy, RecordedArgs, RecordedCall, RecordedCalls, RuleSet, Secret,
    Tool,
};
use serde::Deserialize as _;
use serde_json::{Map, Value};

use crate::base::{Blocked, GateCode, ToolId};
use crate::call::arguments::is_hidden;
use crate::config::Config;
use crate::request::order::{ORDER, ORDER_KEY};
use omen_audit::Key;

use entry::{QueuedEntry, RefusalHalf};

pub use entry::LogEntry;
pub use finding::{JudgedEntry, OrderFinding, RelatedEntry};

/// Calls of one audit log, judged by the order rules of one configuration.
#[derive(Debug)]
pub struct OrderLog {
    calls: RecordedCalls,
    /// Calls whose outcome has not been read.
    running: HashMap<Running, CallId>,
    /// Calls confirmed by a human in gates without order rules.
    confirmed: HashSet<(String, String)>,
    /// Latest call of each turn, whose answer may still be withheld.
    answered: HashMap<String, CallId>,
    /// Entries from the first one that is half of a refusal and whose other half has not been read.
    queue: VecDeque<QueuedEntry>,
    /// Other halves of refusals that have already been judged.
    paired: HashSet<u64>,
    judged: Vec<JudgedEntry>,
    /// Number of the latest entry; `None` after the end.
    at: Option<u64>,
}

/// Key that links a call to its outcome.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Running {
    /// Number of the call's request.
    Arrival(u64),
    /// Turn and hash, if the gate had no order rules.
    Hash(String, String),
}

/// Entry whose member `order` cannot be read, so nothing can be judged from there on.
#[derive(Debug, thiserror::Error)]
#[error("invalid member `order` in entry {entry}: {source}")]
pub struct UnreadableOrder {
    /// Number of the entry.
    pub entry: u64,
    source: serde_json::Error,
}

impl OrderLog {
    /// Creates an order log. Without the log's key, arguments cannot be compared with those of earlier calls that are not
    /// recorded in the log.
    #[must_use]
    pub fn new(config: &Config, key: Option<&Key>) -> Self {
        Self::by_policy(&config.order, key)
    }

    pub(crate) fn by_policy(policy: &Policy, key: Option<&Key>) -> Self {
        let secret = key.map(|key| Secret::new(&key.derived(ORDER_KEY)));
        Self {
            calls: RecordedCalls::new(RuleSet::new(policy), secret),
            running: HashMap::new(),
            confirmed: HashSet::new(),
            answered: HashMap::new(),
            queue: VecDeque::new(),
            paired: HashSet::new(),
            judged: Vec::new(),
            at: None,
        }
    }

    /// Accepts the next entry.
    ///
    /// # Errors
    /// If the entry's data for the order rules cannot be read.
    pub fn add(&mut self, entry: &LogEntry<'_>) -> Result<(), UnreadableOrder> {
        let order = entry.data.get(ORDER).filter(|_| entry.turn.is_some()).map(Entry::deserialize).transpose();
        let order = order.map_err(|source| UnreadableOrder { entry: entry.sequence, source })?;
        if is_start(entry.kind) {
            self.drain(true);
        }
        if self.queue.is_empty() && RefusalHalf::from_entry(entry, order.as_ref()).is_none() {
            self.process(entry, order, None);
        } else {
            self.queue.push_back(QueuedEntry::new(entry, order));
            self.drain(false);
        }
        Ok(())
    }

    /// Processes the queued entries, up to half of a refusal whose other half may still come.
    fn drain(&mut self, is_over: bool) {
        while let Some(first) = self.queue.front() {
            let mut other = None;
            if let Some(half) = first.half().filter(|_| !self.paired.contains(&first.sequence)) {
                let mut rest = self.queue.iter().skip(1).filter(|entry| !self.paired.contains(&entry.sequence));
                other = rest.find(|entry| entry.half().is_some_and(|other| half.is_completed_by(&other))).cloned();
                if other.is_none() && !is_over && self.queue.len() <= PATIENCE {
                    return;
                }
            }
            let Some(QueuedEntry { order, .. }) = self.queue.front() else { return };
            let order = order.clone();
            let Some(first) = self.queue.pop_front() else { return };
            self.paired.extend(other.as_ref().map(|entry| entry.sequence));
            self.process(&first.entry(), order, other.as_ref());
        }
    }

    /// Processes an entry; half of a refusal together with the other half.
    fn process(&mut self, entry: &LogEntry<'_>, order: Option<Entry>, other: Option<&QueuedEntry>) {
        let sequence = entry.sequence;
        self.at = Some(sequence);
        if let Some(wall) = entry.millis() {
            self.calls.advance(wall);
        }
        if let Some(half) = RefusalHalf::from_entry(entry, order.as_ref()) {
            if !self.paired.remove(&sequence) {
                self.refused(&half, (entry, order), other);
            }
            return;
        }
        match (entry.kind, order) {
            (kind, _) if is_start(kind) => self.restarted(),
            (_, Some(Entry::Rules { contents })) => self.calls.rules(&contents),
            (_, Some(Entry::Made { tool, session, turn, confirmed, order })) => {
                let known = (Some(&*session), Some(&order), confirmed);
                self.made(entry, &tool, &turn, known, Running::Arrival(order.arrival));
            }
            (_, Some(Entry::Ended { end, order })) => {
                if let Some(id) = self.running.remove(&Running::Arrival(order.arrival)) {
                    self.calls.ended(id, end, sequence, Some(&order));
                }
            }
            (_, Some(Entry::SessionEnded { session })) => self.calls.session_ended(&session),
            // A session begins with its first call, and findings of the rules then in force are not those of these rules.
            (_, Some(Entry::SessionBegan { .. } | Entry::Found { .. } | Entry::Refused { .. })) => {}
            (kind, None) => self.without_order(kind, entry),
        }
    }

    /// Accepts an entry without data for the order rules.
    fn without_order(&mut self, kind: &str, entry: &LogEntry<'_>) {
        let Some(turn) = entry.turn else { return };
        let hash = || Some((turn.to_owned(), entry.text("call")?.to_owned()));
        match kind {
            "intent" => {
                let (Some(tool), Some((turn, call))) = (entry.tool(), hash()) else { return };
                let is_confirmed = self.confirmed.remove(&(turn.clone(), call.clone()));
                self.made(entry, &tool, &turn.clone(), (None, None, is_confirmed), Running::Hash(turn, call));
            }
            "outcome" => {
                let running = hash().and_then(|(turn, call)| self.running.remove(&Running::Hash(turn, call)));
                let Some(id) = running else { return };
                let end = entry.end();
                if end == Ended::Ok {
                    self.answered.insert(turn.to_owned(), id);
                }
                self.calls.ended(id, end, entry.sequence, None);
            }
            "confirmation" if !entry.is_denied() => self.confirmed.extend(hash()),
            "decision" if entry.is_denied() && entry.code() == Some(GateCode::Pg4) => {
                self.answered.remove(turn).into_iter().for_each(|id| self.calls.withheld(id));
            }
            "turn" => drop(self.answered.remove(turn)),
            _ => {}
        }
    }

    fn made(
        &mut self,
        entry: &LogEntry<'_>,
        tool: &Tool,
        turn: &str,
        (session, order, is_confirmed): (Option<&str>, Option<&OrderMember>, bool),
        running: Running,
    ) {
        let call = RecordedCall { tool, session, turn, is_confirmed, is_refused: false, order, args: None };
        let call = self.judge(entry.sequence, call, entry.data.get("args"));
        self.running.insert(running, call.id);
        self.judged.push(JudgedEntry { entry: entry.sequence, is_refused: false, call });
    }

    fn judge(&mut self, entry: u64, call: RecordedCall<'_>, args: Option<&Value>) -> JudgedCall {
        let empty = Map::new();
        let members = args.and_then(Value::as_object).unwrap_or(&empty);
        let is_hidden = |pointer: &str| is_hidden(pointer, members);
        let args = args.map(|value| RecordedArgs { value, is_hidden: &is_hidden });
        self.calls.call(entry, RecordedCall { args, ..call })
    }

    /// Judges a refused call by the two entries about its refusal, or by a single one.
    fn refused(
        &mut self,
        half: &RefusalHalf,
        (entry, order): (&LogEntry<'_>, Option<Entry>),
        other: Option<&QueuedEntry>,
    ) {
        let other_view = other.map(QueuedEntry::entry);
        let decision = if half.is_decision { Some(entry) } else { other_view.as_ref() };
        let order = if half.is_decision { other.and_then(|other| other.order.clone()) } else { order };
        let (session, order) = match order {
            Some(Entry::Refused { session, order, .. }) => (Some(session), Some(order)),
            _ => (None, None),
        };
        let call = RecordedCall {
            tool: &half.tool,
            session: session.as_deref(),
            turn: &half.turn,
            is_confirmed: false,
            is_refused: true,
            order: order.as_ref(),
            args: None,
        };
        let number = decision.map_or(entry.sequence, |decision| decision.sequence);
        let call = self.judge(number, call, decision.and_then(|decision| decision.data.get("args")));
        self.judged.push(JudgedEntry { entry: number, is_refused: true, call });
    }

    fn restarted(&mut self) {
        self.running.clear();
        self.paired.clear();
        self.confirmed.clear();
        self.answered.clear();
        self.calls.restarted();
    }

    /// Takes the verdicts so far, in the order in which they were reached.
    pub fn judged(&mut self) -> Vec<JudgedEntry> {
        std::mem::take(&mut self.judged)
    }

    /// Takes the debts found so far that were not settled in time (O-4).
    pub fn debts(&mut self) -> Vec<OrderFinding> {
        let at = self.at;
        self.calls.found().iter().map(|(debt, root)| OrderFinding::of_debt(debt, *root, at)).collect()
    }

    /// Ends the log. With `is_ended`, all sessions end with it. Returns the number of sessions that have not ended and owe
    /// something.
    pub fn end(&mut self, is_ended: bool) -> usize {
        self.drain(true);
        self.at = None;
        let open = self.calls.open_sessions();
        let owing = open.iter().filter(|session| self.calls.is_owing(session)).count();
        if !is_ended {
            return owing;
        }
        open.iter().for_each(|session| self.calls.session_ended(session));
        0
    }
}

/// Judges a call as the first one of its session.
///
/// # Errors
/// O-1, O-3 or O-6: no earlier call could permit or forbid it.
pub(crate) fn first_call(policy: &Policy, tool: &ToolId, args: &Map<String, Value>) -> Result<(), Blocked> {
    let mut calls = RecordedCalls::new(RuleSet::new(policy), Some(Secret::new(&[0; 32])));
    let (tool, value) = (Tool::new(tool.server.as_str(), tool.tool.as_str()), Value::Object(args.clone()));
    let args = RecordedArgs { value: &value, is_hidden: &|_| false };
    let call = RecordedCall {
        tool: &tool,
        session: Some(""),
        turn: "",
        is_confirmed: false,
        is_refused: false,
        order: None,
        args: Some(args),
    };
    let judged = JudgedEntry { entry: 0, is_refused: false, call: calls.call(0, call) };
    judged.finding().map_or(Ok(()), |finding| Err(finding.blocked()))
}

/// Returns whether this kind of entry marks the start of a gate.
fn is_start(kind: &str) -> bool {
    matches!(kind, "opened" | "repaired")
}

/// Maximum number of entries that wait for the other half of a refusal, which is written at once.
pub const PATIENCE: usize = 64;
