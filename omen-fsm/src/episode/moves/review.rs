//! The end of work.

use crate::episode::{Belief, Episode, Review, Says};

/// Takes the results in and ends the work: what follows is review. On the wire a belief update stands for
/// both (D11).
pub(crate) fn review<S>(mut episode: Episode<S>, belief: impl Says<Belief>) -> Episode<Review> {
    episode.core.must(belief.said().draft());
    episode.at()
}
