//! E2: no action without a decision.

use omen_types::{Code, DecisionOutcome, Diagnostic, PayloadFacts};

use super::Step;
use crate::table::{Event, LOOP_NODE};

pub(super) fn check(step: &Step<'_>) -> Option<Diagnostic> {
    let is_directive = matches!(step.context.facts.payload, PayloadFacts::TaskDirective(_));
    // To read is what the verification loop is for (D10).
    let verifies = step.is_in(LOOP_NODE) && step.event == Event::DirectRead;
    let decision = step.context.ledger.decision();
    if !is_directive || verifies || decision == Some(DecisionOutcome::Act) {
        return None;
    }
    let message = match decision {
        None => "a directive before any decision".to_owned(),
        Some(outcome) => format!("a directive, while the latest decision is `{outcome}` and not `ACT`"),
    };
    Some(Diagnostic::error(Code::E2, message).at("/header/packet_type").help(Code::E2.info().mend))
}
