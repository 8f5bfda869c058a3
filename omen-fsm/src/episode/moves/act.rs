//! The decision to act.

use std::sync::Arc;

use omen_invariants::facts::{StakesAllowAct, TierMayAct, ToolsAllowAct};
use omen_types::DecisionOutcome;

use crate::episode::{ActOrder, Episode, IntoActOrder, KnownEnvelope, Refused};

/// Decides to act. The quality tier must not be SUBPAR (INV-002); at high stakes it is SUPERB and every
/// assumption verified, or layer 1 orders it (INV-003); and tools are not down at high stakes (INV-010).
///
/// # Errors
/// If the episode is over its budgets and layer 1 has not approved that (INV-005), or if the order
/// relies on what this episode has not verified (INV-003).
pub(crate) fn act<S, Next, L, Q, T, A>(
    mut episode: Episode<S>,
    order: impl IntoActOrder<A>,
    envelope: &impl KnownEnvelope<L, Q, T>,
) -> Result<Episode<Next>, Refused<S, ActOrder<A>>>
where
    Q: TierMayAct,
    L: StakesAllowAct<Q, A>,
    T: ToolsAllowAct<L>,
{
    let order = order.into_act_order();
    if let Err(why) = order.check(&episode.core.mark) {
        return Err(episode.refuse(why).giving_back(order));
    }
    let draft = order.draft(DecisionOutcome::Act).map_err(Arc::new);
    match draft.and_then(|draft| episode.core.try_send_under(envelope, draft)) {
        Ok(()) => Ok(episode.at()),
        Err(why) => Err(episode.refuse(why).giving_back(order)),
    }
}
