//! Evaluation of the list `cells` of `episode.fsm.json`: an illegal packet gets one finding. Its `code` is that of the
//! first refusal that applies; `also` lists the codes of the others (D37, D51).

use omen_invariants::Ledger;
use omen_types::{Diagnostic, Instant};

use super::merging::{merge, share};
use super::transition::Transition;
use super::{can_hold, fsm_legal_transition, lacks, leaves_behind, without_row};
use crate::help::fsm as help;
use crate::table::{Event, NodeSet, REFUSALS, RefusalInfo};

/// Returns the finding on a packet that the table or E1–E7 refuse.
pub(crate) fn check(transition: &Transition<'_>) -> Option<Diagnostic> {
    relevant(transition.nodes, transition.event, transition.is_illegal())
        .filter_map(|refusal| finding(refusal, transition))
        .reduce(merge)
        .map(|finding| share(of_a_new_episode(finding, transition)))
}

/// Adds a note to a finding on the first packet of an episode, which may be meant for another episode.
fn of_a_new_episode(finding: Diagnostic, transition: &Transition<'_>) -> Diagnostic {
    let context = &transition.context;
    match context.ledger.clock() {
        None => finding.note(help::new_episode(&context.facts.header.correlation_id)),
        Some(_) => finding,
    }
}

/// Returns whether some packet that causes `event` would pass the table and E1–E7 next.
pub(crate) fn may_pass(nodes: NodeSet, event: Event, ledger: &Ledger, now: Instant) -> bool {
    relevant(nodes, event, nodes.after(event).is_empty()).all(|refusal| match refusal.fact {
        None => false,
        Some((fact, false)) => can_hold(fact, ledger, now),
        // These facts depend only on the log, so they hold either for every packet or for none.
        Some((fact, true)) => !can_hold(fact, ledger, now),
    })
}

/// Returns the refusals that may apply to a packet of a log.
fn relevant(nodes: NodeSet, event: Event, is_illegal: bool) -> impl Iterator<Item = &'static RefusalInfo> {
    let mut about = ABOUT.get(event as usize).copied().unwrap_or(0);
    let all = std::iter::from_fn(move || {
        let refusal = REFUSALS.get(about.trailing_zeros() as usize)?;
        about &= about - 1;
        Some(refusal)
    });
    all.filter(move |refusal| (is_illegal || !refusal.without_row) && refusal.is_within(nodes))
}

/// Refusals of each event that may apply to a packet of a log, as bits in list order. Most events have few, and the
/// lookup runs for every packet.
static ABOUT: [u32; Event::ALL.len()] = about();

const _: () = assert!(REFUSALS.len() < u32::BITS as usize, "there is a bit for each refusal");

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, which reports an index out of bounds")]
const fn about() -> [u32; Event::ALL.len()] {
    let mut table = [0; Event::ALL.len()];
    let mut at = 0;
    while at < REFUSALS.len() {
        let RefusalInfo { events, typed, .. } = &REFUSALS[at];
        let mut event = 0;
        while event < events.len() && !*typed {
            table[events[event] as usize] |= 1 << at;
            event += 1;
        }
        at += 1;
    }
    table
}

/// Returns the finding of one refusal, if its fact has the given value. First asks whether it can hold, which is cheaper.
fn finding(refusal: &RefusalInfo, transition: &Transition<'_>) -> Option<Diagnostic> {
    let mut finding = match refusal.fact {
        None => without_row(refusal, transition),
        Some((fact, false)) => lacks(fact, transition)?,
        Some((fact, true)) if !can_hold(fact, transition.context.ledger, transition.context.now) => return None,
        Some((fact, true)) => match leaves_behind(fact, transition) {
            Some(finding) => finding,
            None if lacks(fact, transition).is_none() => fsm_legal_transition::check(refusal, transition),
            None => return None,
        },
    };
    finding.code = refusal.code;
    Some(finding)
}
