//! Live evidence, folded while the envelope is read.

use super::{EvidenceRefFacts, RefType};
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
}

impl LiveEvidence {
    /// When the newest live evidence was taken; `None` if there is none.
    #[must_use]
    pub fn newest(self) -> Option<Instant> {
        self.newest
    }
}

impl Gather<EvidenceRefFacts> for LiveEvidence {
    #[inline]
    fn take(&mut self, reference: EvidenceRefFacts) {
        if reference.ref_type.is_live() {
            self.newest = self.newest.max(Some(reference.timestamp));
        }
    }
}
