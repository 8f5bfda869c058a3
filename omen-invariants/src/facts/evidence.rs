//! Evidence for the content of a packet.

use std::marker::PhantomData;

use omen_types::{EvidenceRef, RefType, Text, Timestamp, UnitInterval};

use super::sealed::FactSealed;

/// Marker for live evidence: a tool's output or a user's observation, which shows the present state (INV-004).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live;

/// Marker for a memory item or a calculation as the best evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Archive;

/// Marker for absent evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Absent;

/// Best kind of evidence: [`Live`], [`Archive`] or [`Absent`].
pub trait BestEvidence: FactSealed + Copy + Send + Sync + 'static {
    /// Best kind after adding a memory item or a calculation.
    #[doc(hidden)]
    type WithArchive: BestEvidence;
}

impl FactSealed for Live {}
impl FactSealed for Archive {}
impl FactSealed for Absent {}

impl BestEvidence for Live {
    type WithArchive = Live;
}

impl BestEvidence for Archive {
    type WithArchive = Archive;
}

impl BestEvidence for Absent {
    type WithArchive = Archive;
}

/// Evidence for the content of a packet, or the reason for its absence. The type parameter is the best kind of
/// evidence: [`Live`], [`Archive`] or [`Absent`].
#[derive(Clone, Debug)]
pub struct Evidence<Best> {
    refs: Vec<EvidenceRef>,
    absent: Option<Text>,
    best: PhantomData<fn() -> Best>,
}

impl Evidence<Live> {
    /// Creates evidence from a tool's output, with its URI or identifier and its time.
    #[must_use]
    pub fn tool_output(id: Text, taken: Timestamp) -> Self {
        Evidence::none().and_tool_output(id, taken)
    }

    /// Creates evidence from a user's observation or statement, with its URI or identifier and its time.
    #[must_use]
    pub fn user_observation(id: Text, taken: Timestamp) -> Self {
        Evidence::none().and_user_observation(id, taken)
    }
}

impl Evidence<Archive> {
    /// Creates evidence from an item of the agent's memory, with its URI or identifier and the time when it was stored.
    #[must_use]
    pub fn memory_item(id: Text, taken: Timestamp) -> Self {
        Evidence::none().and_memory_item(id, taken)
    }

    /// Creates evidence from a calculation, with its URI or identifier and its time.
    #[must_use]
    pub fn derived_calc(id: Text, taken: Timestamp) -> Self {
        Evidence::none().and_derived_calc(id, taken)
    }
}

impl Evidence<Absent> {
    /// States that there is no evidence, with the reason (D29).
    #[must_use]
    pub fn absent(reason: Text) -> Self {
        Self { absent: Some(reason), ..Self::none() }
    }

    /// INVARIANT: the result leaves this module only with evidence or with a reason.
    fn none() -> Self {
        Self { refs: Vec::new(), absent: None, best: PhantomData }
    }
}

impl<Best: BestEvidence> Evidence<Best> {
    /// Adds a tool's output; the best evidence is then live.
    #[must_use]
    pub fn and_tool_output(self, id: Text, taken: Timestamp) -> Evidence<Live> {
        self.and(RefType::ToolOutput, id, taken)
    }

    /// Adds a user's observation or statement; the best evidence is then live.
    #[must_use]
    pub fn and_user_observation(self, id: Text, taken: Timestamp) -> Evidence<Live> {
        self.and(RefType::UserObservation, id, taken)
    }

    /// Adds a memory item.
    #[must_use]
    pub fn and_memory_item(self, id: Text, taken: Timestamp) -> Evidence<Best::WithArchive> {
        self.and(RefType::MemoryItem, id, taken)
    }

    /// Adds the result of a calculation.
    #[must_use]
    pub fn and_derived_calc(self, id: Text, taken: Timestamp) -> Evidence<Best::WithArchive> {
        self.and(RefType::DerivedCalc, id, taken)
    }

    /// Sets the reliability of the source of the latest piece of evidence, from 0 (none) to 1 (full).
    #[must_use]
    pub fn reliability(mut self, score: UnitInterval) -> Self {
        if let Some(latest) = self.refs.last_mut() {
            latest.reliability_score = Some(score);
        }
        self
    }

    /// Adds evidence, and drops the reason for its absence.
    fn and<Better>(mut self, ref_type: RefType, ref_id: Text, timestamp: Timestamp) -> Evidence<Better> {
        self.refs.push(EvidenceRef::builder().ref_type(ref_type).ref_id(ref_id).timestamp(timestamp).build());
        Evidence { refs: self.refs, absent: None, best: PhantomData }
    }
}

impl<Best> Evidence<Best> {
    pub(super) fn sealed(self) -> omen_types::Evidence {
        omen_types::Evidence::builder()
            .evidence_refs(self.refs)
            .maybe_evidence_absent_reason(self.absent.map(|reason| Some(reason.into())))
            .unchecked()
    }
}
