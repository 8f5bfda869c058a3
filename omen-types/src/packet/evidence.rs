//! Summaries of lists, computed while parsing, for rules that need a single fact.

use super::{BeliefChangeFacts, EvidenceRefFacts, RefType};
use crate::parser::Gather;
use crate::time::Instant;

impl RefType {
    /// Returns whether evidence of this type shows the present state (INV-004).
    #[must_use]
    pub const fn is_live(self) -> bool {
        matches!(self, Self::ToolOutput | Self::UserObservation)
    }
}

/// Newest of the references that show the present state: tool outputs and user observations (INV-004).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveEvidence {
    newest: Option<Instant>,
    newest_of_all: Option<Instant>,
}

impl LiveEvidence {
    /// Returns the time of the newest live evidence; `None` if there is none.
    #[must_use]
    pub fn newest(self) -> Option<Instant> {
        self.newest
    }

    /// Returns the time of the newest evidence of any type; `None` if there is none.
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

/// First change in a belief update that replaces an earlier belief.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PriorValues {
    changes: u32,
    first: Option<u32>,
}

impl PriorValues {
    /// Returns the index of the first change whose `prior_value` is not null.
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
