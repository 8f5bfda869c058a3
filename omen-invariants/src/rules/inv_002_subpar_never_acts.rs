//! INV-002: SUBPAR quality never authorizes action.

use omen_types::{Code, DecisionOutcome, Diagnostic, PayloadFacts, QualityTier};

use crate::Context;

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let PayloadFacts::Decision(decision) = &context.facts.payload else { return };
    let tier = context.facts.mcp.quality.quality_tier;
    if tier == QualityTier::Subpar && decision.decision_outcome == DecisionOutcome::Act {
        findings.push(
            Diagnostic::error(Code::Inv002, "a decision of `SUBPAR` quality cannot be to `ACT`")
                .at("/payload/decision_outcome")
                .label("quality_tier is `SUBPAR`")
                .help(Code::Inv002.info().mend),
        );
    }
}
