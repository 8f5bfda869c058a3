//! The evidence for the content of a packet.

use std::marker::PhantomData;

use omen_types::{EvidenceRef, RefType, Text, Timestamp, UnitInterval};

use super::sealed::FactSealed;

/// The best evidence shows how things are now: a tool's output or a user's observation (INV-004).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live;

/// The best evidence is an item of memory or a calculation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Archive;

/// No evidence is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Absent;

/// The best kind of evidence: [`Live`], [`Archive`] or [`Absent`].
pub trait BestEvidence: FactSealed + Copy + Send + Sync + 'static {
    /// The best kind once an item of memory or a calculation is added.
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

/// The evidence for the content of a packet, or why there is none. The best kind is a type:
/// [`Live`], [`Archive`] or [`Absent`].
#[derive(Clone, Debug)]
pub struct Evidence<Best> {
    refs: Vec<EvidenceRef>,
    absent: Option<Text>,
    best: PhantomData<fn() -> Best>,
}

impl Evidence<Live> {
    /// Output of a tool, by URI or identifier, and when it was taken.
    #[must_use]
    pub fn tool_output(id: Text, taken: Timestamp) -> Self {
        Evidence::none().and_tool_output(id, taken)
    }

    /// What a user saw or said, by URI or identifier, and when.
    #[must_use]
    pub fn user_observation(id: Text, taken: Timestamp) -> Self {
        Evidence::none().and_user_observation(id, taken)
    }
}

impl Evidence<Archive> {
    /// An item of the agent's memory, by URI or identifier, and when it was stored.
    #[must_use]
    pub fn memory_item(id: Text, taken: Timestamp) -> Self {
        Evidence::none().and_memory_item(id, taken)
    }

    /// The result of a calculation, by URI or identifier, and when it was made.
    #[must_use]
    pub fn derived_calc(id: Text, taken: Timestamp) -> Self {
        Evidence::none().and_derived_calc(id, taken)
    }
}

impl Evidence<Absent> {
    /// No evidence, and why there is none (D29).
    #[must_use]
    pub fn absent(reason: Text) -> Self {
        Self { absent: Some(reason), ..Self::none() }
    }

    /// INVARIANT: it never leaves this module without evidence or a reason.
    fn none() -> Self {
        Self { refs: Vec::new(), absent: None, best: PhantomData }
    }
}

impl<Best: BestEvidence> Evidence<Best> {
    /// Adds the output of a tool; the best evidence is live from here on.
    #[must_use]
    pub fn and_tool_output(self, id: Text, taken: Timestamp) -> Evidence<Live> {
        self.and(RefType::ToolOutput, id, taken)
    }

    /// Adds what a user saw or said; the best evidence is live from here on.
    #[must_use]
    pub fn and_user_observation(self, id: Text, taken: Timestamp) -> Evidence<Live> {
        self.and(RefType::UserObservation, id, taken)
    }

    /// Adds an item of memory.
    #[must_use]
    pub fn and_memory_item(self, id: Text, taken: Timestamp) -> Evidence<Best::WithArchive> {
        self.and(RefType::MemoryItem, id, taken)
    }

    /// Adds the result of a calculation.
    #[must_use]
    pub fn and_derived_calc(self, id: Text, taken: Timestamp) -> Evidence<Best::WithArchive> {
        self.and(RefType::DerivedCalc, id, taken)
    }

    /// How far the source of the latest piece can be relied on, from 0 (not at all) to 1 (fully).
    #[must_use]
    pub fn reliability(mut self, score: UnitInterval) -> Self {
        if let Some(latest) = self.refs.last_mut() {
            latest.reliability_score = Some(score);
        }
        self
    }

    /// With evidence there is no reason for its absence any more.
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
