//! End of safe mode.

use crate::episode::{EndsSafeMode, Episode};

/// Ends safe mode on an order of layer 1, and cancels the open directives (E7, D13).
pub(crate) fn clear<S, Next>(mut episode: Episode<S>, order: impl EndsSafeMode) -> Episode<Next> {
    match order.into_clearance().draft() {
        Ok(draft) => drop(episode.core.must(draft)),
        Err(why) => episode.core.keep(why),
    }
    episode.at()
}
