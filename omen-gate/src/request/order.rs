//! Rules on the order of calls (O-1 to O-6): judged when a call is authorized, and again right before its intent.
//!
//! The rules and the state machine are in `omen-order`. This module connects them to the gate's clock and log.

mod report;
mod timer;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use omen_audit::{Kind, OrderRecord};
use omen_base::Mutex;
use omen_order::{
    Ask, CallId, CallReading, Ended, Engine, Entry, Finding, HowEnded, Mode, Now, Output, Owed, Reader, RuleSet,
    Secret, SessionsOf, Tool, Verdict, text,
};
use serde_json::{Map, Value, json};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::base::{Blocked, GateClock, GateCode, ToolId, TurnId};
use crate::call::Answer;
use crate::config::Config;
use crate::request::audit_queue::{AuditQueue, data};
use crate::request::file_rule_threads::FileRuleThreads;

pub(crate) use report::Reporter;
pub use report::{DebtReport, DebtScope, SessionEnd};

/// Order rules and the calls known to them. Clones share both.
#[derive(Clone, Debug)]
pub(crate) struct Order(Arc<OrderParts>);

#[derive(Debug)]
struct OrderParts {
    state: Mutex<OrderState>,
    clock: Arc<dyn GateClock>,
    audit_queue: AuditQueue,
    /// Threads for reading calls when a rule queries the file system.
    threads: FileRuleThreads,
    /// Owner of the gate's sessions: clients or the program.
    sessions: SessionsOf,
    /// Callback for debts that were not settled.
    reporter: Reporter,
}

#[derive(Debug)]
struct OrderState {
    engine: Engine,
    /// Verdicts not yet collected.
    decided: HashMap<CallId, Step>,
    /// Calls waiting for their verdict.
    waiting: HashMap<CallId, oneshot::Sender<Step>>,
    /// Whether a timer is running.
    has_timer: bool,
}

/// Session that has ended: its name, how it ended, and what it owed.
type EndedSession = (String, SessionEnd, Vec<Owed>);

/// Verdict on one step of a call.
#[derive(Debug)]
enum Step {
    Passes,
    Verdict(Verdict),
}

/// Call known to the order rules. Dropping it reports that it went no further.
#[derive(Debug)]
pub(crate) struct OrderedCall {
    order: Order,
    id: CallId,
    tool: Tool,
    session: String,
    turn: TurnId,
    progress: Progress,
}

/// Session and turn of a call. If the call has no session, its turn acts as one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallOrigin<'o> {
    pub(crate) session: &'o TurnId,
    pub(crate) turn: &'o TurnId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// Requested but not made.
    Asked,
    /// Let through. Once its intent may be in the log, its guard reports its end.
    Made,
    Over,
}

/// Rules about to take effect, with their readings of the waiting calls.
#[derive(Debug)]
pub(crate) struct PreparedRules {
    rules: Arc<RuleSet>,
    readings: HashMap<CallId, CallReading>,
}

/// Data for the intent of a call that is let through, and the refusal that shadow mode ignores.
pub(crate) type PassedCall = (Map<String, Value>, Result<(), Blocked>);

/// Function that reads the arguments or the answer of a call.
type ReadCall = fn(&Reader, &Tool, Option<&Value>) -> CallReading;

/// Member of an entry that holds its data for the order rules.
pub(crate) const ORDER: &str = "order";
/// Purpose for which the key of the order rules is derived.
pub(crate) const ORDER_KEY: &str = "omen order v1";

impl Order {
    /// Restores the state from the log.
    ///
    /// # Errors
    /// Number and error of an entry that cannot be read: its subject is unknown, so nothing could be judged.
    pub(crate) fn restore(
        config: &Config,
        past: &[OrderRecord],
        clocks: (&dyn GateClock, Arc<dyn GateClock>),
        secret: &[u8; 32],
        (audit_queue, threads): (AuditQueue, FileRuleThreads),
        (sessions, reporter): (SessionsOf, Reporter),
    ) -> Result<Self, (u64, serde_json::Error)> {
        let (raw, clock) = clocks;
        let rules = RuleSet::new(&config.order);
        let entries = past.iter().map(|record| {
            let entry = serde_json::from_str::<Entry>(&record.order).map_err(|error| (record.sequence, error))?;
            Ok((record.sequence, millis(record.time), entry))
        });
        let entries = entries.collect::<Result<Vec<_>, _>>()?;
        let now = Now { mono: monotonic(clock.as_ref()), wall: millis(raw.wall()) };
        let mut engine = Engine::restore(rules, Secret::new(secret), mode(config.shadow), now, entries);
        engine.set_sessions(sessions);
        let state = OrderState { engine, decided: HashMap::new(), waiting: HashMap::new(), has_timer: false };
        Ok(Self(Arc::new(OrderParts { state: Mutex::new(state), clock, audit_queue, threads, sessions, reporter })))
    }

    /// Ends the calls that an earlier gate left open when it stopped, as calls that may have run.
    pub(crate) fn end_lost_calls(&self) {
        let calls = self.0.state.lock().engine.lost_calls();
        for order in calls {
            let ended = Entry::Ended { end: Ended::MayHaveRun, order };
            self.note(&TurnId::start(), "call_lost", Map::new(), &ended);
        }
    }

    /// Ends the client sessions that an earlier gate left open when it stopped, since those clients are gone.
    pub(crate) fn end_lost(&self) {
        let lost = self.0.state.lock().engine.client_sessions();
        for session in lost.into_iter().filter_map(|name| TurnId::new(name).ok()) {
            self.end(&session, SessionEnd::Lost);
        }
        // Reports deadlines that have passed in the meantime, and starts the timer for the others.
        self.with(Engine::tick);
    }

    /// Returns the log data about the rules in force; `None` if there are no rules.
    pub(crate) fn rules_entry(&self) -> Option<Value> {
        let state = self.0.state.lock();
        let rules = (!state.engine.rules().is_empty()).then(|| state.engine.rules_entry())?;
        serde_json::to_value(rules).ok()
    }

    pub(crate) fn has_rules(&self) -> bool {
        !self.0.state.lock().engine.rules().is_empty()
    }

    /// Reads the waiting calls by the rules that take effect later. Other calls do not have to wait for this.
    pub(crate) async fn prepare(&self, config: &Config) -> PreparedRules {
        let rules = Arc::new(RuleSet::new(&config.order));
        let (reader, unmade) = {
            let state = self.0.state.lock();
            (state.engine.reader_by(&rules), state.engine.unmade().collect::<Vec<_>>())
        };
        let mut readings = HashMap::new();
        for (id, tool, args) in unmade {
            readings.insert(id, self.read_by(reader.clone(), &tool, args, Reader::args).await);
        }
        PreparedRules { rules, readings }
    }

    /// Replaces the rules of a running gate. Waiting calls are judged by the new rules.
    pub(crate) fn reload(&self, prepared: PreparedRules, is_shadow: bool) {
        self.with(|engine, now| {
            engine.reload_read(now, prepared.rules, prepared.readings);
            engine.set_mode(mode(is_shadow));
        });
    }

    /// Records a request for a call that was refused at a step before the argument rules.
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

    /// Reads a call without holding up others. A value that takes too long to read counts as unknown.
    async fn read(&self, tool: &Tool, value: Arc<Value>, read: ReadCall) -> CallReading {
        let reader = self.0.state.lock().engine.reader();
        self.read_by(reader, tool, Some(value), read).await
    }

    async fn read_by(&self, reader: Reader, tool: &Tool, value: Option<Arc<Value>>, read: ReadCall) -> CallReading {
        if !reader.may_block(tool) || Handle::try_current().is_err() {
            return read(&reader, tool, value.as_deref());
        }
        let (by, of) = (reader.clone(), tool.clone());
        let read_there = self.0.threads.read(move || read(&by, &of, value.as_deref())).await;
        read_there.unwrap_or_else(|| read(&reader, tool, None))
    }

    /// Adds what a session owes to the help of a refusal.
    pub(crate) fn with_debts(&self, session: &TurnId, blocked: Blocked) -> Blocked {
        let line = text::owed_line(&self.owed(session));
        match (line.is_empty(), blocked.help.is_empty()) {
            (true, _) => blocked,
            (false, true) => Blocked { help: line, ..blocked },
            (false, false) => Blocked { help: format!("{}. {line}", blocked.help), ..blocked },
        }
    }

    /// Returns what a session currently owes.
    pub(crate) fn owed(&self, session: &TurnId) -> Vec<Owed> {
        self.0.state.lock().engine.owed(session.as_str())
    }

    /// Ends a session, a turn that is its own session, or a turn of a session, and records and returns what it owes.
    pub(crate) fn end(&self, name: &TurnId, how: SessionEnd) -> Vec<Owed> {
        let name = name.as_str();
        let (owed_by_turn, ended) = self.with_end(how, |engine, now| {
            if engine.has_session(name) {
                engine.end_session(now, name);
                return Vec::new();
            }
            engine.tick(now);
            let owed = engine.owed_by_turn(name);
            engine.end_turn_named(now, name);
            owed
        });
        if !owed_by_turn.is_empty() {
            self.0.reporter.report(&DebtReport::Ended { scope: DebtScope::Turn, name, how, owed: &owed_by_turn });
            return owed_by_turn;
        }
        ended.into_iter().find(|(session, ..)| session == name).map(|(.., owed)| owed).unwrap_or_default()
    }

    /// Runs an event and delivers the engine's output.
    fn with<T>(&self, event: impl FnOnce(&mut Engine, Now) -> T) -> T {
        self.with_end(SessionEnd::Closed, event).0
    }

    /// Runs an event and delivers the engine's output. Also returns the sessions that have ended; `how` says how.
    fn with_end<T>(&self, how: SessionEnd, event: impl FnOnce(&mut Engine, Now) -> T) -> (T, Vec<EndedSession>) {
        let (mut overdue, mut ended) = (Vec::new(), Vec::new());
        let result = {
            let mut state = self.0.state.lock();
            let clock = self.0.clock.as_ref();
            let now = Now { mono: monotonic(clock), wall: millis(clock.wall()) };
            let result = event(&mut state.engine, now);
            let outputs: Vec<_> = state.engine.outputs().collect();
            let has_rules = !state.engine.rules().is_empty();
            for output in outputs {
                // Entries are queued with the lock held: a session that begins again must not seem to have ended since.
                let (id, step) = match output {
                    Output::Confirm(id) => (id, Step::Passes),
                    Output::Verdict(id, verdict) => (id, Step::Verdict(verdict)),
                    Output::Found(finding) => {
                        let message = self.record_finding(&finding);
                        overdue.extend((finding.how == HowEnded::Overdue).then_some(message));
                        continue;
                    }
                    Output::SessionBegan(session) => {
                        self.record_beginning(session);
                        continue;
                    }
                    Output::SessionEnded { session, owed, is_idle } => {
                        let how = if is_idle { SessionEnd::Idle } else { how };
                        if has_rules {
                            self.record_end(&session, how, &owed);
                        }
                        ended.push((session, how, owed));
                        continue;
                    }
                    Output::Waits(_) | Output::Refused(_) | Output::Ended(..) | Output::Reloaded => continue,
                };
                match state.waiting.remove(&id) {
                    // The caller may be gone, in which case its call is dropped too.
                    Some(waiting) => drop(waiting.send(step)),
                    None => drop(state.decided.insert(id, step)),
                }
            }
            self.start_timer(&mut state);
            result
        };
        for message in &overdue {
            self.0.reporter.report(&DebtReport::Overdue(message));
        }
        for (session, how, owed) in ended.iter().filter(|(.., owed)| !owed.is_empty()) {
            self.0.reporter.report(&DebtReport::Ended { scope: DebtScope::Session, name: session, how: *how, owed });
        }
        (result, ended)
    }

    /// Records an unsettled debt (O-4) and returns the message.
    fn record_finding(&self, finding: &Finding) -> String {
        let message = finding.text().message;
        let entry = data(json!({ "code": GateCode::O4.as_str(), "rule": finding.path, "why": message }));
        let found = Entry::Found { opener: finding.owed.opener.0, rule: finding.content.clone() };
        self.note(&TurnId::start(), "owed", entry, &found);
        message
    }

    fn record_beginning(&self, session: String) {
        let Ok(turn) = TurnId::new(session.as_str()) else { return };
        let client = self.0.sessions == SessionsOf::Clients;
        self.note(&turn, "session_began", Map::new(), &Entry::SessionBegan { session, client });
    }

    fn record_end(&self, session: &str, how: SessionEnd, owed: &[Owed]) {
        let Ok(turn) = TurnId::new(session) else { return };
        let owed: Vec<_> = owed.iter().map(Owed::data).collect();
        let mut entry = data(json!({ "how": how.as_str() }));
        entry.extend((!owed.is_empty()).then(|| ("owed".to_owned(), json!(owed))));
        self.note(&turn, "session_ended", entry, &Entry::SessionEnded { session: session.to_owned() });
    }

    fn note(&self, turn: &TurnId, outcome: &str, mut entry: Map<String, Value>, order: &Entry) {
        entry.insert("outcome".to_owned(), outcome.into());
        entry.extend(member(order));
        self.0.audit_queue.append_later(Kind::Turn, turn, entry);
    }
}

impl OrderedCall {
    /// Returns the verdict on the call before a human is asked about it. Waits as long as the rules require.
    ///
    /// # Errors
    /// O-1 to O-3, O-5 and O-6.
    pub(crate) async fn verdict(&self) -> Result<(), Blocked> {
        if self.progress == Progress::Over {
            return Err(withdrawn());
        }
        let mut waiting = {
            let mut state = self.order.0.state.lock();
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
            let due = self.order.0.state.lock().engine.next_timer();
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

    /// Judges the call again and lets it through, in one step; from now on it counts. Returns data for its intent, and
    /// the refusal that shadow mode lets pass.
    ///
    /// # Errors
    /// As [`verdict`](Self::verdict). The call does not wait again: it keeps its place in the order.
    pub(crate) fn make(&mut self, is_confirmed: bool) -> Result<PassedCall, Blocked> {
        self.order.with(|engine, now| match is_confirmed {
            true => engine.confirm(now, self.id, true),
            false => engine.make(now, self.id),
        });
        let (step, mode) = {
            let mut state = self.order.0.state.lock();
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
        let state = self.order.0.state.lock();
        if state.engine.rules().is_empty() {
            return Map::new();
        }
        let order = state.engine.intent_member(self.id, rests_on);
        let (tool, session, turn) = (self.tool.clone(), self.session.clone(), self.turn.as_str().to_owned());
        member(&Entry::Made { tool, session, turn, confirmed, order })
    }

    /// Stores the number of the call's intent in the log.
    pub(crate) fn logged(&self, entry: u64) {
        self.order.0.state.lock().engine.logged(self.id, entry, false);
    }

    pub(crate) async fn read_answer(&self, answer: &Answer) -> Option<CallReading> {
        let answer = Arc::new(serde_json::to_value(answer).ok()?);
        Some(self.order.read(&self.tool, answer, Reader::answer).await)
    }

    /// Accepts the end of the call and returns data for its outcome.
    pub(crate) fn ended(&mut self, end: Ended, answer: Option<CallReading>) -> Map<String, Value> {
        self.progress = Progress::Over;
        self.order.with(|engine, now| engine.end_read(now, self.id, end, answer));
        let state = self.order.0.state.lock();
        if state.engine.rules().is_empty() {
            return Map::new();
        }
        let order = state.engine.outcome_member(self.id);
        member(&Entry::Ended { end, order })
    }

    /// Records that a rule refuses the call after it was let through and before its intent is in the log.
    pub(crate) fn withdrawn(&mut self) {
        if self.progress == Progress::Made {
            self.refused();
        }
    }

    /// Records that the call is refused.
    fn refused(&mut self) {
        let was_made = self.progress == Progress::Made;
        self.progress = Progress::Over;
        self.order.with(|engine, now| match was_made {
            true => engine.withdraw(now, self.id),
            false => engine.refuse(now, self.id),
        });
        let (has_rules, order) = {
            let mut state = self.order.0.state.lock();
            state.waiting.remove(&self.id);
            state.decided.remove(&self.id);
            (!state.engine.rules().is_empty(), state.engine.intent_member(self.id, &[]))
        };
        // Rules of later configurations may count the refusal, and tools that read the log judge it.
        if has_rules {
            let (tool, session, turn) = (self.tool.clone(), self.session.clone(), self.turn.as_str().to_owned());
            let refused = Entry::Refused { tool, session, turn, order };
            self.order.note(&self.turn, "refused", Map::new(), &refused);
        }
    }
}

impl Drop for OrderedCall {
    fn drop(&mut self) {
        if self.progress != Progress::Over {
            self.refused();
        }
    }
}

/// Maximum sleep between two checks of the clock, which may not be the runtime's.
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
            Err(Blocked::new(code, text.message, text.help).of_order(refusal))
        }
        Step::Verdict(Verdict::Cancelled | Verdict::Wait { .. }) => Err(withdrawn()),
    }
}

/// Builds the refusal of a call that would have to wait again or whose session has ended.
fn withdrawn() -> Blocked {
    let text = text::withdrawn();
    Blocked::new(GateCode::O5, text.message, text.help)
}

pub(crate) fn named(tool: &ToolId) -> Tool {
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
