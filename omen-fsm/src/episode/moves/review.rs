//! Belief update before the close.

use crate::episode::{Belief, Episode, Review, Says};

/// Records the results in a belief update; the episode may then close. In the log, this is the same packet as for
/// `remodel` (D11).
pub(crate) fn review<S>(mut episode: Episode<S>, belief: impl Says<Belief>) -> Episode<Review> {
    episode.core.must(belief.said().draft());
    episode.at()
}
