//! The end of an episode.

use std::sync::Arc;

use crate::episode::{Closed, Episode, Refusal, Refused};

/// Closes the episode.
///
/// # Errors
/// If an earlier step without an error in its type has failed (see [`Episode::trouble`]); or if the episode is over
/// budget without approval (INV-005, D59): then escalate, have layer 1 approve the overrun, or halt.
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
