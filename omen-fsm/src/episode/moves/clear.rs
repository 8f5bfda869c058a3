//! The end of safe mode.

use crate::episode::{EndsSafeMode, Episode};

/// Ends safe mode by an order of layer 1 (E7, D13), which cancels the open directives.
pub(crate) fn clear<S, Next>(mut episode: Episode<S>, order: impl EndsSafeMode) -> Episode<Next> {
    match order.into_clearance().draft() {
        Ok(draft) => drop(episode.core.must(draft)),
        Err(why) => episode.core.keep(why),
    }
    episode.at()
}
