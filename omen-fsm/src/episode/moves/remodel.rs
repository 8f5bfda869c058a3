//! Belief update before another decision.

use crate::episode::{Belief, Episode, Model, Says};

/// Records the results in a belief update; another decision follows. In the log, this is the same packet as for `review` (D11).
pub(crate) fn remodel<S>(mut episode: Episode<S>, belief: impl Says<Belief>) -> Episode<Model> {
    episode.core.must(belief.said().draft());
    episode.at()
}
