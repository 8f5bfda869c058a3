//! E2: no action without a decision.

use omen_types::{Code, DecisionOutcome, Diagnostic};

use super::Step;

pub(super) fn check(step: &Step<'_>) -> Option<Diagnostic> {
    let message = match step.context.ledger.decision() {
        Some(DecisionOutcome::Act) => return None,
        None => "a directive before any decision".to_owned(),
        Some(outcome) => format!("a directive, while the latest decision is `{outcome}` and not `ACT`"),
    };
    Some(Diagnostic::error(Code::E2, message).at("/header/packet_type").help(Code::E2.info().help))
}
