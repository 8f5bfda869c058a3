//! INV-002: SUBPAR quality never authorizes action.

use omen_types::{Code, DecisionOutcome, Diagnostic, PayloadFacts, QualityTier};

use crate::Context;

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let PayloadFacts::Decision(decision) = &context.facts.payload else { return };
    if decision.decision_outcome == DecisionOutcome::Act {
        findings.extend(acts_at(context.facts.mcp.quality.quality_tier));
    }
}

/// What speaks against an ACT at a tier.
pub(crate) fn acts_at(tier: QualityTier) -> Option<Diagnostic> {
    (tier == QualityTier::Subpar).then(|| {
        Diagnostic::error(Code::Inv002, "a decision of `SUBPAR` quality cannot be to `ACT`")
            .at("/payload/decision_outcome")
            .label("quality_tier is `SUBPAR`")
            .help(Code::Inv002.info().help)
    })
}
