//! Belief updates.

use omen_types::fit::size;
use omen_types::limits::{MAX_CHANGES_BYTES, MAX_VALUE_DEPTH};
use omen_types::{BeliefChange, BeliefUpdatePayload, ContradictionDetails, PacketId, UpdateType};
use serde::Serialize;

use super::super::draft::Draft;
use super::fields::flatten;
use super::{DoesNotFit, Json, ToJson};

/// A belief update, with at least one change.
#[must_use = "it is taken in with `.believe(..)`"]
#[derive(Clone, Debug)]
pub struct Belief {
    pub(super) payload: BeliefUpdatePayload,
    /// The bytes of its changes and citations as JSON.
    bytes: usize,
}

impl Belief {
    /// A new belief. The value is a number, a text, an id, or a [`Json`], which was checked where it was made:
    /// `Belief::new("db", "pool", Json::new(value)?)`.
    pub fn new(domain: impl Into<String>, key: impl Into<String>, value: impl ToJson) -> Self {
        Self::of(UpdateType::NewBelief, change(domain, key, (), value))
    }

    /// A revision: a belief with its value before and its new value.
    pub fn revision(
        domain: impl Into<String>,
        key: impl Into<String>,
        before: impl ToJson,
        value: impl ToJson,
    ) -> Self {
        Self::of(UpdateType::Revision, change(domain, key, before, value))
    }

    /// A resolved contradiction, with details.
    pub fn resolved(
        domain: impl Into<String>,
        key: impl Into<String>,
        before: impl ToJson,
        value: impl ToJson,
        details: ContradictionDetails,
    ) -> Self {
        let mut belief = Self::of(UpdateType::ContradictionResolved, change(domain, key, before, value));
        belief.payload.contradiction_details = Some(details);
        belief
    }

    /// An adjustment of confidence, with the value before and the new value.
    pub fn confidence(
        domain: impl Into<String>,
        key: impl Into<String>,
        before: impl ToJson,
        value: impl ToJson,
    ) -> Self {
        Self::of(UpdateType::ConfidenceAdjustment, change(domain, key, before, value))
    }

    /// A belief that was checked again and confirmed: its prior value is its value.
    pub fn refreshed(domain: impl Into<String>, key: impl Into<String>, value: impl ToJson) -> Self {
        let value = value.into_json();
        Self::of(UpdateType::StalenessRefresh, change(domain, key, value.clone(), value))
    }

    /// The update of a generated payload; `.believe(payload)` accepts the payload itself too. A value that is nested
    /// too deep for a packet becomes its JSON text.
    pub fn stating(mut payload: BeliefUpdatePayload) -> Self {
        for change in &mut payload.belief_changes {
            flatten(&mut change.new_value, MAX_VALUE_DEPTH);
            flatten(&mut change.prior_value, MAX_VALUE_DEPTH);
        }
        let bytes = size(&payload.belief_changes).saturating_add(size(&payload.evidence_integration));
        Self { payload, bytes }
    }

    /// A new belief, with any value that can be serialized as JSON.
    ///
    /// # Errors
    /// If the value cannot be serialized, is nested too deep, or is too large.
    pub fn try_new(
        domain: impl Into<String>,
        key: impl Into<String>,
        value: &(impl Serialize + ?Sized),
    ) -> Result<Self, DoesNotFit> {
        Ok(Self::new(domain, key, Json::of(value)?))
    }

    /// Adds another change to the update. If the change has a prior value, an update of new beliefs becomes a revision,
    /// since a new belief has none.
    ///
    /// # Errors
    /// If the update becomes too large for a packet: send several.
    pub fn and(
        mut self,
        domain: impl Into<String>,
        key: impl Into<String>,
        before: impl ToJson,
        value: impl ToJson,
    ) -> Result<Self, DoesNotFit> {
        let change = change(domain, key, before, value);
        self.grow(size(&change))?;
        if !change.prior_value.is_null() && self.payload.update_type == UpdateType::NewBelief {
            self.payload.update_type = UpdateType::Revision;
        }
        self.payload.belief_changes.push(change);
        Ok(self)
    }

    /// Cites evidence. The episode adds the evidence of a verification loop by itself.
    ///
    /// # Errors
    /// If the update becomes too large for a packet.
    pub fn citing(mut self, packet_ids: impl IntoIterator<Item = PacketId>) -> Result<Self, DoesNotFit> {
        for id in packet_ids {
            self.grow(size(&id))?;
            self.cite(std::iter::once(id));
        }
        Ok(self)
    }

    fn grow(&mut self, by: usize) -> Result<(), DoesNotFit> {
        // With the comma.
        self.bytes = self.bytes.saturating_add(by).saturating_add(1);
        if self.bytes > MAX_CHANGES_BYTES {
            return Err(DoesNotFit::Large { bytes: self.bytes, limit: MAX_CHANGES_BYTES });
        }
        Ok(())
    }

    pub(crate) fn cite(&mut self, packet_ids: impl Iterator<Item = PacketId>) {
        let cited = self.payload.evidence_integration.get_or_insert_with(Vec::new);
        cited.extend(packet_ids.map(|id| id.to_string()));
    }

    pub(crate) fn draft(self) -> Draft {
        Draft::new(self.payload)
    }

    fn of(update_type: UpdateType, change: BeliefChange) -> Self {
        let bytes = size(&change);
        let payload = BeliefUpdatePayload::builder().update_type(update_type).belief_changes(vec![change]).unchecked();
        Self { payload, bytes }
    }
}

impl From<BeliefUpdatePayload> for Belief {
    fn from(payload: BeliefUpdatePayload) -> Self {
        Self::stating(payload)
    }
}

fn change(
    domain: impl Into<String>,
    key: impl Into<String>,
    prior_value: impl ToJson,
    new_value: impl ToJson,
) -> BeliefChange {
    BeliefChange::builder()
        .domain(domain)
        .key(key)
        .new_value(new_value.into_json().into_value())
        .prior_value(prior_value.into_json().into_value())
        .build()
}
