//! Decision to verify first.

use std::sync::Arc;

use omen_invariants::facts::ToolsAllowAct;
use omen_types::DecisionOutcome;

use crate::episode::{AskingEnvelope, Episode, Refused, Ruling, Unplanned, Unseen, Verify};

/// Decides to verify first, which immediately starts a verification loop (D5). It may replace a decision that was not
/// carried out (D7). Not legal while the tools are down at high stakes (INV-010).
///
/// # Errors
/// An episode that is over budget without approval of layer 1 (INV-005).
pub(crate) fn verify_first<S, K, L, Q, T: ToolsAllowAct<L>>(
    mut episode: Episode<S>,
    ruling: Ruling<K>,
    envelope: &impl AskingEnvelope<L, Q, T>,
) -> Result<Episode<Verify<Unplanned, Unseen, T>>, Refused<S, Ruling<K>>> {
    let draft = ruling.draft(DecisionOutcome::VerifyFirst).map_err(Arc::new);
    match draft.and_then(|draft| episode.core.try_send_under(envelope, draft)) {
        Ok(()) => Ok(episode.at()),
        Err(why) => Err(episode.refuse(why).giving_back(ruling)),
    }
}
