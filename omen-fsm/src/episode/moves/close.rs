//! End of an episode.

use std::sync::Arc;

use omen_types::Severity;

use crate::episode::{Closed, Episode, Refusal, Refused};

/// Closes the episode.
///
/// # Errors
/// An earlier move whose return type has no error has failed (see [`Episode::trouble`]), or the episode is over
/// budget without approval (INV-005, D59): then escalate, have layer 1 approve the overrun, or halt.
pub(crate) fn close<S>(mut episode: Episode<S>) -> Result<Closed, Refused<S>> {
    if let Some(why) = &episode.core.trouble {
        let why = Arc::clone(why);
        return Err(episode.refuse(why));
    }
    let findings = episode.core.machine.finish().into_iter().map(|(_, finding)| finding);
    let (against, warnings): (Vec<_>, Vec<_>) = findings.partition(|finding| finding.severity == Severity::Error);
    if against.is_empty() {
        episode.core.warn(&warnings);
        episode.core.close();
        Ok(Closed { core: episode.core })
    } else {
        Err(episode.refuse(Arc::new(Refusal::Rules(against))))
    }
}
