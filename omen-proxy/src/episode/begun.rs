//! A call of a server's tool that is in the log and has no outcome there yet.

use std::sync::Arc;

use async_trait::async_trait;
use omen_fsm::episode::Lapsed;
use omen_gate::TurnId;
use omen_types::packet::{CorrelationId, PacketId};
use tracing::error;

use super::facts::CallFacts;
use super::outcome::Outcome;
use super::recorded::Recorded;
use super::refused::Refused;
use super::reply::NotNow;

/// Where calls end: the episodes of a session.
#[async_trait]
pub(super) trait Ends: Send + Sync {
    /// Waits until what was recorded is on the disk.
    async fn synced(&self) -> Result<(), Refused>;

    fn ended(&self, call: &CallFacts, recorded: Recorded, outcome: &Outcome) -> Result<(), Refused>;

    /// What the client is answered if the episode has taken a call back while it ran.
    fn taken_back(&self, turn: &TurnId, why: Lapsed) -> NotNow;
}

/// A call that stands in the log and has no outcome there. Dropped without one, it is recorded as cancelled.
pub(crate) struct Begun {
    episodes: Arc<dyn Ends>,
    pub(super) call: CallFacts,
    recorded: Option<Recorded>,
}

impl Begun {
    pub(super) fn new(episodes: Arc<dyn Ends>, call: CallFacts, recorded: Recorded) -> Self {
        Self { episodes, call, recorded: Some(recorded) }
    }

    /// The packet that asks for the call, and its episode.
    pub(crate) fn packet(&self) -> Option<(PacketId, CorrelationId)> {
        self.recorded.as_ref().and_then(Recorded::packet)
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
    pub(crate) async fn end(mut self, outcome: &Outcome) -> Result<(), Refused> {
        if let Some(recorded) = self.recorded.take() {
            self.episodes.ended(&self.call, recorded, outcome)?;
        }
        self.episodes.synced().await
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if let Some(recorded) = self.recorded.take() {
            let outcome = Outcome::cancelled("nobody waits for the answer any more; the tool may have run");
            if let Err(why) = self.episodes.ended(&self.call, recorded, &outcome) {
                error!("the end of a call of `{}` is not recorded: {}", self.call.tool, why.unquoted());
            }
        }
    }
}
