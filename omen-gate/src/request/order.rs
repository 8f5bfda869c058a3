//! Rules on order between calls (O-1 to O-6): judged when a call is authorized, and again right before its intent.
//!
//! The rules and the state machine are in `omen-order`. Here they get the gate's clock and its log.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use omen_audit::{Kind, OrderRecord};
use omen_order::{
    Ask, CallId, CallReading, Ended, Engine, Entry, Finding, Mode, Now, Output, Owed, Reader, RuleSet, Secret, Tool,
    Verdict, text,
};
use serde_json::{Map, Value, json};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::base::{Blocked, GateClock, GateCode, ToolId, TurnId};
use crate::call::Answer;
use crate::config::Config;
use crate::request::audit_queue::{AuditQueue, data};
use crate::request::file_rule_threads::FileRuleThreads;

/// Rules on order, and the calls that they have seen. Clones share both.
#[derive(Clone, Debug)]
pub(crate) struct Order(Arc<OrderParts>);

#[derive(Debug)]
struct OrderParts {
    state: Mutex<OrderState>,
    clock: Arc<dyn GateClock>,
    audit_queue: AuditQueue,
    /// Threads on which calls are read if a rule queries the file system.
    threads: FileRuleThreads,
}

#[derive(Debug)]
struct OrderState {
    engine: Engine,
    /// Verdicts that were not collected yet.
    decided: HashMap<CallId, Step>,
    /// Calls that wait for their verdict.
    waiting: HashMap<CallId, oneshot::Sender<Step>>,
}

/// Verdict on one step of a call.
#[derive(Debug)]
enum Step {
    Passes,
    Verdict(Verdict),
}

/// Call that the rules on order know. Dropping it says that it went no further.
#[derive(Debug)]
pub(crate) struct OrderedCall {
    order: Order,
    id: CallId,
    tool: Tool,
    session: String,
    turn: TurnId,
    progress: Progress,
}

/// Session and turn of a call. Without a session of its own, its turn is one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallOrigin<'o> {
    pub(crate) session: &'o TurnId,
    pub(crate) turn: &'o TurnId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// Not made.
    Asked,
    /// Its intent may be in the log.
    Made,
    /// The tool is being called.
    Called,
    Over,
}

/// Data for the intent of a call that is let pass, and the refusal that shadow mode ignores.
pub(crate) type PassedCall = (Map<String, Value>, Result<(), Blocked>);

/// Reads the arguments or the answer of a call.
type ReadCall = fn(&Reader, &Tool, Option<&Value>) -> CallReading;

/// Member of an entry with what it says to the rules on order.
const ORDER: &str = "order";

impl Order {
    /// Restores the state from the log.
    ///
    /// # Errors
    /// Number and error of an entry that cannot be read: what it was about is not known, so nothing could be judged.
    pub(crate) fn restore(
        config: &Config,
        past: &[OrderRecord],
        clocks: (&dyn GateClock, Arc<dyn GateClock>),
        secret: &[u8; 32],
        (audit_queue, threads): (AuditQueue, FileRuleThreads),
    ) -> Result<Self, (u64, serde_json::Error)> {
        let (raw, clock) = clocks;
        let rules = RuleSet::new(&config.order);
        let entries = past.iter().map(|record| {
            let entry = serde_json::from_str::<Entry>(&record.order).map_err(|error| (record.sequence, error))?;
            Ok((record.sequence, millis(record.time), entry))
        });
        let entries = entries.collect::<Result<Vec<_>, _>>()?;
        let now = Now { mono: monotonic(clock.as_ref()), wall: millis(raw.wall()) };
        let engine = Engine::restore(rules, Secret::new(secret), mode(config.shadow), now, entries);
        let state = Mutex::new(OrderState { engine, decided: HashMap::new(), waiting: HashMap::new() });
        Ok(Self(Arc::new(OrderParts { state, clock, audit_queue, threads })))
    }

    /// Data for the log about the rules in force; nothing if there are none.
    pub(crate) fn rules_entry(&self) -> Option<Value> {
        let state = self.lock();
        let rules = (!state.engine.rules().is_empty()).then(|| state.engine.rules_entry())?;
        serde_json::to_value(rules).ok()
    }

    /// Whether there are rules.
    pub(crate) fn has_rules(&self) -> bool {
        !self.lock().engine.rules().is_empty()
    }

    /// Replaces the rules of a running gate. Calls that wait are judged by the new ones.
    pub(crate) fn reload(&self, config: &Config, is_shadow: bool) {
        self.with(|engine, now| {
            engine.reload(now, RuleSet::new(&config.order));
            engine.set_mode(mode(is_shadow));
        });
    }

    /// Notes a request for a call that a step before the rules on arguments refuses.
    pub(crate) async fn refused(&self, origin: CallOrigin<'_>, tool: &ToolId, args: &Map<String, Value>) {
        drop(self.ask(origin, tool, args, true).await);
    }

    /// Accepts a request for a call. `is_refused` says that another rule refuses it.
    pub(crate) async fn ask(
        &self,
        origin: CallOrigin<'_>,
        tool: &ToolId,
        args: &Map<String, Value>,
        is_refused: bool,
    ) -> OrderedCall {
        let tool = named(tool);
        let (turn, session) = (origin.turn.clone(), origin.session.as_str().to_owned());
        let args = Arc::new(Value::Object(args.clone()));
        let reading = self.read(&tool, Arc::clone(&args), Reader::args).await;
        let ask = Ask {
            tool: tool.clone(),
            session: session.clone(),
            turn: turn.as_str().to_owned(),
            args: Some(args),
            must_confirm: true,
            is_refused,
        };
        let id = self.with(|engine, now| engine.ask_read(now, ask, reading));
        let mut asked = OrderedCall { order: self.clone(), id, tool, session, turn, progress: Progress::Asked };
        if is_refused {
            asked.refused();
        }
        asked
    }

    /// Reads a call, without holding up others. What takes too long to read is not known.
    async fn read(&self, tool: &Tool, value: Arc<Value>, read: ReadCall) -> CallReading {
        let reader = self.lock().engine.reader();
        if !reader.may_block(tool) || Handle::try_current().is_err() {
            return read(&reader, tool, Some(&value));
        }
        let (by, of) = (reader.clone(), tool.clone());
        let read_there = self.0.threads.read(move || read(&by, &of, Some(&value))).await;
        read_there.unwrap_or_else(|| read(&reader, tool, None))
    }

    /// Line about what a session owes; empty if it owes nothing.
    pub(crate) fn owed_line(&self, session: &TurnId) -> String {
        text::owed_line(&self.lock().engine.owed(session.as_str()))
    }

    /// Ends a session, or the session that a turn without one is, and records and returns what it owes.
    pub(crate) fn end(&self, session: &TurnId) -> Vec<Owed> {
        let name = session.as_str();
        let (is_known, owed) = self.with(|engine, now| {
            let is_known = engine.has_session(name) && !engine.rules().is_empty();
            let owed = engine.owed(name);
            engine.end_session(now, name);
            (is_known, owed)
        });
        if is_known {
            self.note(session, "session_ended", Map::new(), &Entry::SessionEnded { session: name.to_owned() });
        }
        owed
    }

    /// Runs an event, and hands out what comes of it.
    fn with<T>(&self, event: impl FnOnce(&mut Engine, Now) -> T) -> T {
        let mut found = Vec::new();
        let result = {
            let mut state = self.lock();
            let clock = self.0.clock.as_ref();
            let now = Now { mono: monotonic(clock), wall: millis(clock.wall()) };
            let result = event(&mut state.engine, now);
            let outputs: Vec<_> = state.engine.outputs().collect();
            for output in outputs {
                let (id, step) = match output {
                    Output::Confirm(id) => (id, Step::Passes),
                    Output::Verdict(id, verdict) => (id, Step::Verdict(verdict)),
                    Output::Found(finding) => {
                        found.push(finding);
                        continue;
                    }
                    Output::Waits(_) | Output::Refused(_) | Output::Ended(..) | Output::Reloaded => continue,
                };
                match state.waiting.remove(&id) {
                    // The caller may be gone; then its call is dropped as well.
                    Some(waiting) => drop(waiting.send(step)),
                    None => drop(state.decided.insert(id, step)),
                }
            }
            result
        };
        found.iter().for_each(|finding| self.report(finding));
        result
    }

    /// Records what was not settled (O-4).
    fn report(&self, finding: &Finding) {
        let text = finding.text();
        let entry = data(json!({ "code": GateCode::O4.as_str(), "rule": finding.path, "why": text.message }));
        let found = Entry::Found { opener: finding.owed.opener.0, rule: finding.content.clone() };
        self.note(&TurnId::start(), "owed", entry, &found);
    }

    fn note(&self, turn: &TurnId, outcome: &str, mut entry: Map<String, Value>, order: &Entry) {
        entry.insert("outcome".to_owned(), outcome.into());
        entry.extend(member(order));
        self.0.audit_queue.append_later(Kind::Turn, turn, None, entry);
    }

    fn lock(&self) -> MutexGuard<'_, OrderState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OrderedCall {
    /// Returns the verdict on the call, before a human is asked about it. It waits as long as the rules say.
    ///
    /// # Errors
    /// O-1 to O-3, O-5 and O-6.
    pub(crate) async fn verdict(&self) -> Result<(), Blocked> {
        let mut waiting = {
            let mut state = self.order.lock();
            match state.decided.remove(&self.id) {
                Some(step) => return passed(step),
                None => {
                    let (sender, waiting) = oneshot::channel();
                    state.waiting.insert(self.id, sender);
                    waiting
                }
            }
        };
        loop {
            let due = self.order.lock().engine.next_timer();
            let left = due.map_or(LONGEST_SLEEP, |due| {
                let left = due.saturating_sub(monotonic(self.order.0.clock.as_ref())).max(1);
                Duration::from_millis(u64::try_from(left).unwrap_or(1)).min(LONGEST_SLEEP)
            });
            tokio::select! {
                biased;
                step = &mut waiting => return step.map_or_else(|_| Err(withdrawn()), passed),
                () = tokio::time::sleep(left) => self.order.with(|engine, now| engine.tick(now)),
            }
        }
    }

    /// Judges the call again and lets it pass, in one step; from now on it counts. Returns data for its intent, and the
    /// refusal that shadow mode lets pass.
    ///
    /// # Errors
    /// As [`verdict`](Self::verdict). The call does not wait again: it holds its turn.
    pub(crate) fn make(&mut self, is_confirmed: bool) -> Result<PassedCall, Blocked> {
        self.order.with(|engine, now| match is_confirmed {
            true => engine.confirm(now, self.id, true),
            false => engine.make(now, self.id),
        });
        let (step, mode) = {
            let mut state = self.order.lock();
            (state.decided.remove(&self.id), state.engine.mode())
        };
        let (verdict, rests_on) = match step {
            Some(Step::Verdict(Verdict::Allow { rests_on })) => (Ok(()), rests_on),
            Some(step) => (passed(step), Vec::new()),
            None => (Err(withdrawn()), Vec::new()),
        };
        match verdict {
            Err(refused) if mode == Mode::Enforce => Err(refused),
            verdict => {
                self.progress = Progress::Made;
                Ok((self.intent(is_confirmed, &rests_on), verdict))
            }
        }
    }

    fn intent(&self, confirmed: bool, rests_on: &[CallId]) -> Map<String, Value> {
        let state = self.order.lock();
        if state.engine.rules().is_empty() {
            return Map::new();
        }
        let order = state.engine.intent_member(self.id, rests_on);
        let (tool, session, turn) = (self.tool.clone(), self.session.clone(), self.turn.as_str().to_owned());
        member(&Entry::Made { tool, session, turn, confirmed, order })
    }

    /// Notes the number of the intent in the log.
    pub(crate) fn logged(&self, entry: u64) {
        self.order.lock().engine.logged(self.id, entry, false);
    }

    /// Notes that the tool is about to be called: if nothing more is heard of the call, it may have run.
    pub(crate) fn called(&mut self) {
        self.progress = Progress::Called;
    }

    /// Reads the answer of the call.
    pub(crate) async fn read_answer(&self, answer: &Answer) -> Option<CallReading> {
        let answer = Arc::new(serde_json::to_value(answer).ok()?);
        Some(self.order.read(&self.tool, answer, Reader::answer).await)
    }

    /// Accepts the end of the call, and returns data for its outcome.
    pub(crate) fn ended(&mut self, end: Ended, answer: Option<CallReading>) -> Map<String, Value> {
        self.progress = Progress::Over;
        self.order.with(|engine, now| engine.end_read(now, self.id, end, answer));
        let state = self.order.lock();
        if state.engine.rules().is_empty() {
            return Map::new();
        }
        let order = state.engine.outcome_member(self.id);
        member(&Entry::Ended { end, order })
    }

    /// Notes that the call is refused.
    fn refused(&mut self) {
        self.progress = Progress::Over;
        self.order.with(|engine, now| engine.refuse(now, self.id));
        let (is_counted, order) = {
            let mut state = self.order.lock();
            state.waiting.remove(&self.id);
            state.decided.remove(&self.id);
            (state.engine.counts_refusals(&self.tool), state.engine.intent_member(self.id, &[]))
        };
        if is_counted {
            let (tool, session, turn) = (self.tool.clone(), self.session.clone(), self.turn.as_str().to_owned());
            let refused = Entry::Refused { tool, session, turn, order };
            self.order.note(&self.turn, "refused", Map::new(), &refused);
        }
    }
}

impl Drop for OrderedCall {
    fn drop(&mut self) {
        match self.progress {
            Progress::Asked => self.refused(),
            Progress::Made => self.order.with(|engine, now| engine.end(now, self.id, Ended::DidNotRun, None)),
            Progress::Called => self.order.with(|engine, now| engine.end(now, self.id, Ended::MayHaveRun, None)),
            Progress::Over => {}
        }
    }
}

/// Longest sleep between two looks at the clock, which may not be the runtime's.
const LONGEST_SLEEP: Duration = Duration::from_millis(250);

fn member(entry: &Entry) -> Map<String, Value> {
    let entry = serde_json::to_value(entry).ok();
    entry.map(|entry| (ORDER.to_owned(), entry)).into_iter().collect()
}

fn passed(step: Step) -> Result<(), Blocked> {
    match step {
        Step::Passes | Step::Verdict(Verdict::Allow { .. }) => Ok(()),
        Step::Verdict(Verdict::Refuse(refusal)) => {
            let text = refusal.text();
            let code = refusal.code.as_str().parse().unwrap_or(GateCode::O6);
            Err(Blocked::new(code, text.message, text.help))
        }
        Step::Verdict(Verdict::Cancelled | Verdict::Wait { .. }) => Err(withdrawn()),
    }
}

/// Refusal of a call that would have to wait again, or whose session has ended.
fn withdrawn() -> Blocked {
    let text = text::withdrawn();
    Blocked::new(GateCode::O5, text.message, text.help)
}

fn named(tool: &ToolId) -> Tool {
    Tool::new(tool.server.as_str(), tool.tool.as_str())
}

fn mode(is_shadow: bool) -> Mode {
    if is_shadow { Mode::Observe } else { Mode::Enforce }
}

fn monotonic(clock: &dyn GateClock) -> i64 {
    i64::try_from(clock.monotonic().as_millis()).unwrap_or(i64::MAX)
}

fn millis(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
