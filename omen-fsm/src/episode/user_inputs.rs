//! User inputs on which open directives are based, for a gate that screens them (D68).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use omen_types::fit::size;
use omen_types::limits::MAX_LINE_BYTES;
use omen_types::{AlertSeverity, DecisionOutcome, ObservationPayload, ObservationType, Packet, PacketId};

/// Observation of type `user_input` on which a directive is based (D68).
#[derive(Clone, Debug, PartialEq)]
pub struct UserInput {
    packet_id: PacketId,
    payload: Option<ObservationPayload>,
}

impl UserInput {
    /// Returns the id of the observation.
    #[must_use]
    pub fn packet_id(&self) -> &PacketId {
        &self.packet_id
    }

    /// Returns the complete content of the observation. `None` if the observation was shortened because it was too long
    /// for a line, or if all inputs of the decision together exceed the limit of a line (16 MiB): an incomplete input
    /// cannot be screened.
    #[must_use]
    pub fn payload(&self) -> Option<&ObservationPayload> {
        self.payload.as_ref()
    }
}

/// User inputs of one episode, shared with the handles to its tasks.
#[derive(Debug, Default)]
pub(crate) struct UserInputs(Mutex<InputRecord>);

#[derive(Debug, Default)]
struct InputRecord {
    /// Inputs on which the latest decision is based.
    decided: Vec<Arc<UserInput>>,
    /// Inputs since the latest decision.
    since: Vec<Arc<UserInput>>,
    /// Total size of the stored content in bytes.
    bytes: usize,
    /// Whether the latest decision did not settle the request, so that the next decision concerns the same request.
    unsettled: bool,
    /// Whether the latest decision has not been acted on yet, so another may replace it (D7).
    rests: bool,
}

impl UserInputs {
    /// Updates the inputs with a packet of the log.
    pub(crate) fn note(&self, packet: &Packet) {
        let mut record = self.lock();
        match packet {
            Packet::Observation(observation) if observation.payload.observation_type == ObservationType::UserInput => {
                record.observe(observation.header().packet_id.clone(), &observation.payload);
            }
            Packet::Decision(decision) => record.decide(decision.payload.decision_outcome),
            // Safe mode cancels the current decision and the verification loop (D13).
            Packet::IntegrityAlert(alert) if alert.payload.severity == AlertSeverity::Critical => {
                (record.unsettled, record.rests) = (false, false);
            }
            Packet::IntegrityAlert(_) | Packet::Observation(_) => {}
            _ => record.rests = false,
        }
    }

    /// Records that an input was shortened when it was written, and is therefore incomplete.
    pub(crate) fn shortened(&self, id: &PacketId) {
        let mut record = self.lock();
        if let Some(input) = record.since.iter_mut().find(|input| input.packet_id == *id) {
            *input = Arc::new(UserInput { packet_id: id.clone(), payload: None });
        }
    }

    /// Returns the inputs on which the open directives are based, in log order: those of the latest decision and all
    /// later ones.
    pub(crate) fn inputs(&self) -> Vec<Arc<UserInput>> {
        let record = self.lock();
        record.decided.iter().chain(&record.since).cloned().collect()
    }

    /// Ignores poisoning: after a panic with the lock held, at worst a stored input is not counted.
    fn lock(&self) -> MutexGuard<'_, InputRecord> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InputRecord {
    fn observe(&mut self, packet_id: PacketId, payload: &ObservationPayload) {
        // Small inputs take memory, too.
        let bytes = self.bytes.saturating_add(size(payload).max(LEAST_BYTES));
        let fits = bytes <= MAX_LINE_BYTES;
        if fits {
            self.bytes = bytes;
        }
        // A single input without content is enough to show that inputs are missing.
        if fits || self.since.last().is_none_or(|last| last.payload.is_some()) {
            self.since.push(Arc::new(UserInput { packet_id, payload: fits.then(|| payload.clone()) }));
        }
    }

    fn decide(&mut self, outcome: DecisionOutcome) {
        if !self.unsettled && !self.rests {
            for input in std::mem::take(&mut self.decided) {
                let freed = input.payload.as_ref().map_or(0, |payload| size(payload).max(LEAST_BYTES));
                self.bytes = self.bytes.saturating_sub(freed);
            }
        }
        self.decided.append(&mut self.since);
        // The second decision of a loop (E3.5) and the decision after a human's answer concern the request of the first one.
        self.unsettled = matches!(outcome, DecisionOutcome::VerifyFirst | DecisionOutcome::Escalate);
        self.rests = true;
    }
}

const LEAST_BYTES: usize = 256;
