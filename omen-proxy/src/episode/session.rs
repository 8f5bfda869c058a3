//! Episodes of a session.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use omen_base::Mutex;
use omen_fsm::Event;
use omen_fsm::episode::{Claims, Lapsed, Log, OnDrop};
use omen_gate::breaker::BreakerState;
use omen_gate::config::OnVeto;
use omen_gate::confirm::{Confirmer, Question, Reply};
use omen_gate::plan::ToolCall;
use omen_gate::{
    Blocked, Call, CallHash, CallRefusal, Config, Demand, EpisodeRefusal, Gate, GateClock, GateCode, Permission,
    Permissions, Ran, ServerName, ToolId, TurnId, guarded,
};
use omen_types::Code;
use omen_types::packet::{AlertSeverity, AlertType, PacketType, PositiveCount, ToolsState};
use serde_json::{Map, Value};
use tracing::error;

use super::budgets::Budgets;
use super::call_facts::CallFacts;
use super::call_record::CallRecord;
use super::catalog::{OwnTool, collision};
use super::client_names::ClientNames;
use super::disk_sync::DiskSync;
use super::episode_state::EpisodeState;
use super::human_answers::{Answers, HumanAnswer, Witness, rationale};
use super::interrupted::Interrupted;
use super::log::SharedLog;
use super::mode::Mode;
use super::outcome::Outcome;
use super::recorder::{Origin, Recorder};
use super::reply::{CompletedAction, NotNow, ReplyContext, Standing};
use super::step_refusal::StepRefusal;
use super::unfinished_call::{Ends, UnfinishedCall};
use super::{enforce, integrity, interrupted, moves, observe, own_tool_list};
use crate::messages::refusal::{self, RefusalContext};
use omen_gate::Fault;
use omen_mcp::frame::Frame;

/// How a proxy uses episodes, and where it writes them.
pub struct Recording {
    mode: Mode,
    log: SharedLog,
    budgets: Budgets,
    synced: DiskSync,
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recording").field("mode", &self.mode).field("budgets", &self.budgets).finish_non_exhaustive()
    }
}

impl Recording {
    /// Creates a recording that writes episodes to a log.
    #[must_use]
    pub fn new(mode: Mode, log: impl Log) -> Self {
        Self { mode, log: SharedLog::new(Box::new(log)), budgets: Budgets::default(), synced: DiskSync::default() }
    }

    /// Sets `sync` as the way to wait for the disk: before a call is made, before its answer is passed on, and before a model
    /// reads that a packet was accepted. If the log is not on disk by then, the call is not made or the answer is withheld.
    #[must_use]
    pub fn synced(self, sync: impl Fn() -> io::Result<()> + Send + std::marker::Sync + 'static) -> Self {
        Self { synced: DiskSync::by(Arc::new(sync)), ..self }
    }

    /// Ends the episodes that an earlier proxy left open in the log because it was killed: those of its latest session whose
    /// correlation ids belong to a proxy according to `is_own`. A call whose outcome is unknown has failed. `read` reads the log
    /// from its start, twice.
    ///
    /// # Errors
    /// If the log cannot be read, or what was written is not on disk. An episode that cannot be ended reports the reason.
    pub fn end_interrupted<R: BufRead>(
        &self,
        read: impl FnMut() -> io::Result<R>,
        is_own: impl Fn(&str) -> bool,
        clock: &Arc<dyn GateClock>,
    ) -> io::Result<Vec<Interrupted>> {
        let ended = interrupted::end(&self.log, self.budgets, read, is_own, clock)?;
        if !ended.is_empty() {
            self.synced.now().map_err(io::Error::other)?;
        }
        Ok(ended)
    }

    /// Checks the names of the tools that may be called.
    ///
    /// # Errors
    /// If a client could mistake one of them for a tool of the episode.
    pub(crate) fn check(&self, config: &Config, names: &ClientNames) -> Result<(), String> {
        let allowed = config.allow.iter().map(|allowed| &allowed.demand.tool);
        // A name with a prefix cannot be mistaken for one without.
        let allowed = allowed.filter(|tool| self.mode == Mode::Enforce && names.only() == Some(&tool.server));
        collision(allowed.map(|tool| tool.tool.as_str())).map_or(Ok(()), |name| Err(own_tool_list::taken(&name)))
    }

    /// Sets the limits of an episode.
    #[must_use]
    pub fn budgets(self, budgets: Budgets) -> Self {
        Self { budgets, ..self }
    }
}

pub(crate) struct Episodes {
    mode: Mode,
    session: TurnId,
    names: ClientNames,
    clock: Arc<dyn GateClock>,
    log: SharedLog,
    synced: DiskSync,
    claims: Claims,
    budgets: Budgets,
    timeout: PositiveCount,
    on_veto: OnVeto,
    asks: Duration,
    /// Confirmer asked about an escalation: the one that confirms calls.
    confirmer: Arc<dyn Confirmer>,
    answers: Answers,
    /// Gate of the proxy, whose breakers show whether tools work.
    gate: Gate,
    /// Held by the call in progress if the episode is a turn.
    calling: tokio::sync::Mutex<()>,
    /// The session's episode, if it is a single one; otherwise the episodes of open calls, by turn.
    states: Mutex<BTreeMap<TurnId, EpisodeState>>,
}

impl fmt::Debug for Episodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Episodes").field("mode", &self.mode).field("session", &self.session).finish_non_exhaustive()
    }
}

/// Context of a session, from which its episodes are created.
pub(crate) struct SessionContext<'a> {
    pub(crate) session: &'a TurnId,
    pub(crate) names: ClientNames,
    pub(crate) config: &'a Config,
    pub(crate) clock: Arc<dyn GateClock>,
    pub(crate) gate: Gate,
}

impl Episodes {
    /// Creates the episodes of a session, with the confirmer that is asked about escalations.
    pub(crate) fn new(
        Recording { mode, log, budgets, synced }: Recording,
        about: SessionContext<'_>,
        confirmer: Arc<dyn Confirmer>,
    ) -> Arc<Self> {
        // Between its directive and its end, a call also waits for two lists of the server's tools.
        let limits = &about.config.limits;
        let seconds = limits.call_timeout_seconds.saturating_add(limits.list_timeout_seconds.saturating_mul(2));
        let episodes = Self {
            mode,
            session: about.session.clone(),
            names: about.names,
            clock: about.clock,
            log,
            synced,
            claims: Claims::new(),
            budgets,
            timeout: PositiveCount::from(std::num::NonZeroU32::new(seconds).unwrap_or(std::num::NonZeroU32::MIN)),
            on_veto: about.config.on_veto,
            asks: about.config.confirm.timeout,
            confirmer,
            answers: Answers::default(),
            gate: about.gate,
            calling: tokio::sync::Mutex::default(),
            states: Mutex::default(),
        };
        Arc::new(episodes)
    }

    /// Wraps a confirmer so that the episodes record its answers.
    pub(crate) fn witness(&self, then: Arc<dyn Confirmer>) -> Witness {
        self.answers.witness(then)
    }

    /// Runs a function on the episode of a turn, which begins with its first packet.
    fn at<T>(&self, turn: &TurnId, then: impl FnOnce(&mut EpisodeState) -> T) -> T {
        let turn = if self.mode == Mode::Enforce { &self.session } else { turn };
        let tools = self.tools();
        let mut states = self.states.lock();
        let state = states.entry(turn.clone()).or_insert_with(|| self.new_state(turn));
        state.tools = tools;
        then(state)
    }

    fn new_state(&self, turn: &TurnId) -> EpisodeState {
        let origin = Origin {
            name: plain(turn.as_str()),
            campaign: (self.mode == Mode::Observe).then(|| plain(self.session.as_str())),
            clock: Arc::clone(&self.clock),
            claims: self.claims.clone(),
            // The episode of a call is complete when the call has ended; the episode of a session ends when its client leaves.
            on_drop: if self.mode == Mode::Observe { OnDrop::Leave } else { OnDrop::Cancel },
        };
        EpisodeState::new(Recorder::new(origin, self.log.clone()), self.budgets)
    }

    /// Returns whether tools work: they do unless a breaker says otherwise, since a lost server ends the session.
    fn tools(&self) -> ToolsState {
        let breakers = self.gate.health().breakers;
        let fails = breakers.values().any(|state| !matches!(state, BreakerState::Closed { .. }));
        if fails { ToolsState::ToolsPartial } else { ToolsState::ToolsOk }
    }

    /// Returns whether the session's episode is the turn of its calls (A2, R2).
    pub(crate) fn is_turn(&self) -> bool {
        self.mode == Mode::Enforce
    }

    /// Returns the turn that the episode is, named by its correlation id.
    pub(crate) fn user_turn(&self) -> Option<TurnId> {
        TurnId::new(format!("corr_{}", plain(self.session.as_str()))).ok()
    }

    /// Waits until no other call of the episode is in progress, if the episode is a turn.
    pub(crate) async fn one_call(&self) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        if self.is_turn() { Some(self.calling.lock().await) } else { None }
    }

    /// Returns the tool of the episode with a name, if the client has it.
    pub(crate) fn own(&self, name: &str) -> Option<OwnTool> {
        OwnTool::named(name).filter(|_| self.mode == Mode::Enforce)
    }

    /// Returns the known facts about a call.
    pub(crate) fn facts(&self, turn: &TurnId, call: &ToolCall) -> CallFacts {
        let (tool, args) = (call.tool(), call.args());
        let recordable = self.gate.recordable(tool, args);
        let hash = call.hash().map(|hash| hash.to_string());
        CallFacts::new(turn, (tool.to_string(), self.names.shown(tool)), (args, recordable), hash, self.timeout)
    }

    /// Appends the tools of the episode to the first page of the only server. With several servers, [`Self::list_all`] does so.
    ///
    /// # Errors
    /// If the server has a tool that a client could mistake for one of the episode's.
    pub(crate) fn list(&self, page: Vec<u8>, response: &Frame, is_first: bool) -> Result<Vec<u8>, Fault> {
        if self.mode == Mode::Observe || self.names.only().is_none() {
            return Ok(page);
        }
        own_tool_list::collides(response)?;
        if is_first { own_tool_list::with_own(page) } else { Ok(page) }
    }

    /// Appends the tools of the episode to those of several servers.
    ///
    /// # Errors
    /// If the list cannot be read.
    pub(crate) fn list_all(&self, page: Vec<u8>) -> Result<Vec<u8>, Fault> {
        if self.mode == Mode::Observe { Ok(page) } else { own_tool_list::with_own(page) }
    }

    /// Returns the tool of the episode as the audit log names it.
    pub(crate) fn own_id(&self, tool: OwnTool) -> Option<ToolId> {
        self.names.own(tool)
    }

    /// Performs the action that the model requests of its episode, and returns the line for the client.
    pub(crate) async fn drive(&self, tool: OwnTool, args: &str, at: &ReplyContext<'_>) -> Vec<u8> {
        let args = serde_json::from_str::<Map<String, Value>>(args);
        let proposed = args.as_ref().ok().zip(tool.packet_type());
        let proposed = proposed.and_then(|(args, packet)| moves::proposed(packet, args));
        let done = match args {
            Ok(args) => self.done(tool, args, at).await,
            Err(_) => {
                let why = StepRefusal::new(Code::Schema, "expected an object for `arguments`", "write an object");
                Err(self.at(at.turn, |state| not_now(state, why, Ran::No)))
            }
        };
        // A refused action has written nothing.
        let done = match (done, self.synced.wait().await) {
            (Ok(_), Err(why)) => Err(self.at(at.turn, |state| not_now(state, StepRefusal::not_synced(why), Ran::No))),
            (done, _) => done,
        };
        match done {
            Ok(done) => done.result(at),
            Err(not_now) => {
                error!("refused `{}`: {}: {}", tool.name(), not_now.why.code(), not_now.why.unquoted());
                let recorded = match &self.names.own(tool) {
                    Some(own) => self.record(&not_now, at.turn, own, None, proposed).await,
                    // INVARIANT: these tools have valid names.
                    None => Err(Blocked::new(GateCode::A1, "a tool without a name", "this is a bug; please report it")),
                };
                match recorded {
                    Ok(()) => not_now.result(at),
                    Err(unrecorded) => unrecorded_result(unrecorded, &not_now, at),
                }
            }
        }
    }

    async fn done(
        &self,
        tool: OwnTool,
        args: Map<String, Value>,
        at: &ReplyContext<'_>,
    ) -> Result<CompletedAction, NotNow> {
        let Some(packet) = tool.packet_type() else {
            return self.at(at.turn, |state| {
                if args.is_empty() {
                    return Ok(enforce::state(state));
                }
                let why = StepRefusal::new(Code::Schema, "this tool takes no arguments", "leave them out");
                Err(not_now(state, why, Ran::No))
            });
        };
        let given = args.clone();
        let on_veto = self.on_veto;
        // In safe mode, only the end of safe mode can be escalated.
        if packet == PacketType::EscalationPacket
            && let Some(question) = self.at(at.turn, |state| halted(state, on_veto, &given))?
        {
            let reply = self.ask(at.turn, tool, &question).await;
            let heard = reply.as_ref().and_then(HumanAnswer::from_reply);
            return self.at(at.turn, |state| {
                integrity::answered(state, heard.as_ref()).map_err(|why| not_now(state, why, Ran::No))
            });
        }
        let sent = self.at(at.turn, |state| {
            integrity::within_budget(state, on_veto)
                .and_then(|()| {
                    let sent = enforce::send(state, tool, packet, args, |name| self.allowed(name));
                    sent.map_err(|why| integrity::vetoed(state, on_veto, packet, &given, why))
                })
                .map_err(|why| not_now(state, why, Ran::No))
        })?;
        if packet != PacketType::EscalationPacket {
            return Ok(sent);
        }
        // The episode waits for the human, who may take a while; other calls are judged in the meantime.
        let reply = self.ask(at.turn, tool, &given).await;
        let escalation = sent.packet_id();
        self.at(at.turn, |state| {
            let Some(escalation) = escalation else { return Ok(sent) };
            enforce::answered(state, &escalation, &given, reply.as_ref()).map_err(|why| not_now(state, why, Ran::No))
        })
    }

    /// Returns the id of a server's tool that the operator allows.
    fn allowed(&self, name: &str) -> Option<String> {
        let tool = self.names.id(name)?;
        self.gate.permissions(&tool).map(|_| tool.to_string())
    }

    /// Asks a human about an escalation: whether to take the step that it recommends.
    async fn ask(&self, turn: &TurnId, tool: OwnTool, args: &Map<String, Value>) -> Option<Reply> {
        let tool = self.names.own(tool)?;
        let permissions = Permissions::new([Permission::Write]).ok()?;
        let demand = Demand { tool, permissions, always_confirm: true };
        let call = Call::new(turn.clone(), demand, args.clone()).ok()?;
        let question = Question {
            turn: turn.clone(),
            tool: call.tool().clone(),
            args: call.args_text().to_owned(),
            hash: call.hash(),
            permissions: call.demand().permissions.clone(),
            timeout: self.asks,
        };
        let confirmer = Arc::clone(&self.confirmer);
        guarded(self.asks, async move { Ok(confirmer.confirm(&question).await) }).await.ok()
    }

    /// Checks whether a call may be made here, before anyone is asked to confirm it. The result is not a promise.
    ///
    /// # Errors
    /// The reason why the call may not be made.
    pub(crate) fn may(&self, call: &CallFacts) -> Result<(), NotNow> {
        if self.mode == Mode::Observe {
            return Ok(());
        }
        self.at(&call.turn, |state| {
            let may = integrity::within_budget(state, self.on_veto).and_then(|()| state.may(call));
            may.map_err(|why| not_now(state, why, Ran::No))
        })
    }

    /// Records a call before it is made. Returns `None` if an observing proxy cannot record it, which does not stop the call.
    ///
    /// # Errors
    /// The reason why the call may not be made.
    pub(crate) async fn begin(self: &Arc<Self>, call: CallFacts) -> Result<Option<UnfinishedCall>, NotNow> {
        let heard = self.answers.take(&call.turn);
        let rationale = rationale(heard.as_ref());
        let recorded = self.at(&call.turn, |state| match self.mode {
            Mode::Enforce => {
                let within = integrity::within_budget(state, self.on_veto);
                within.and_then(|()| state.begin(&call, &rationale)).map_err(|why| not_now(state, why, Ran::No))
            }
            Mode::Observe => {
                observe::begin(state, &call, heard.as_ref(), &rationale).map_err(|why| not_now(state, why, Ran::No))
            }
        });
        match (recorded, self.mode) {
            (Ok(recorded), mode) => {
                let turn = call.turn.clone();
                let begun = UnfinishedCall::new(Arc::clone(self) as Arc<dyn Ends>, call, recorded);
                match (self.synced.wait().await, mode) {
                    (Ok(()), _) => Ok(Some(begun)),
                    // Dropping the call records it as cancelled, if that can be recorded.
                    (Err(why), Mode::Enforce) => {
                        drop(begun);
                        Err(self.at(&turn, |state| not_now(state, StepRefusal::not_synced(why), Ran::No)))
                    }
                    (Err(why), Mode::Observe) => {
                        error!("{why}");
                        Ok(Some(begun))
                    }
                }
            }
            (Err(why), Mode::Enforce) => Err(why),
            (Err(why), Mode::Observe) => {
                error!("a call of `{}` is not recorded: {}", call.tool, why.why.unquoted());
                self.states.lock().remove(&call.turn);
                Ok(None)
            }
        }
    }

    /// Returns the answer to the client if the outcome of a call cannot be recorded: the tool's answer is withheld.
    pub(crate) fn unrecorded(&self, turn: &TurnId, why: StepRefusal) -> NotNow {
        self.at(turn, |state| not_now(state, why, Ran::Yes))
    }

    /// Records the episode's refusal in the audit log, under the code of its rule (G4, D76).
    ///
    /// # Errors
    /// If the refusal cannot be recorded (A1).
    pub(crate) async fn record(
        &self,
        not_now: &NotNow,
        turn: &TurnId,
        tool: &ToolId,
        call: Option<CallHash>,
        proposal: Option<Event>,
    ) -> Result<(), Blocked> {
        let episode = self.at(turn, |state| state.recorder.origin.correlation_id().ok());
        let refused = EpisodeRefusal {
            code: not_now.why.rule(),
            also: not_now.why.also(),
            episode: episode.as_ref(),
            tool,
            call,
            proposal,
            ran: not_now.ran,
            why: &not_now.why.unquoted(),
        };
        self.gate.refused_by_episode(turn, refused).await
    }

    /// Records a call that the gate refuses, if each call is an episode.
    pub(crate) async fn refused(
        &self,
        turn: &TurnId,
        (server, tool): (&ServerName, &str),
        args: Option<&Map<String, Value>>,
        code: &str,
        why: &str,
    ) {
        if self.mode == Mode::Enforce {
            return;
        }
        let heard = self.answers.take(turn);
        let call = CallFacts::unjudged(turn, format!("{server}/{}", omen_gate::bounded(tool)), self.timeout);
        // A call that had begun already has its end.
        let recorded = self.at(turn, |state| match state.recorder.packets() {
            0 => observe::refused(state, &call, args, heard.as_ref(), (code, why)),
            _ => Ok(()),
        });
        if let Err(why) = recorded {
            error!("a refused call of `{}` is not recorded: {}", call.tool, why.unquoted());
        }
        self.states.lock().remove(turn);
        if let Err(why) = self.synced.wait().await {
            error!("{why}");
        }
    }

    /// Ends the session's episode, and returns the state in which it was.
    pub(crate) fn close(&self, ended: &str) -> Option<String> {
        let mut state = self.states.lock().remove(&self.session)?;
        if state.recorder.packets() == 0 {
            return None;
        }
        if self.mode == Mode::Enforce {
            // An episode that is over its budget at its end ends in the halted state.
            let _ = integrity::within_budget(&mut state, self.on_veto);
        }
        let nodes = state.recorder.nodes();
        let noted = state.alert(AlertType::Other, AlertSeverity::Info, &format!("the session ended: {ended}"));
        let open = state.recorder.ledger(|ledger| ledger.open().len());
        state.recorder.end();
        if let Some(turn) = self.user_turn() {
            self.gate.end_turn(&turn);
        }
        // Nothing else is waiting any more.
        if let Err(why) = self.synced.now() {
            error!("{why}");
        }
        let (name, packets) = (&state.recorder.origin.name, state.recorder.packets());
        let unfinished =
            if open > 0 { format!(", {open} directives were open and are cancelled") } else { String::new() };
        let failed = noted.err().map(|why| format!("; its end is not recorded: {}", why.reason())).unwrap_or_default();
        Some(format!("the episode `corr_{name}` ended in {nodes} with {packets} packets{unfinished}{failed}"))
    }
}

#[async_trait]
impl Ends for Episodes {
    async fn synced(&self) -> Result<(), StepRefusal> {
        match (self.synced.wait().await, self.mode) {
            (Err(why), Mode::Enforce) => Err(StepRefusal::not_synced(why)),
            (Err(why), Mode::Observe) => {
                error!("{why}");
                Ok(())
            }
            (Ok(()), _) => Ok(()),
        }
    }

    fn ended(&self, call: &CallFacts, recorded: CallRecord, outcome: &Outcome) -> Result<(), StepRefusal> {
        let outcome = &outcome.recorded(&call.recordable);
        if self.mode == Mode::Enforce {
            return self.at(&call.turn, |state| {
                state.end(call, recorded, outcome)?;
                // The call is recorded; the next action is refused.
                let _ = integrity::within_budget(state, self.on_veto);
                Ok(())
            });
        }
        if let Err(why) = self.at(&call.turn, |state| observe::end(state, call, recorded, outcome)) {
            error!("the end of a call of `{}` is not recorded: {}", call.tool, why.unquoted());
        }
        self.states.lock().remove(&call.turn);
        Ok(())
    }

    fn taken_back(&self, turn: &TurnId, why: Lapsed) -> NotNow {
        let code = if why == Lapsed::SafeMode { Code::E7 } else { Code::E6 };
        let why = StepRefusal::new(code, format!("the call was cancelled while it ran: {why}"), why.help());
        self.at(turn, |state| not_now(state, why, Ran::Unknown))
    }
}

/// Returns the answer to the client if a refusal cannot be recorded.
pub(crate) fn unrecorded_result(unrecorded: Blocked, not_now: &NotNow, at: &ReplyContext<'_>) -> Vec<u8> {
    let refusal = CallRefusal { ran: not_now.ran, ..unrecorded.into() };
    let place = RefusalContext { id: at.id, turn: at.turn, call: None, era: at.era, promises: at.promises };
    refusal::result(&refusal, &place)
}

/// Returns the question for an operator if the episode is in safe mode, or has just been halted for exceeding its budget.
fn halted(
    state: &mut EpisodeState,
    on_veto: OnVeto,
    args: &Map<String, Value>,
) -> Result<Option<Map<String, Value>>, NotNow> {
    if !integrity::is_halted(state) {
        integrity::within_budget(state, on_veto).map_err(|why| not_now(state, why, Ran::No))?;
    }
    Ok(integrity::is_halted(state).then(|| integrity::question(state, args)))
}

fn not_now(state: &EpisodeState, why: StepRefusal, ran: Ran) -> NotNow {
    NotNow { why, standing: Standing::new(state), ran }
}

/// What an id takes of the name of a turn, whose characters may be others.
pub(super) fn plain(turn: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '-' };
    turn.chars().map(plain).collect()
}
