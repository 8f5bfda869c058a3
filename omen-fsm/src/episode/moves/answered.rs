//! A human's answer.

use crate::episode::{Answer, Episode, Says};

/// Records a human's answer (D8). A decision with any outcome can follow.
pub(crate) fn answered<S, Next>(mut episode: Episode<S>, answer: impl Says<Answer>) -> Episode<Next> {
    episode.core.must(answer.said().draft());
    episode.at()
}
