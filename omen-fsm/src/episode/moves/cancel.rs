//! Decision to cancel.

use omen_invariants::facts::MayAsk;
use omen_types::DecisionOutcome;

use crate::episode::{Episode, Ruling};

/// Decides to give up; a belief update records it.
pub(crate) fn cancel<S, Next, K, E: MayAsk>(mut episode: Episode<S>, ruling: Ruling<K>, envelope: &E) -> Episode<Next> {
    match ruling.draft(DecisionOutcome::Cancel) {
        Ok(draft) => {
            episode.core.under(envelope);
            episode.core.must(draft);
        }
        Err(why) => episode.core.keep(why),
    }
    episode.at()
}
