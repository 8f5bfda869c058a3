//! Check: a READ directive of a verification loop and its result, in a single move.

use crate::episode::{
    CheckError, Episode, HasPlan, IntoOrder, Pending, Proven, SettleError, Settled, Verify, VerifyOnlyReads,
};

/// Sends a READ directive, lets `run` carry it out, and records its result. A SUCCESS shows only that the tool has
/// answered; the agent judges what the answer shows.
///
/// [`CheckError::Unproven`] if the result is not SUCCESS, even after an earlier SUCCESS; the check may be repeated.
/// [`CheckError::Refused`] if the directive was refused, for instance because the episode is over budget (INV-005).
/// [`CheckError::Settling`] if `run` returned the result of another task.
pub(crate) fn check<P: HasPlan<C>, O, T, C: VerifyOnlyReads, F: FnOnce(Pending) -> Settled>(
    episode: Episode<Verify<P, O, T>>,
    order: impl IntoOrder<C>,
    run: F,
) -> Result<Episode<Verify<Proven, O, T>>, CheckError<P, O, T, C>> {
    let (episode, [task]) = super::execute::in_loop(episode, [order.into_order()]).map_err(CheckError::Refused)?;
    super::settle::in_loop(episode, [run(task)]).map_err(|error| match error {
        SettleError::Refused(refused) => CheckError::Settling(refused),
        SettleError::Unproven(unproven) => CheckError::Unproven(unproven),
    })
}
