//! E1: no decision without a model.

use omen_types::{Code, Diagnostic};

use super::Step;

pub(super) fn check(step: &Step<'_>) -> Option<Diagnostic> {
    (!step.context.ledger.believes()).then(|| {
        Diagnostic::error(Code::E1, "a decision before any belief update of this episode")
            .at("/header/packet_type")
            .label("no belief to decide on")
            .help(Code::E1.info().help)
    })
}
