//! Verified part of a log, from which it can be opened again.

use super::Anchor;
use super::head::ChainPosition;
use super::replayed_state::ReplayedState;
use super::verify::VerifiedPart;

/// Verified part of a log, with the state replayed from it. [`Audit::open_after`](super::Audit::open_after) verifies only what
/// follows, and does not see changes before.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// Number of the log's last file.
    pub(super) number: u32,
    /// End of the previous file.
    pub(super) start: ChainPosition,
    pub(super) part: VerifiedPart,
    /// Anchor that the log was compared with.
    pub(super) require: Option<Anchor>,
    /// State before it is completed: calls may still get their outcome.
    pub(super) past: ReplayedState,
}
