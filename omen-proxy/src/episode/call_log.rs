//! Episodes of calls that are begun by one process and ended by another, as the hooks of a coding agent see them.
//!
//! As behind a proxy that observes, each call is an episode, and the session is its campaign. Nothing is kept in memory between
//! two events: the episode of a call is resumed from its lines.

use std::fmt;
use std::io;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use omen_base::{GateClock, TurnId};
use omen_fsm::episode::{Claims, OnDrop};
use omen_gate::arguments::Recordable;
use omen_gate::{Permissions, Ran};
use omen_types::packet::{AlertSeverity, AlertType, CorrelationId, ErrorDetails, PacketId, PositiveCount, ToolsState};
use serde_json::{Map, Value};

use super::budgets::Budgets;
use super::call_facts::CallFacts;
use super::call_file::CallFile;
use super::call_record::CallRecord;
use super::episode_state::EpisodeState;
use super::human_answers::{Answers, rationale};
use super::interrupted::{HOOK, Interrupted, end_left};
use super::log::SharedLog;
use super::not_stated::not_stated;
use super::observe;
use super::outcome::Outcome;
use super::recorder::{Origin, Recorder};
use super::session::plain;
use super::step_refusal::StepRefusal;

/// Log with the episodes of one session, open for one event. While it is, no other process may have it.
pub struct CallLog {
    file: CallFile,
    session: String,
    clock: Arc<dyn GateClock>,
    is_synced: bool,
}

/// Call of a tool, as the process that sees it knows it.
#[derive(Clone, Debug)]
pub struct SeenCall<'c> {
    /// Turn of the call.
    pub turn: &'c TurnId,
    /// Server and tool.
    pub tool: String,
    /// Hash of the call.
    pub hash: String,
    /// Arguments; empty if they are not known any more.
    pub args: &'c Map<String, Value>,
    /// What of the call may be written down.
    pub recordable: Recordable,
    /// Permissions that the tool needs; without them, it counts as one that writes.
    pub permissions: Option<&'c Permissions>,
}

/// How a call has ended, as far as that is known.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CallEnd {
    /// The tool ran without an error; what is known of its answer.
    Succeeded(Value),
    /// The tool ran, and failed or may have failed.
    Failed {
        /// Code of the failure.
        code: &'static str,
        /// Reason, which quotes nothing of the call.
        why: String,
    },
    /// Nobody knows whether the tool ran; reason.
    InDoubt(String),
    /// The tool did not run; reason.
    DidNotRun(String),
}

/// Call whose episode has begun in this process. Dropped, it stays open for the process that sees its end.
#[must_use = "the entries of the audit log name its directive"]
pub struct BegunCall {
    state: EpisodeState,
    call: CallFacts,
    recorded: CallRecord,
    file: Option<CallFile>,
}

/// Reason why an episode does not have what happened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotRecorded(String);

impl From<StepRefusal> for NotRecorded {
    fn from(why: StepRefusal) -> Self {
        Self(why.unquoted())
    }
}

impl From<io::Error> for NotRecorded {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

impl CallLog {
    /// Opens the log of a session, and creates it if there is none. If a process was killed while it wrote, half a line is moved
    /// to a file beside the log, and the last episode is ended, unless its call is awaited.
    ///
    /// # Errors
    /// If the file cannot be used.
    pub fn open(
        path: &Path,
        session: &str,
        clock: Arc<dyn GateClock>,
        is_awaited: impl FnOnce(&str) -> bool,
    ) -> Result<Self, NotRecorded> {
        let log = Self { file: CallFile::open(path)?, session: plain(session), clock, is_synced: false };
        if let Some((episode, lines)) = log.file.last_episode()?
            && !is_awaited(&episode)
        {
            log.end_left(&episode, &lines)?;
        }
        Ok(log)
    }

    /// Waits for the disk after what is written for an event.
    #[must_use]
    pub fn synced(self, is_synced: bool) -> Self {
        Self { is_synced, ..self }
    }

    /// Records a call that the gate lets pass, before it is made, with what a human has said to it.
    ///
    /// # Errors
    /// If it cannot be recorded.
    pub fn begin(&self, call: &SeenCall<'_>, answers: &Answers) -> Result<BegunCall, NotRecorded> {
        let (mut state, facts, heard) = (self.state(call.turn), call.facts(), answers.take(call.turn));
        let recorded = observe::begin(&mut state, &facts, heard.as_ref(), &rationale(heard.as_ref()))?;
        self.sync()?;
        Ok(BegunCall { state, call: facts, recorded, file: self.is_synced.then(|| self.file.clone()) })
    }

    /// Records a call that the gate refuses, with the code of its rule and the reason.
    ///
    /// # Errors
    /// If it cannot be recorded.
    pub fn refuse(&self, call: &SeenCall<'_>, answers: &Answers, why: (&str, &str)) -> Result<(), NotRecorded> {
        let (mut state, facts, heard) = (self.state(call.turn), call.facts(), answers.take(call.turn));
        observe::refused(&mut state, &facts, facts.recordable.arguments(), heard.as_ref(), why)?;
        Ok(self.sync()?)
    }

    /// Records the end of a call that an earlier process has begun. If its result is in the log already, only what is missing is
    /// written.
    ///
    /// # Errors
    /// If it cannot be recorded.
    pub fn end(&self, episode: &str, call: &SeenCall<'_>, end: &CallEnd) -> Result<(), NotRecorded> {
        let lines = self.file.lines_of(episode)?;
        let mut state = self.resumed(episode, &lines)?;
        let open = state.recorder.ledger(|ledger| {
            let open = ledger.open().in_order();
            open.first().map(|open| (open.task_id.parse(), open.packet_id.parse()))
        });
        let Some((Ok(task_id), Ok(directive))) = open else {
            drop(state);
            self.end_left(episode, &lines)?;
            return Ok(self.sync()?);
        };
        let episode = state.recorder.origin.correlation_id()?;
        let recorded = CallRecord::Directive { task_id, directive, episode, running: None };
        observe::end(&mut state, &call.facts(), recorded, &end.outcome())?;
        Ok(self.sync()?)
    }

    /// Notes something about a call whose episode has ended.
    ///
    /// # Errors
    /// If it cannot be recorded.
    pub fn note(&self, episode: &str, note: &str) -> Result<(), NotRecorded> {
        let mut state = self.resumed(episode, &self.file.lines_of(episode)?)?;
        state.alert(AlertType::Other, AlertSeverity::Info, note)?;
        Ok(self.sync()?)
    }

    /// Records a call that ran although the gate had not allowed it, with the code of the finding and the reason. Its directive is
    /// one that no rule permits, so that a validator reports it. Returns the directive and its episode.
    ///
    /// # Errors
    /// If it cannot be recorded.
    pub fn ran_anyway(
        &self,
        call: &SeenCall<'_>,
        why: (&str, &str),
        end: &CallEnd,
    ) -> Result<(PacketId, CorrelationId), NotRecorded> {
        let mut state = self.state(call.turn);
        let directive = observe::ran_anyway(&mut state, &call.facts(), why, &end.outcome())?;
        self.sync()?;
        Ok((directive, state.recorder.origin.correlation_id()?))
    }

    /// Ends an episode, unless it stands where one may end.
    fn end_left(&self, episode: &str, lines: &[String]) -> Result<(), NotRecorded> {
        match end_left(&self.shared(), episode, lines, &self.clock, &HOOK) {
            Some(Interrupted { not_ended: Some(why), .. }) => Err(NotRecorded(why)),
            _ => Ok(()),
        }
    }

    fn state(&self, turn: &TurnId) -> EpisodeState {
        EpisodeState::new(Recorder::new(self.origin(plain(turn.as_str())), self.shared()), Budgets::default())
    }

    /// The desk of an episode that has begun.
    fn resumed(&self, episode: &str, lines: &[String]) -> Result<EpisodeState, StepRefusal> {
        let name = episode.strip_prefix("corr_").unwrap_or(episode).to_owned();
        let mcp = not_stated().envelope(Budgets::default(), &[], ToolsState::ToolsOk);
        let recorder = Recorder::resume(self.origin(name), self.shared(), lines, &mcp)?;
        Ok(EpisodeState::new(recorder, Budgets::default()))
    }

    fn origin(&self, name: String) -> Origin {
        Origin {
            name,
            campaign: Some(self.session.clone()),
            clock: Arc::clone(&self.clock),
            // A process that sees one event has no other handle of an episode.
            claims: Claims::new(),
            on_drop: OnDrop::Leave,
        }
    }

    fn shared(&self) -> SharedLog {
        SharedLog::new(Box::new(self.file.clone()))
    }

    fn sync(&self) -> io::Result<()> {
        if self.is_synced { self.file.sync() } else { Ok(()) }
    }
}

impl BegunCall {
    /// Directive of the call, and its episode.
    #[must_use]
    pub fn packet(&self) -> Option<(PacketId, CorrelationId)> {
        self.recorded.packet()
    }

    /// Records the end of the call.
    ///
    /// # Errors
    /// If it cannot be recorded.
    pub fn end(mut self, end: &CallEnd) -> Result<(), NotRecorded> {
        observe::end(&mut self.state, &self.call, self.recorded, &end.outcome())?;
        Ok(self.file.map_or(Ok(()), |file| file.sync())?)
    }
}

impl SeenCall<'_> {
    fn facts(&self) -> CallFacts {
        let (tool, recordable) = (self.tool.clone(), self.recordable.clone());
        let hash = Some(self.hash.clone());
        let timeout = u32::try_from(LONGEST_CALL_SECONDS).ok().and_then(NonZeroU32::new);
        let timeout = PositiveCount::from(timeout.unwrap_or(NonZeroU32::MAX));
        let mut facts = CallFacts::new(self.turn, (tool.clone(), tool), (self.args, recordable), hash, timeout);
        match self.permissions {
            Some(permissions) => drop(facts.demanding(permissions)),
            None => facts.writes = true,
        }
        facts
    }
}

impl CallEnd {
    fn outcome(&self) -> Outcome {
        match self {
            Self::Succeeded(answer) => Outcome::Answered(answer.clone()),
            Self::Failed { code, why } => {
                let details = ErrorDetails::builder().error_code(*code).error_message(why.as_str()).build();
                Outcome::Failed { details, unquoted: why.clone(), ran: Ran::Yes }
            }
            Self::InDoubt(why) => Outcome::in_doubt(why),
            Self::DidNotRun(why) => Outcome::Cancelled { why: why.clone(), ran: Ran::No },
        }
    }
}

impl fmt::Debug for CallLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallLog").field("session", &self.session).finish_non_exhaustive()
    }
}

impl fmt::Debug for BegunCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BegunCall").field("packet", &self.packet()).finish_non_exhaustive()
    }
}

/// Seconds after which an outcome is late: how long an agent waits for its tools, and its user, is not known.
pub const LONGEST_CALL_SECONDS: u64 = 86_400;
