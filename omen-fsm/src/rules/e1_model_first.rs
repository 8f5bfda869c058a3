//! E1: no decision without a model.

use omen_types::{Code, Diagnostic, PayloadFacts};

use super::Step;

pub(super) fn check(step: &Step<'_>) -> Option<Diagnostic> {
    let is_decision = matches!(step.context.facts.payload, PayloadFacts::Decision(_));
    (is_decision && !step.context.ledger.believes()).then(|| {
        Diagnostic::error(Code::E1, "a decision before any belief update of this episode")
            .at("/header/packet_type")
            .label("no belief to decide on")
            .help(Code::E1.info().mend)
    })
}
