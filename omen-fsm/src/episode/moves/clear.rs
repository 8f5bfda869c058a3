//! The end of safe mode.

use crate::episode::{Clearance, Episode, Says};

/// Ends safe mode on an order of layer 1 (E7, D13). What was open when it began is cancelled.
pub(crate) fn clear<S, Next>(mut episode: Episode<S>, order: impl Says<Clearance>) -> Episode<Next> {
    match order.said().draft() {
        Ok(draft) => drop(episode.core.must(draft)),
        Err(why) => episode.core.keep(why),
    }
    episode.at()
}
