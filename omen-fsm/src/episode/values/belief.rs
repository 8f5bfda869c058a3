//! What an agent holds true.

use omen_types::serde_json::Value;
use omen_types::{BeliefChange, BeliefUpdatePayload, ContradictionDetails, PacketId, UpdateType};

use super::super::core::Draft;

/// A change of beliefs; it has at least one.
#[must_use = "it is taken in with `.believe(..)`"]
#[derive(Clone, Debug)]
pub struct Belief {
    pub(super) payload: BeliefUpdatePayload,
}

impl Belief {
    /// Something that was not believed before.
    pub fn new(domain: impl Into<String>, key: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::of(UpdateType::NewBelief, change(domain, key, Value::Null, value))
    }

    /// Something that was believed otherwise.
    pub fn revision(
        domain: impl Into<String>,
        key: impl Into<String>,
        before: impl Into<Value>,
        value: impl Into<Value>,
    ) -> Self {
        Self::of(UpdateType::Revision, change(domain, key, before, value))
    }

    /// A contradiction that was resolved, and how.
    pub fn resolved(
        domain: impl Into<String>,
        key: impl Into<String>,
        before: impl Into<Value>,
        value: impl Into<Value>,
        details: ContradictionDetails,
    ) -> Self {
        let mut belief = Self::of(UpdateType::ContradictionResolved, change(domain, key, before, value));
        belief.payload.contradiction_details = Some(details);
        belief
    }

    /// Another change in the same update.
    pub fn and(
        mut self,
        domain: impl Into<String>,
        key: impl Into<String>,
        before: impl Into<Value>,
        value: impl Into<Value>,
    ) -> Self {
        self.payload.belief_changes.push(change(domain, key, before, value));
        self
    }

    /// What it rests on. A verification loop's own evidence is added by the episode.
    pub fn citing(mut self, packet_ids: impl IntoIterator<Item = PacketId>) -> Self {
        self.cite(packet_ids.into_iter());
        self
    }

    pub(crate) fn cite(&mut self, packet_ids: impl Iterator<Item = PacketId>) {
        let cited = self.payload.evidence_integration.get_or_insert_with(Vec::new);
        cited.extend(packet_ids.map(|id| id.to_string()));
    }

    pub(crate) fn draft(self) -> Draft {
        Draft::new(self.payload)
    }

    fn of(update_type: UpdateType, change: BeliefChange) -> Self {
        let payload = BeliefUpdatePayload::builder().update_type(update_type).belief_changes(vec![change]).build();
        Self { payload }
    }
}

fn change(
    domain: impl Into<String>,
    key: impl Into<String>,
    prior_value: impl Into<Value>,
    new_value: impl Into<Value>,
) -> BeliefChange {
    BeliefChange::builder().domain(domain).key(key).new_value(new_value.into()).prior_value(prior_value.into()).build()
}
