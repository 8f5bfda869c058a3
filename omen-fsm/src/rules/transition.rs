//! What a rule is given.

use omen_invariants::Context;

use crate::table::{Event, NodeSet};

/// A packet, and where it would lead.
pub(crate) struct Transition<'t> {
    pub(crate) context: Context<'t>,
    pub(crate) event: Event,
    /// Where the episode may be.
    pub(crate) nodes: NodeSet,
    /// Where it may be after the packet; empty if the table has no row.
    pub(crate) next: NodeSet,
}

impl Transition<'_> {
    pub(crate) fn is_illegal(&self) -> bool {
        self.next.is_empty()
    }
}
