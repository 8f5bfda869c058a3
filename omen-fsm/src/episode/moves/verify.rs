//! Plan of a verification loop.

use std::sync::Arc;

use omen_types::{Code, Diagnostic};

use crate::episode::{Episode, Many, Open, Plan, Progress, Refusal, Refused, Says, Verify};

/// Sends a plan, which lists the assumptions to verify and the methods.
///
/// # Errors
/// An episode that is over budget without approval of layer 1 (INV-005), or a payload that does not name the decision
/// that started the loop (E3).
pub(crate) fn verify<P: Progress, O, T>(
    episode: Episode<Verify<P, O, T>>,
    plan: impl Says<Plan>,
) -> Result<Episode<Verify<<P as Progress>::Planned, O, T>>, Refused<Verify<P, O, T>, Plan>> {
    send(episode, plan)
}

/// Sends another plan while directives of the loop are open.
///
/// # Errors
/// Same as in the loop itself.
pub(crate) fn in_open<P, O, T, const N: usize>(
    episode: Episode<Open<Verify<P, O, T>, N>>,
    plan: impl Says<Plan>,
) -> Result<Episode<Open<Verify<P, O, T>, N>>, Refused<Open<Verify<P, O, T>, N>, Plan>> {
    send(episode, plan)
}

/// Sends another plan while directives of the loop are open.
///
/// # Errors
/// Same as in the loop itself.
pub(crate) fn in_many<P, O, T>(
    episode: Episode<Many<Verify<P, O, T>>>,
    plan: impl Says<Plan>,
) -> Result<Episode<Many<Verify<P, O, T>>>, Refused<Many<Verify<P, O, T>>, Plan>> {
    send(episode, plan)
}

fn no_decision() -> Arc<Refusal> {
    Arc::new(Refusal::rule(Diagnostic::error(Code::E3, "no decision began this verification loop")))
}

/// Sends a plan in a state that is a type parameter.
///
/// # Errors
/// Same as in each of those states.
pub(crate) fn send<S, Next>(mut episode: Episode<S>, plan: impl Says<Plan>) -> Result<Episode<Next>, Refused<S, Plan>> {
    let plan = plan.said();
    let Some(decision) = episode.core.decision.clone() else {
        // No loop runs without a decision, so an earlier move must have failed.
        let why = episode.core.trouble.clone().unwrap_or_else(no_decision);
        return Err(episode.refuse(why).giving_back(plan));
    };
    let sent = plan.draft(decision).map_err(Arc::new).and_then(|draft| episode.core.try_send(draft));
    match sent {
        Ok(()) => {
            episode.core.looped.plans.push(plan.tag);
            Ok(episode.at())
        }
        Err(why) => Err(episode.refuse(why).giving_back(plan)),
    }
}
