//! INV-002, as `rules.json` states it.

use omen_types::{Code, DecisionOutcome, Diagnostic, PayloadFacts, QualityTier};

use crate::context::Context;
use crate::help::inv_002 as help;

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let PayloadFacts::Decision(decision) = &context.facts.payload else { return };
    if decision.decision_outcome == DecisionOutcome::Act {
        findings.extend(acts_at(context.facts.mcp.quality.quality_tier));
    }
}

pub(crate) fn acts_at(tier: QualityTier) -> Option<Diagnostic> {
    (tier == QualityTier::Subpar).then(|| {
        Diagnostic::error(Code::Inv002, "cannot decide `ACT` at `quality_tier` `SUBPAR`")
            .at("/payload/decision_outcome")
            .label("quality_tier is `SUBPAR`")
            .help(help::DECIDE)
    })
}

#[cfg(test)]
mod tests {
    use omen_types::{PacketType, Severity};
    use serde_json::Value;

    use super::super::fixture::{Episode, packet};
    use super::check;

    fn decision(outcome: &str, tier: &str) -> Value {
        let members = [("/payload/decision_outcome", outcome.into()), ("/mcp/quality/quality_tier", tier.into())];
        packet(PacketType::DecisionPacket, &members)
    }

    #[test]
    fn an_act_at_par_and_a_deferral_at_subpar_pass() {
        assert_eq!(Episode::default().check(check, &decision("ACT", "PAR")), []);
        assert_eq!(Episode::default().check(check, &decision("DEFER", "SUBPAR")), []);
    }

    #[test]
    fn an_act_at_subpar_is_refused() {
        let found = Episode::default().check(check, &decision("ACT", "SUBPAR"));
        assert_eq!(found, [(Severity::Error, "/payload/decision_outcome".to_owned())]);
    }
}
