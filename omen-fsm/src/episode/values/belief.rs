//! Belief updates.

use omen_types::fit::size;
use omen_types::limits::{MAX_CHANGES_BYTES, MAX_VALUE_DEPTH};
use omen_types::{BeliefChange, BeliefUpdatePayload, ContradictionDetails, PacketId, UpdateType};
use serde::Serialize;

use super::super::draft::Draft;
use super::fields::flatten;
use super::{DoesNotFit, Json, ToJson};

/// Belief update with at least one change.
#[must_use = "it is taken in with `.believe(..)`"]
#[derive(Clone, Debug)]
pub struct Belief {
    pub(super) payload: BeliefUpdatePayload,
    /// Size of its changes and citations as JSON, in bytes.
    bytes: usize,
}

impl Belief {
    /// Creates a new belief. The value is a number, a text, an id, or a [`Json`], which was checked when it was
    /// created: `Belief::new("db", "pool", Json::new(value)?)`.
    pub fn new(domain: impl Into<String>, key: impl Into<String>, value: impl ToJson) -> Self {
        Self::with_change(UpdateType::NewBelief, change(domain, key, (), value))
    }

    /// Creates a revision: a belief with its prior and its new value.
    pub fn revision(
        domain: impl Into<String>,
        key: impl Into<String>,
        before: impl ToJson,
        value: impl ToJson,
    ) -> Self {
        Self::with_change(UpdateType::Revision, change(domain, key, before, value))
    }

    /// Creates a resolved contradiction, with details.
    pub fn resolved(
        domain: impl Into<String>,
        key: impl Into<String>,
        before: impl ToJson,
        value: impl ToJson,
        details: ContradictionDetails,
    ) -> Self {
        let mut belief = Self::with_change(UpdateType::ContradictionResolved, change(domain, key, before, value));
        belief.payload.contradiction_details = Some(details);
        belief
    }

    /// Creates an adjustment of confidence, with the prior and the new value.
    pub fn confidence(
        domain: impl Into<String>,
        key: impl Into<String>,
        before: impl ToJson,
        value: impl ToJson,
    ) -> Self {
        Self::with_change(UpdateType::ConfidenceAdjustment, change(domain, key, before, value))
    }

    /// Creates a belief that was rechecked and confirmed: its prior value equals its value.
    pub fn refreshed(domain: impl Into<String>, key: impl Into<String>, value: impl ToJson) -> Self {
        let value = value.into_json();
        Self::with_change(UpdateType::StalenessRefresh, change(domain, key, value.clone(), value))
    }

    /// Creates an update from a generated payload; `.believe(payload)` also accepts the payload itself. A value that is
    /// nested too deeply for a packet is replaced by its JSON text.
    pub fn stating(mut payload: BeliefUpdatePayload) -> Self {
        for change in &mut payload.belief_changes {
            flatten(&mut change.new_value, MAX_VALUE_DEPTH);
            flatten(&mut change.prior_value, MAX_VALUE_DEPTH);
        }
        let bytes = size(&payload.belief_changes).saturating_add(size(&payload.evidence_integration));
        Self { payload, bytes }
    }

    /// Creates a new belief with any value that can be serialized as JSON.
    ///
    /// # Errors
    /// A value that cannot be serialized, is nested too deeply, or is too large.
    pub fn try_new(
        domain: impl Into<String>,
        key: impl Into<String>,
        value: &(impl Serialize + ?Sized),
    ) -> Result<Self, DoesNotFit> {
        Ok(Self::new(domain, key, Json::of(value)?))
    }

    /// Adds another change to the update. If the change has a prior value, an update of new beliefs becomes a revision,
    /// because a new belief has no prior value.
    ///
    /// # Errors
    /// An update that becomes too large for a packet: send several updates.
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

    /// Cites evidence. The episode adds the evidence of a verification loop automatically.
    ///
    /// # Errors
    /// An update that becomes too large for a packet.
    pub fn citing(mut self, packet_ids: impl IntoIterator<Item = PacketId>) -> Result<Self, DoesNotFit> {
        for id in packet_ids {
            self.grow(size(&id))?;
            self.cite(std::iter::once(id));
        }
        Ok(self)
    }

    fn grow(&mut self, by: usize) -> Result<(), DoesNotFit> {
        // Includes the comma.
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

    fn with_change(update_type: UpdateType, change: BeliefChange) -> Self {
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
