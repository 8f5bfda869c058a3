//! Live evidence, folded while the envelope is read.

use crate::packet::{EvidenceRefFacts, RefType};
use crate::read::Collect;
use crate::time::Instant;

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

impl Collect<EvidenceRefFacts> for LiveEvidence {
    #[inline]
    fn take(&mut self, reference: EvidenceRefFacts) {
        if matches!(reference.ref_type, RefType::ToolOutput | RefType::UserObservation) {
            self.newest = self.newest.max(Some(reference.timestamp));
        }
    }
}
