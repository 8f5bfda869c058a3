//! Calls as episodes: a log for each session, in a folder beside the audit log.
//!
//! Each is open only while the audit log is open, so hooks take turns with these logs, too.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::PathBuf;
use std::sync::Arc;

use omen_base::{GateClock, Mutex, TurnId};
use omen_gate::arguments::Recordable;
use omen_gate::audit::{Audit, InDoubt};
use omen_gate::{Config, config};
use omen_proxy::episode::{Answers, BegunCall, CallEnd, CallLog, NotRecorded, SeenCall};
use omen_types::{CorrelationId, Instant, PacketId};
use serde_json::Map;

use crate::call_key::SessionKey;

/// Folder with the logs of sessions.
#[derive(Clone, Debug)]
pub(crate) struct EpisodeFolder {
    folder: PathBuf,
    is_synced: bool,
}

/// Episodes of one event. What cannot be recorded stops nothing: it is noted.
#[derive(Debug)]
pub(crate) struct EventEpisodes<'e> {
    folder: Option<&'e EpisodeFolder>,
    clock: Arc<dyn GateClock>,
    pub(crate) answers: Answers,
    /// Logs that are open, each once: what a killed process has left in one is ended when it is opened.
    open: Mutex<BTreeMap<SessionKey, CallLog>>,
    not_recorded: Mutex<Vec<String>>,
}

/// Calls whose episodes this process has begun. Dropped, they may have run.
#[derive(Debug, Default)]
pub(crate) struct BegunCalls(Vec<BegunCall>);

impl EpisodeFolder {
    pub(crate) fn from_config(config: &Config) -> Option<Self> {
        let audit = config.audit.as_ref()?;
        Some(Self { folder: folder_of(audit), is_synced: audit.sync })
    }

    fn open(&self, session: &SessionKey, audit: &Audit, clock: &Arc<dyn GateClock>) -> Result<CallLog, NotRecorded> {
        let path = self.folder.join(format!("{}.jsonl", session.as_str().replace(':', "-")));
        let is_awaited =
            |episode: &str| audit.in_doubt().iter().any(|doubt| doubt.correlation_id.as_deref() == Some(episode));
        let log = CallLog::open(&path, session.as_str(), Arc::clone(clock), is_awaited)?;
        Ok(log.synced(self.is_synced))
    }
}

/// Folder beside an audit log.
pub(crate) fn folder_of(audit: &config::Audit) -> PathBuf {
    audit.log.with_extension("episodes")
}

impl<'e> EventEpisodes<'e> {
    pub(crate) fn new(folder: Option<&'e EpisodeFolder>, clock: Arc<dyn GateClock>) -> Self {
        Self { folder, clock, answers: Answers::default(), open: Mutex::default(), not_recorded: Mutex::default() }
    }

    pub(crate) fn now(&self) -> Instant {
        self.clock.wall().into()
    }

    /// What the episodes do not have of the event, and why.
    pub(crate) fn not_recorded(&self) -> Option<String> {
        let all = self.not_recorded.lock();
        (!all.is_empty())
            .then(|| format!("the episodes lack {}; help: free the file, or make it writable", all.join(", nor ")))
    }

    /// Records a call before the agent may make it.
    pub(crate) fn begin(&self, session: &SessionKey, audit: &Audit, call: &SeenCall<'_>) -> Option<BegunCall> {
        self.with(session, audit, "the call", |log| log.begin(call, &self.answers))
    }

    /// Records a call that is refused.
    pub(crate) fn refuse(&self, session: &SessionKey, audit: &Audit, call: &SeenCall<'_>, why: (&str, &str)) {
        self.with(session, audit, "the refusal", |log| log.refuse(call, &self.answers, why));
    }

    /// Records the end of a call whose intent is in the audit log.
    pub(crate) fn end(&self, audit: &Audit, doubt: &InDoubt, end: &CallEnd) {
        let (Some(episode), Ok(turn)) = (&doubt.correlation_id, TurnId::new(&doubt.turn)) else { return };
        let Some(session) = SessionKey::of_turn(&doubt.turn) else { return };
        let (tool, hash) = (doubt.tool.clone(), doubt.call.clone());
        let args = Map::new();
        let call =
            SeenCall { turn: &turn, tool, hash, args: &args, recordable: Recordable::default(), permissions: None };
        self.with(&session, audit, "the end of a call", |log| log.end(episode, &call, end));
    }

    /// Records a call that ran although the gate had not allowed it. Returns the packet that says so.
    pub(crate) fn ran_anyway(
        &self,
        session: &SessionKey,
        audit: &Audit,
        call: &SeenCall<'_>,
        why: (&str, &str),
        end: &CallEnd,
    ) -> Option<(PacketId, CorrelationId)> {
        self.with(session, audit, "a call that ran despite the gate", |log| log.ran_anyway(call, why, end))
    }

    /// Notes the end of an episode's call that is known only now.
    pub(crate) fn note(&self, session: &SessionKey, audit: &Audit, episode: &str, note: &str) {
        self.with(session, audit, "an outcome that arrived late", |log| log.note(episode, note));
    }

    /// Does something with the log of a session, if there is one.
    fn with<T>(
        &self,
        session: &SessionKey,
        audit: &Audit,
        what: &str,
        record: impl FnOnce(&CallLog) -> Result<T, NotRecorded>,
    ) -> Option<T> {
        let (folder, mut open) = (self.folder?, self.open.lock());
        let opened = match open.entry(session.clone()) {
            Entry::Occupied(open) => Ok(open.into_mut()),
            Entry::Vacant(vacant) => folder.open(session, audit, &self.clock).map(|log| vacant.insert(log)),
        };
        match opened.and_then(|log| record(log)) {
            Ok(recorded) => Some(recorded),
            Err(why) => {
                self.not_recorded.lock().push(format!("{what}: {why}"));
                None
            }
        }
    }
}

impl BegunCalls {
    pub(crate) fn push(&mut self, call: Option<BegunCall>) {
        self.0.extend(call);
    }

    /// Leaves the calls to the processes that see their ends.
    pub(crate) fn leave_open(mut self) {
        self.0.clear();
    }

    /// Records the same end of all calls.
    pub(crate) fn end(mut self, end: &CallEnd) {
        self.end_all(end);
    }

    fn end_all(&mut self, end: &CallEnd) {
        // What cannot be written now is found by the next event of the session.
        self.0.drain(..).for_each(|call| drop(call.end(end)));
    }
}

impl Drop for BegunCalls {
    fn drop(&mut self) {
        self.end_all(&CallEnd::InDoubt("nobody is waiting for the answer any more; the tool may have run".to_owned()));
    }
}
