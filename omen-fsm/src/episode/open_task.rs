//! What an episode remembers of an open directive, beyond what the ledger has of it.

use omen_types::{ExecutionMethod, Instant, PacketId, TaskId};

use super::Authority;

/// A directive that has no result yet.
#[derive(Clone, Debug)]
pub(crate) struct OpenTask {
    pub(crate) directive: PacketId,
    pub(crate) task_id: TaskId,
    pub(crate) method: ExecutionMethod,
    pub(crate) authority: Option<Authority>,
    /// The deadline of its result.
    pub(crate) due: Instant,
    /// The number of packets up to and including the directive, for the order of sending.
    pub(crate) order: u64,
}
