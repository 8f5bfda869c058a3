//! A human's answer.

use crate::episode::{Answer, Episode, Says};

/// Takes in the answer that a human gave (D8). One decision of any outcome is due then.
pub(crate) fn answered<S, Next>(mut episode: Episode<S>, answer: impl Says<Answer>) -> Episode<Next> {
    episode.core.must(answer.said().draft());
    episode.at()
}
