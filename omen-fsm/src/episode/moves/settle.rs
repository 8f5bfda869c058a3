//! Results of directives.

use std::sync::Arc;

use omen_types::{Code, Diagnostic, ResultStatus};

use crate::episode::core::Core;
use crate::episode::{
    Episode, Execute, Many, Open, Progress, Proven, Refusal, Refused, SettleError, Settled, Settles, Unproven, Verify,
};

/// Records the results of all open directives.
///
/// # Errors
/// A result from another episode, or two results for the same task (E6).
pub(crate) fn all<const N: usize, R: Settles<N>>(
    mut episode: Episode<Open<Execute, N>>,
    results: R,
) -> Result<Episode<Execute>, Refused<Open<Execute, N>, Vec<Settled>>> {
    let results = results.all();
    match take(&mut episode.core, &results) {
        Ok(()) => Ok(episode.at()),
        Err(why) => Err(episode.refuse(why).giving_back(results)),
    }
}

/// Records the results of all open directives of the loop. A single SUCCESS is enough to continue; the caller has the
/// results of the others.
///
/// # Errors
/// [`SettleError::Unproven`] if none of them is a SUCCESS, even after an earlier SUCCESS; another check may follow.
/// [`SettleError::Refused`] for a result from another episode, or two results for the same task (E6).
pub(crate) fn in_loop<P: Progress, O, T, const N: usize, R: Settles<N>>(
    mut episode: Episode<Open<Verify<P, O, T>, N>>,
    results: R,
) -> Result<Episode<Verify<Proven, O, T>>, SettleError<P, O, T, N>> {
    let results = results.all();
    match take(&mut episode.core, &results) {
        Ok(()) if results.iter().any(|result| result.status() == ResultStatus::Success) => Ok(episode.at()),
        Ok(()) => {
            let status = results.last().map_or(ResultStatus::Cancelled, Settled::status);
            Err(SettleError::Unproven(Unproven { episode: episode.at(), status }))
        }
        Err(why) => Err(SettleError::Refused(episode.refuse(why).giving_back(results))),
    }
}

/// Records some results; other directives may stay open. Call `all_settled` once none is open.
///
/// # Errors
/// A result from another episode, or two results for the same task (E6).
pub(crate) fn some_of_loop<P, O, T, R: IntoIterator<Item = Settled>>(
    episode: Episode<Many<Verify<P, O, T>>>,
    results: R,
) -> Result<Episode<Many<Verify<P, O, T>>>, Refused<Many<Verify<P, O, T>>, Vec<Settled>>> {
    some(episode, results.into_iter().collect())
}

/// Records some results; other directives may stay open. Call `all_settled` once none is open.
///
/// # Errors
/// A result from another episode, or two results for the same task (E6).
pub(crate) fn some_of_many<R: IntoIterator<Item = Settled>>(
    episode: Episode<Many<Execute>>,
    results: R,
) -> Result<Episode<Many<Execute>>, Refused<Many<Execute>, Vec<Settled>>> {
    some(episode, results.into_iter().collect())
}

fn some<S>(mut episode: Episode<S>, results: Vec<Settled>) -> Result<Episode<S>, Refused<S, Vec<Settled>>> {
    match take(&mut episode.core, &results) {
        Ok(()) => Ok(episode),
        Err(why) => Err(episode.refuse(why).giving_back(results)),
    }
}

fn take(core: &mut Core, results: &[Settled]) -> Result<(), Arc<Refusal>> {
    if let Some(foreign) = results.iter().find(|result| !result.is_of(&core.tag)) {
        let problem = format!("the result of `{}` belongs to another episode", foreign.directive());
        let finding = Diagnostic::error(Code::E6, problem)
            .at("/payload/directive_packet_id")
            .help("settle the tasks that the directives of this episode returned");
        return Err(Arc::new(Refusal::rule(finding)));
    }
    core.settle(results)
}
