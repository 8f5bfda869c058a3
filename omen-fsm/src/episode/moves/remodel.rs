//! Another decision after work.

use crate::episode::{Belief, Episode, Model, Says};

/// Takes the results in and goes on: what follows is another decision. On the wire a belief update stands for
/// both (D11).
pub(crate) fn remodel<S>(mut episode: Episode<S>, belief: impl Says<Belief>) -> Episode<Model> {
    episode.core.must(belief.said().draft());
    episode.at()
}
