//! Decision to escalate.

use omen_invariants::facts::MayAsk;
use omen_types::DecisionOutcome;

use crate::episode::{Episode, Ruling};

/// Decides to ask a human; the escalation itself follows.
pub(crate) fn to_escalate<S, Next, K, E: MayAsk>(
    mut episode: Episode<S>,
    ruling: Ruling<K>,
    envelope: &E,
) -> Episode<Next> {
    match ruling.draft(DecisionOutcome::Escalate) {
        Ok(draft) => {
            episode.core.under(envelope);
            episode.core.must(draft);
        }
        Err(why) => episode.core.keep(why),
    }
    episode.at()
}
