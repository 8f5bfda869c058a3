//! Lists of which rules need one fact, folded while they are read.

use super::{BeliefChangeFacts, EvidenceRefFacts, RefType};
use crate::parser::Gather;
use crate::time::Instant;

impl RefType {
    /// Whether evidence of this sort shows how things are now (INV-004).
    #[must_use]
    pub const fn is_live(self) -> bool {
        matches!(self, Self::ToolOutput | Self::UserObservation)
    }
}

/// The newest of the references that show how things are now (INV-004): tool outputs and user
/// observations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveEvidence {
    newest: Option<Instant>,
    newest_of_all: Option<Instant>,
}

impl LiveEvidence {
    /// When the newest live evidence was taken; `None` if there is none.
    #[must_use]
    pub fn newest(self) -> Option<Instant> {
        self.newest
    }

    /// When the newest evidence of any sort was taken; `None` if there is none.
    #[must_use]
    pub fn newest_of_all(self) -> Option<Instant> {
        self.newest_of_all
    }
}

impl Gather<EvidenceRefFacts> for LiveEvidence {
    #[inline]
    fn take(&mut self, reference: EvidenceRefFacts) {
        let timestamp = Some(reference.timestamp);
        self.newest_of_all = self.newest_of_all.max(timestamp);
        if reference.ref_type.is_live() {
            self.newest = self.newest.max(timestamp);
        }
    }
}

/// Which of some belief changes replaces a belief that was held before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PriorValues {
    changes: u32,
    first: Option<u32>,
}

impl PriorValues {
    /// The index of the first change that has another `prior_value` than null.
    #[must_use]
    pub fn first(self) -> Option<u32> {
        self.first
    }
}

impl Gather<BeliefChangeFacts> for PriorValues {
    #[inline]
    fn take(&mut self, change: BeliefChangeFacts) {
        if change.prior_value && self.first.is_none() {
            self.first = Some(self.changes);
        }
        self.changes = self.changes.saturating_add(1);
    }
}
