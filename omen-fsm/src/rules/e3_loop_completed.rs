//! E3: the verification loop is completed (also INV-008).

use omen_invariants::Ledger;
use omen_invariants::rules::inv_008_verification_loop::cites_evidence;
use omen_types::{Code, Diagnostic, PayloadFacts};

use super::Step;
use crate::table::{EVIDENCE_MISSING, LOOP_NODE, NodeSet, Obligation};

/// Whether the loop has a plan: a directive before it is refused at once (D22).
pub(super) fn planned(step: &Step<'_>) -> Option<Diagnostic> {
    (!has(step.context.ledger, Obligation::Plan)).then(|| {
        Diagnostic::error(Code::E3, "a directive before the verification loop's plan")
            .at("/header/packet_type")
            .label(Obligation::Plan.missing())
            .help("send a VerificationPlanPacket first")
    })
}

/// Whether a belief update may close the loop.
pub(super) fn complete(step: &Step<'_>) -> Option<Diagnostic> {
    let PayloadFacts::BeliefUpdate(belief) = &step.context.facts.payload else { return None };
    let mut missing = unmet(step.context.ledger);
    let mut pointer = "/header/packet_type";
    if !cites_evidence(step.context.ledger, belief) {
        missing.push(EVIDENCE_MISSING);
        pointer = "/payload/evidence_integration";
    }
    (!missing.is_empty()).then(|| {
        Diagnostic::error(Code::E3, format!("the verification loop is not complete: {}", missing.join(", ")))
            .at(pointer)
            .help("bring in what is missing, then close the loop with this belief update")
    })
}

/// What is said of a packet that is no step of the loop (D51).
pub(super) fn inside(step: &Step<'_>) -> Diagnostic {
    let missing = unmet(step.context.ledger);
    let still = if missing.is_empty() { String::new() } else { format!(" (so far: {})", missing.join(", ")) };
    Diagnostic::error(Code::E3, format!("{} inside the verification loop", step.event.description()))
        .at("/header/packet_type")
        .label("the loop comes first")
        .help(format!(
            "complete the loop{still}, and close it with a BeliefUpdatePacket whose evidence_integration names its evidence"
        ))
}

pub(super) fn at_end(nodes: NodeSet, ledger: &Ledger) -> Option<Diagnostic> {
    ledger.owes_decision().then(|| {
        let message = if nodes == NodeSet::of(LOOP_NODE) {
            let missing = unmet(ledger);
            let still = if missing.is_empty() { "no closing belief update".to_owned() } else { missing.join(", ") };
            format!("the episode ends inside its verification loop: {still}")
        } else {
            "the episode ends after its verification loop, and the second decision never came".to_owned()
        };
        Diagnostic::error(Code::E3, message).help(Code::E3.info().help)
    })
}

fn has(ledger: &Ledger, obligation: Obligation) -> bool {
    ledger.verification().met & obligation.bit() != 0
}

/// What the verification loop still needs before it may close.
pub(crate) fn unmet(ledger: &Ledger) -> Vec<&'static str> {
    let waived = ledger.verification().waived;
    Obligation::ALL
        .iter()
        .filter(|obligation| !has(ledger, **obligation) && waived & obligation.bit() == 0)
        .map(|obligation| obligation.missing())
        .collect()
}
