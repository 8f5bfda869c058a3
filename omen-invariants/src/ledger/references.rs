//! References of an episode that need more than the set of ids (D78).

use omen_types::{DecisionOutcome, PacketFacts, PayloadFacts};

use super::bytes::{Reader, Size, Writer};

/// Decision that a verification plan refers to, and observations that results have announced.
#[derive(Clone, Debug, Default)]
pub(super) struct References {
    /// Id of the current VERIFY_FIRST decision.
    verifying: Option<Box<str>>,
    awaited: Vec<Awaited>,
}

/// Observation that a result has announced but that has not been accepted yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// Id of the result's packet.
    pub result: Box<str>,
    /// Id of the observation.
    pub observation: Box<str>,
}

impl References {
    /// Maximum number of announced observations to pack: more would take longer than judging a packet.
    const MOST_PACKED: usize = 24;

    pub(super) fn verifying(&self) -> Option<&str> {
        self.verifying.as_deref()
    }

    pub(super) fn awaited(&self) -> &[Awaited] {
        &self.awaited
    }

    /// Records an accepted packet. `is_observed` returns whether an observation with an id was accepted earlier.
    pub(super) fn accept(&mut self, facts: &PacketFacts<'_>, is_observed: impl FnOnce(&str) -> bool) {
        match &facts.payload {
            PayloadFacts::Decision(decision) => {
                let verifies = decision.decision_outcome == DecisionOutcome::VerifyFirst;
                self.verifying = verifies.then(|| facts.header.packet_id.as_ref().into());
            }
            PayloadFacts::TaskResult(result) => {
                if let Some(observation) = result.observation_packet_id.as_deref().filter(|id| !is_observed(id)) {
                    let result = facts.header.packet_id.as_ref().into();
                    self.awaited.push(Awaited { result, observation: observation.into() });
                }
            }
            PayloadFacts::Observation(_) => {
                self.awaited.retain(|one| *one.observation != *facts.header.packet_id);
            }
            _ => {}
        }
    }

    /// Cancels the current decision, for safe mode (D13).
    pub(super) fn cancel(&mut self) {
        self.verifying = None;
    }

    /// Writes the references if there are few of them, and returns whether they were written.
    pub(super) fn pack(&self, size: Size, writer: &mut Writer<'_>) -> bool {
        // No id is empty.
        writer.text(self.verifying.as_deref().unwrap_or_default());
        writer.number(self.awaited.len() as u64);
        for Awaited { result, observation } in &self.awaited {
            writer.text(result);
            writer.text(observation);
        }
        size == Size::Any || self.awaited.len() <= Self::MOST_PACKED
    }

    pub(super) fn unpack(reader: &mut Reader<'_>) -> Self {
        let verifying = Some(reader.text()).filter(|id| !id.is_empty()).map(Into::into);
        let count = reader.count();
        let awaited = (0..count).map(|_| Awaited { result: reader.text().into(), observation: reader.text().into() });
        Self { verifying, awaited: awaited.collect() }
    }
}
