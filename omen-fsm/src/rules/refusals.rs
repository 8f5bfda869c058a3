//! The list `cells` of `episode.fsm.json`, applied: a packet that is illegal gets one finding. Its `code` is that of the
//! first refusal that applies; the codes of the others stand in `also` (D37, D51).

use omen_invariants::Ledger;
use omen_types::{Diagnostic, Instant};

use super::merging::{merge, share};
use super::transition::Transition;
use super::{can_hold, fsm_legal_transition, lacks, leaves_behind, without_row};
use crate::table::{Event, NodeSet, REFUSALS, RefusalInfo};

/// The finding of the table and of E1–E7 on a packet.
pub(crate) fn check(transition: &Transition<'_>) -> Option<Diagnostic> {
    relevant(transition.nodes, transition.event, transition.is_illegal())
        .filter_map(|refusal| finding(refusal, transition))
        .reduce(merge)
        .map(share)
}

/// Whether some packet of a kind passes the table and E1–E7 next.
pub(crate) fn may_pass(nodes: NodeSet, event: Event, ledger: &Ledger, now: Instant) -> bool {
    relevant(nodes, event, nodes.after(event).is_empty()).all(|refusal| match refusal.fact {
        None => false,
        Some((fact, false)) => can_hold(fact, ledger, now),
        // Such facts are about the log alone, so they hold for every packet or for none.
        Some((fact, true)) => !can_hold(fact, ledger, now),
    })
}

/// The refusals that a packet of a log may meet.
fn relevant(nodes: NodeSet, event: Event, is_illegal: bool) -> impl Iterator<Item = &'static RefusalInfo> {
    REFUSALS
        .iter()
        .filter(move |refusal| !refusal.typed && refusal.is_about(nodes, event) && (is_illegal || !refusal.without_row))
}

/// The finding of one refusal, if the fact on which it depends is so.
fn finding(refusal: &RefusalInfo, transition: &Transition<'_>) -> Option<Diagnostic> {
    let mut finding = match refusal.fact {
        None => without_row(refusal, transition),
        Some((fact, false)) => lacks(fact, transition)?,
        Some((fact, true)) => match leaves_behind(fact, transition) {
            Some(finding) => finding,
            None if lacks(fact, transition).is_none() => fsm_legal_transition::check(refusal, transition),
            None => return None,
        },
    };
    finding.code = refusal.code;
    Some(finding)
}
