//! Decision to act.

use std::sync::Arc;

use omen_invariants::facts::{StakesAllowAct, TierMayAct, ToolsAllowAct};
use omen_types::DecisionOutcome;

use crate::episode::{ActOrder, Episode, IntoActOrder, KnownEnvelope, Refused};

/// Decides to act. The quality tier must not be SUBPAR (INV-002). At high stakes, the tier must be SUPERB and every
/// assumption verified, unless layer 1 overrides that (INV-003), and the tools must not be down (INV-010).
///
/// # Errors
/// An episode that is over budget without approval of layer 1 (INV-005), or an order that relies on an assumption that
/// this episode has not verified (INV-003).
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
    if let Err(why) = order.check(&episode.core.tag) {
        return Err(episode.refuse(why).giving_back(order));
    }
    let draft = order.draft(DecisionOutcome::Act).map_err(Arc::new);
    match draft.and_then(|draft| episode.core.try_send_under(envelope, draft)) {
        Ok(()) => Ok(episode.at()),
        Err(why) => Err(episode.refuse(why).giving_back(order)),
    }
}
