//! Notes on a verification loop that the ledger does not hold.

use omen_types::PacketId;

use super::tag::Tag;

/// Notes on the verification loop.
#[derive(Debug, Default)]
pub(crate) struct LoopNotes {
    pub(crate) state: LoopState,
    /// Results and observations that the closing belief update cites.
    pub(crate) evidence: Vec<PacketId>,
    /// The latest observation with status OBSERVED.
    pub(crate) observed: Option<PacketId>,
    /// Tags of the plans that were sent.
    pub(crate) plans: Vec<Tag>,
    /// Assumptions that the plans in the log are meant to verify.
    pub(crate) targets: Vec<String>,
}

/// Progress of a verification loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LoopState {
    /// No loop was started, or an emergency halt ended it.
    #[default]
    None,
    /// The loop is running.
    Running,
    /// A belief update closed the loop.
    Closed,
}
