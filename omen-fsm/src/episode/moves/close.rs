//! The end of an episode.

use std::sync::Arc;

use crate::episode::{Closed, Episode, Refused};

/// Closes the episode.
///
/// # Errors
/// If a step before has failed and could not say so by its type, see [`Episode::trouble`].
pub(crate) fn close<S>(mut episode: Episode<S>) -> Result<Closed, Refused<S>> {
    match &episode.core.trouble {
        None => {
            episode.core.close();
            Ok(Closed { core: episode.core })
        }
        Some(why) => {
            let why = Arc::clone(why);
            Err(episode.refuse(why))
        }
    }
}
