//! Another decision after work.

use crate::episode::{Belief, Episode, Model};

/// Takes the results in and goes on: what follows is another decision. On the wire a belief update stands for
/// both (D11).
pub(crate) fn remodel<S>(mut episode: Episode<S>, belief: Belief) -> Episode<Model> {
    episode.core.must(belief.draft());
    episode.at()
}
