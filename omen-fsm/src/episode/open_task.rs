//! Information on an open directive that the ledger does not hold.

use omen_types::{ExecutionMethod, Instant, PacketId, TaskId};

use super::Authority;

/// Directive without a result.
#[derive(Clone, Debug)]
pub(crate) struct OpenTask {
    pub(crate) directive: PacketId,
    pub(crate) task_id: TaskId,
    pub(crate) method: ExecutionMethod,
    pub(crate) authority: Option<Authority>,
    /// Deadline of its result.
    pub(crate) due: Instant,
    /// Number of packets up to and including the directive; determines the sending order.
    pub(crate) order: u64,
}
