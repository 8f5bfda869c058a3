//! What an agent holds true.

use omen_types::fit::size;
use omen_types::limits::{MAX_CHANGES_BYTES, MAX_VALUE_DEPTH};
use omen_types::{BeliefChange, BeliefUpdatePayload, ContradictionDetails, PacketId, UpdateType};
use serde::Serialize;

use super::super::draft::Draft;
use super::fields::flatten;
use super::{DoesNotFit, Json, ToJson};

/// A change of beliefs; it has at least one.
#[must_use = "it is taken in with `.believe(..)`"]
#[derive(Clone, Debug)]
pub struct Belief {
    pub(super) payload: BeliefUpdatePayload,
    /// How many bytes of JSON its changes and what it cites have.
    bytes: usize,
}

impl Belief {
    /// Something that was not believed before. The value is a number, a text, an id, or a [`Json`], which was checked where
    /// it was made: `Belief::new("db", "pool", Json::new(value)?)`.
    pub fn new(domain: impl Into<String>, key: impl Into<String>, value: impl ToJson) -> Self {
        Self::of(UpdateType::NewBelief, change(domain, key, (), value))
    }

    /// Something that was believed otherwise.
    pub fn revision(
        domain: impl Into<String>,
        key: impl Into<String>,
        before: impl ToJson,
        value: impl ToJson,
    ) -> Self {
        Self::of(UpdateType::Revision, change(domain, key, before, value))
    }

    /// A contradiction that was resolved, and how.
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

    /// Something that is held more firmly, or less, than before.
    pub fn confidence(
        domain: impl Into<String>,
        key: impl Into<String>,
        before: impl ToJson,
        value: impl ToJson,
    ) -> Self {
        Self::of(UpdateType::ConfidenceAdjustment, change(domain, key, before, value))
    }

    /// Something that was looked up anew, and is still believed: its prior value is its value.
    pub fn refreshed(domain: impl Into<String>, key: impl Into<String>, value: impl ToJson) -> Self {
        let value = value.into_json();
        Self::of(UpdateType::StalenessRefresh, change(domain, key, value.clone(), value))
    }

    /// What a generated payload says, as `.believe(payload)` takes it, too. A value in it that is nested deeper than a
    /// packet may be becomes its JSON text.
    pub fn stating(mut payload: BeliefUpdatePayload) -> Self {
        for change in &mut payload.belief_changes {
            flatten(&mut change.new_value, MAX_VALUE_DEPTH);
            flatten(&mut change.prior_value, MAX_VALUE_DEPTH);
        }
        let bytes = size(&payload.belief_changes).saturating_add(size(&payload.evidence_integration));
        Self { payload, bytes }
    }

    /// Something that was not believed before, as whatever can be written as JSON.
    ///
    /// # Errors
    /// If the value cannot, is nested too deep, or is too large.
    pub fn try_new(
        domain: impl Into<String>,
        key: impl Into<String>,
        value: &(impl Serialize + ?Sized),
    ) -> Result<Self, DoesNotFit> {
        Ok(Self::new(domain, key, Json::of(value)?))
    }

    /// Another change in the same update. What was believed otherwise before makes an update of new beliefs a revision,
    /// since a new belief has no prior value.
    ///
    /// # Errors
    /// If the update would be too large for a packet: send several.
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

    /// What it rests on. A verification loop's own evidence is added by the episode.
    ///
    /// # Errors
    /// If the update would be too large for a packet.
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
