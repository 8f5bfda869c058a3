//! Record of a call in the log of its episode while the call runs.

use omen_fsm::episode::{Pending, Running, Watch};
use omen_types::packet::{CorrelationId, PacketId, TaskId};

use super::step_refusal::StepRefusal;

/// Record of a running call in the log of its episode.
pub(super) enum CallRecord {
    /// A directive, which its result closes.
    Directive { task_id: TaskId, directive: PacketId, episode: CorrelationId, running: Option<Box<Running>> },
    /// Nothing yet: the call's output will be an observation.
    Observation,
}

impl CallRecord {
    pub(super) fn directive(task_id: TaskId, task: Pending) -> Result<Self, StepRefusal> {
        let (directive, episode) = (task.directive().clone(), task.correlation_id().clone());
        match task.start() {
            Ok(running) => Ok(Self::Directive { task_id, directive, episode, running: Some(Box::new(running)) }),
            Err(not_started) => {
                Err(StepRefusal::new(omen_types::Code::E6, not_started.why.to_string(), not_started.why.help()))
            }
        }
    }

    /// Returns the directive, which the audit log entries about the call name.
    pub(super) fn packet(&self) -> Option<(PacketId, CorrelationId)> {
        match self {
            Self::Directive { directive, episode, .. } => Some((directive.clone(), episode.clone())),
            Self::Observation => None,
        }
    }

    /// Returns a watch that notices when the episode withdraws the call.
    pub(super) fn watch(&self) -> Option<Watch> {
        match self {
            Self::Directive { running: Some(running), .. } => Some(running.watch().clone()),
            _ => None,
        }
    }

    /// Marks the tool as no longer running, so that the result can be written.
    pub(super) fn stop(&mut self) {
        if let Self::Directive { running, .. } = self {
            drop(running.take());
        }
    }
}
