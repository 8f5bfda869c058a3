//! INV-003, as `rules.json` states it. At high stakes, an ACT needs tier SUPERB and verified assumptions (D30). At
//! lower stakes, the tier and the verification requirement demand that some are verified (`tiers`, D60). At every
//! level, the packet claimed to have verified an assumption must be in the log (`claims`, D62).

use omen_types::{Code, DecisionOutcome, DecisionPayloadFacts, Diagnostic, PayloadFacts, QualityTier, StakesLevel};

use super::wording::shorten;
use crate::context::Context;
use crate::derived::{self, is_high};
use crate::help::inv_003 as help;

mod claims;
mod tiers;

pub use tiers::is_met;

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let Some(decision) = act(context) else { return };
    check_alone(context, findings);
    claims::check(context, decision, is_overridden(context, decision), findings);
}

/// Checks a decision on its own: everything except whether the packets that it names are in the log.
pub(super) fn check_alone(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let Some(decision) = act(context) else { return };
    let mcp = &context.facts.mcp;
    let assumptions = decision.load_bearing_assumptions.iter().flatten();
    let assumptions = assumptions.map(|assumption| (&*assumption.assumption, assumption.verified));
    let overridden = is_overridden(context, decision);
    findings.extend(acts_at(mcp.stakes.stakes_level, mcp.quality.quality_tier, assumptions, overridden));
    tiers::check(context, decision, findings);
}

fn act<'c>(context: &Context<'c>) -> Option<&'c DecisionPayloadFacts<'c>> {
    match &context.facts.payload {
        PayloadFacts::Decision(decision) if decision.decision_outcome == DecisionOutcome::Act => Some(decision),
        _ => None,
    }
}

/// Returns the finding on an ACT at a stakes level and a tier, given whether each assumption is verified.
pub(crate) fn acts_at<'a>(
    level: StakesLevel,
    tier: QualityTier,
    assumptions: impl Iterator<Item = (&'a str, bool)>,
    overridden: bool,
) -> Option<Diagnostic> {
    if !is_high(level) {
        return None;
    }
    let mut unmet = unmet(tier, assumptions).into_iter();
    let (pointer, first) = unmet.next()?;
    let problem = format!("`ACT` at `{level}` stakes requires {first}");
    let mut finding = if overridden {
        // The override waives the rule, and the log shows that it was needed (D30).
        Diagnostic::warning(Code::Inv003, format!("layer 1 overrides INV-003: {problem}"))
            .at("/payload/decision_summary")
            .help(help::OVERRIDE)
    } else {
        Diagnostic::error(Code::Inv003, problem).at(pointer).help(help::VERIFY)
    };
    finding.notes.extend(unmet.map(|(pointer, condition)| format!("it also requires {condition} (`{pointer}`)")));
    Some(finding)
}

/// Returns whether a quality tier suffices for acting at a stakes level, which is what `tier_check` states (D61).
#[must_use]
pub fn tier_suffices(level: StakesLevel, tier: QualityTier) -> bool {
    if is_high(level) { tier == QualityTier::Superb } else { tier != QualityTier::Subpar }
}

/// Returns whether layer 1 has overridden the rule (D30).
fn is_overridden(context: &Context<'_>, decision: &DecisionPayloadFacts<'_>) -> bool {
    derived::from_layer_1(&context.facts.header) && derived::contains_words(&decision.decision_summary, OVERRIDE)
}

/// Returns each unmet condition for acting, with its location.
fn unmet<'a>(tier: QualityTier, assumptions: impl Iterator<Item = (&'a str, bool)>) -> Vec<(String, String)> {
    let mut unmet = Vec::new();
    if tier != QualityTier::Superb {
        unmet.push(("/mcp/quality/quality_tier".to_owned(), format!("`quality_tier` `SUPERB`, found `{tier}`")));
    }
    for (index, (assumption, verified)) in assumptions.enumerate() {
        if !verified {
            unmet.push((
                format!("/payload/load_bearing_assumptions/{index}/verified"),
                format!("the assumption `{}` to be verified", shorten(assumption, 80)),
            ));
        }
    }
    unmet
}

/// Phrase with which layer 1 overrides the rule.
pub const OVERRIDE: &str = "emergency override";

#[cfg(test)]
mod tests {
    use omen_types::{PacketType, Severity};
    use serde_json::{Value, json};

    use super::super::fixture::{Episode, packet};
    use super::check;

    fn act(level: &str, tier: &str, assumption: Value) -> Value {
        packet(
            PacketType::DecisionPacket,
            &[
                ("/payload/decision_outcome", "ACT".into()),
                ("/payload/load_bearing_assumptions", json!([assumption])),
                ("/mcp/stakes/stakes_level", level.into()),
                ("/mcp/quality/quality_tier", tier.into()),
                ("/mcp/quality/verification_requirement", "VERIFY_ONE".into()),
            ],
        )
    }

    fn found(packet: &Value) -> Vec<(Severity, String)> {
        Episode::default().check(check, packet)
    }

    #[test]
    fn a_verified_assumption_passes() {
        let verified = json!({"assumption": "a", "verified": true});
        assert_eq!(found(&act("HIGH", "SUPERB", verified.clone())), []);
        assert_eq!(found(&act("LOW", "PAR", verified)), []);
    }

    #[test]
    fn at_high_stakes_an_unverified_assumption_is_refused() {
        let place = "/payload/load_bearing_assumptions/0/verified".to_owned();
        let assumption = json!({"assumption": "a", "verified": false});
        assert_eq!(found(&act("HIGH", "SUPERB", assumption)), [(Severity::Error, place)]);
    }

    #[test]
    fn below_it_is_a_warning() {
        let place = "/payload/load_bearing_assumptions/0/verified".to_owned();
        let assumption = json!({"assumption": "a", "verified": false});
        assert_eq!(found(&act("LOW", "PAR", assumption)), [(Severity::Warning, place)]);
    }

    #[test]
    fn a_verification_that_is_not_in_the_log_is_reported() {
        let place = "/payload/load_bearing_assumptions/0/verification_packet_id".to_owned();
        let assumption = json!({"assumption": "a", "verified": true, "verification_packet_id": "pkt_none"});
        assert_eq!(found(&act("HIGH", "SUPERB", assumption)), [(Severity::Error, place)]);
    }
}
