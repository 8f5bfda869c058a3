//! Input of a rule.

use omen_invariants::Context;

use crate::table::{Event, NodeSet};

/// Packet, and the nodes that it would lead to.
pub(crate) struct Transition<'t> {
    pub(crate) context: Context<'t>,
    pub(crate) event: Event,
    /// Possible nodes of the episode.
    pub(crate) nodes: NodeSet,
    /// Possible nodes after the packet; empty if the table has no row.
    pub(crate) next: NodeSet,
}

impl Transition<'_> {
    pub(crate) fn is_illegal(&self) -> bool {
        self.next.is_empty()
    }
}
