//! Decision to defer.

use omen_invariants::facts::ToolsAllowAct;
use omen_types::DecisionOutcome;

use crate::episode::{AskingEnvelope, Episode, Ruling};

/// Decides to defer; a belief update records it. Not legal while the tools are down at high stakes (INV-010).
pub(crate) fn defer<S, Next, K, L, Q, T: ToolsAllowAct<L>>(
    mut episode: Episode<S>,
    ruling: Ruling<K>,
    envelope: &impl AskingEnvelope<L, Q, T>,
) -> Episode<Next> {
    match ruling.draft(DecisionOutcome::Defer) {
        Ok(draft) => {
            episode.core.under(envelope);
            episode.core.must(draft);
        }
        Err(why) => episode.core.keep(why),
    }
    episode.at()
}
