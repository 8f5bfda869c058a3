//! The end of an episode.

use std::sync::Arc;

use crate::episode::{Closed, Episode, Refusal, Refused};

/// Closes the episode.
///
/// # Errors
/// If a step before has failed and could not say so by its type, see [`Episode::trouble`]; or if the episode is over
/// budget and nobody has approved that (INV-005, D59): then escalate, have layer 1 approve it, or halt.
pub(crate) fn close<S>(mut episode: Episode<S>) -> Result<Closed, Refused<S>> {
    if let Some(why) = &episode.core.trouble {
        let why = Arc::clone(why);
        return Err(episode.refuse(why));
    }
    let against: Vec<_> = episode.core.machine.finish().into_iter().map(|(_, finding)| finding).collect();
    if against.is_empty() {
        episode.core.close();
        Ok(Closed { core: episode.core })
    } else {
        Err(episode.refuse(Arc::new(Refusal::Rules(against))))
    }
}
