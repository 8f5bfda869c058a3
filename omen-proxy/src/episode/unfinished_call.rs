//! Call of a server's tool that is in the log but has no outcome there yet.

use std::sync::Arc;

use async_trait::async_trait;
use omen_fsm::episode::Lapsed;
use omen_gate::TurnId;
use omen_types::packet::{CorrelationId, PacketId};
use tracing::error;

use super::call_facts::CallFacts;
use super::call_record::CallRecord;
use super::outcome::Outcome;
use super::reply::NotNow;
use super::step_refusal::StepRefusal;

/// Owner of calls that end: the episodes of a session.
#[async_trait]
pub(super) trait Ends: Send + Sync {
    /// Waits until everything recorded is on disk.
    async fn synced(&self) -> Result<(), StepRefusal>;

    fn ended(&self, call: &CallFacts, recorded: CallRecord, outcome: &Outcome) -> Result<(), StepRefusal>;

    /// Returns the answer to the client if the episode withdrew a call while it was running.
    fn taken_back(&self, turn: &TurnId, why: Lapsed) -> NotNow;
}

/// Call of a server's tool that is in the log without an outcome. If dropped without one, it is recorded as cancelled.
pub(crate) struct UnfinishedCall {
    episodes: Arc<dyn Ends>,
    pub(super) call: CallFacts,
    recorded: Option<CallRecord>,
}

impl UnfinishedCall {
    pub(super) fn new(episodes: Arc<dyn Ends>, call: CallFacts, recorded: CallRecord) -> Self {
        Self { episodes, call, recorded: Some(recorded) }
    }

    /// Returns the packet that requests the call, and its episode.
    pub(crate) fn packet(&self) -> Option<(PacketId, CorrelationId)> {
        self.recorded.as_ref().and_then(CallRecord::packet)
    }

    /// Runs the call until it ends or the episode withdraws it.
    pub(crate) async fn run<T>(&self, call: impl Future<Output = T>) -> Result<T, Lapsed> {
        let Some(watch) = self.recorded.as_ref().and_then(CallRecord::watch) else { return Ok(call.await) };
        tokio::select! {
            biased;
            done = call => Ok(done),
            why = watch.lapsed() => Err(why),
        }
    }

    /// Returns the answer to the client if the episode has withdrawn the call.
    pub(crate) fn taken_back(&self, why: Lapsed) -> NotNow {
        self.episodes.taken_back(&self.call.turn, why)
    }

    /// Records the outcome.
    ///
    /// # Errors
    /// If the outcome cannot be recorded.
    pub(crate) async fn end(mut self, outcome: &Outcome) -> Result<(), StepRefusal> {
        if let Some(recorded) = self.recorded.take() {
            self.episodes.ended(&self.call, recorded, outcome)?;
        }
        self.episodes.synced().await
    }
}

impl Drop for UnfinishedCall {
    fn drop(&mut self) {
        if let Some(recorded) = self.recorded.take() {
            let outcome = Outcome::cancelled("nobody is waiting for the answer any more; the tool may have run");
            if let Err(why) = self.episodes.ended(&self.call, recorded, &outcome) {
                error!("the end of a call of `{}` is not recorded: {}", self.call.tool, why.unquoted());
            }
        }
    }
}
