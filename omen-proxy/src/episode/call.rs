//! A call of a server's tool, from the moment that it may be made to its outcome.

use std::sync::Arc;

use omen_fsm::episode::{Lapsed, Pending, Running, Watch};
use omen_gate::{CallHash, Permission, Permissions, ToolId, TurnId};
use omen_types::packet::{PacketId, PositiveCount, TaskId};
use serde_json::{Map, Value};

use super::drafts::Outcome;
use super::refused::Refused;
use super::reply::NotNow;
use super::session::Episodes;

/// What is known of a call before it is made.
#[derive(Clone, Debug)]
pub(crate) struct CallFacts {
    pub(crate) turn: TurnId,
    /// Server and tool.
    pub(crate) tool: String,
    pub(crate) args: Map<String, Value>,
    pub(crate) hash: Option<CallHash>,
    /// Whether the operator says that the tool can do more than read.
    pub(crate) writes: bool,
    pub(crate) timeout: PositiveCount,
}

impl CallFacts {
    pub(crate) fn new(
        turn: &TurnId,
        tool: &ToolId,
        args: Map<String, Value>,
        hash: Option<CallHash>,
        permissions: &Permissions,
        timeout: PositiveCount,
    ) -> Self {
        let writes = permissions.iter().any(|permission| permission != Permission::Read);
        Self { turn: turn.clone(), tool: tool.to_string(), args, hash, writes, timeout }
    }
}

/// What stands in the log for a call.
pub(super) enum Recorded {
    /// A directive, which its result closes.
    Directive { task_id: TaskId, directive: PacketId, running: Option<Box<Running>> },
    /// Nothing yet: its output will be an observation.
    Observation,
}

impl Recorded {
    pub(super) fn directive(task_id: TaskId, task: Pending) -> Result<Self, Refused> {
        let directive = task.directive().clone();
        match task.start() {
            Ok(running) => Ok(Self::Directive { task_id, directive, running: Some(Box::new(running)) }),
            Err(not_started) => {
                Err(Refused::new(omen_types::Code::E6, not_started.why.to_string(), not_started.why.help()))
            }
        }
    }

    /// Notices when the episode takes the call back.
    fn watch(&self) -> Option<Watch> {
        match self {
            Self::Directive { running: Some(running), .. } => Some(running.watch().clone()),
            _ => None,
        }
    }

    /// Its tool is not called any more, so that its result can be written.
    pub(super) fn stop(&mut self) {
        if let Self::Directive { running, .. } = self {
            drop(running.take());
        }
    }
}

/// A call that stands in the log and has no outcome there. Dropped without one, it is recorded as cancelled.
pub(crate) struct Begun {
    episodes: Arc<Episodes>,
    pub(super) call: CallFacts,
    recorded: Option<Recorded>,
}

impl Begun {
    pub(super) fn new(episodes: Arc<Episodes>, call: CallFacts, recorded: Recorded) -> Self {
        Self { episodes, call, recorded: Some(recorded) }
    }

    /// Runs the call until it ends, or until the episode takes it back.
    pub(crate) async fn run<T>(&self, call: impl Future<Output = T>) -> Result<T, Lapsed> {
        let Some(watch) = self.recorded.as_ref().and_then(Recorded::watch) else { return Ok(call.await) };
        tokio::select! {
            biased;
            done = call => Ok(done),
            why = watch.lapsed() => Err(why),
        }
    }

    /// What the client is answered if the episode has taken the call back.
    pub(crate) fn taken_back(&self, why: Lapsed) -> NotNow {
        self.episodes.taken_back(&self.call.turn, why)
    }

    /// Writes the outcome.
    ///
    /// # Errors
    /// If it cannot be recorded.
    pub(crate) fn end(mut self, outcome: &Outcome) -> Result<(), Refused> {
        match self.recorded.take() {
            Some(recorded) => self.episodes.ended(&self.call, recorded, outcome),
            None => Ok(()),
        }
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if let Some(recorded) = self.recorded.take() {
            let outcome = Outcome::cancelled("nobody waits for the answer any more; the tool may have run");
            if let Err(why) = self.episodes.ended(&self.call, recorded, &outcome) {
                self.episodes.note(&format!(
                    "the end of a call of `{}` is not recorded: {}",
                    self.call.tool,
                    why.reason()
                ));
            }
        }
    }
}
