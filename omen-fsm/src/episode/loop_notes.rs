//! What an episode remembers of its verification loop, beyond what the ledger has of it.

use omen_types::PacketId;

use super::mark::Mark;

/// Notes on the verification loop.
#[derive(Debug, Default)]
pub(crate) struct LoopNotes {
    pub(crate) state: LoopState,
    /// Results and observations, which the closing belief update cites.
    pub(crate) evidence: Vec<PacketId>,
    /// The latest observation with status OBSERVED.
    pub(crate) observed: Option<PacketId>,
    /// The plans that were sent.
    pub(crate) plans: Vec<Mark>,
    /// The assumptions that the plans in the log are to verify.
    pub(crate) targets: Vec<String>,
}

/// How far a verification loop has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LoopState {
    /// No loop has begun, or an emergency halt left it.
    #[default]
    None,
    /// It runs.
    Running,
    /// It was closed by its belief update.
    Closed,
}
