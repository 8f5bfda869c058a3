//! INV-003: at high stakes, verify or escalate; or act at SUPERB on verified assumptions.
//!
//! Below, tier and verification requirement are held to what they say (D60); at every level a claim of verification that
//! names a packet is held to the log (D62).

use omen_types::{Code, DecisionOutcome, DecisionPayloadFacts, Diagnostic, PayloadFacts, QualityTier, StakesLevel};

use crate::{Context, derived};

mod claims;
mod tiers;

pub use tiers::is_met;

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let PayloadFacts::Decision(decision) = &context.facts.payload else { return };
    let mcp = &context.facts.mcp;
    if decision.decision_outcome != DecisionOutcome::Act {
        return;
    }
    let assumptions = decision.load_bearing_assumptions.iter().flatten();
    let assumptions = assumptions.map(|assumption| (&*assumption.assumption, assumption.verified));
    let overridden = is_overridden(context, decision);
    findings.extend(acts_at(mcp.stakes.stakes_level, mcp.quality.quality_tier, assumptions, overridden));
    tiers::check(context, decision, findings);
    claims::check(context, decision, overridden, findings);
}

/// What speaks against an ACT at a level of stakes and a tier, resting on assumptions that are each
/// verified or not.
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
    let mut finding = if overridden {
        // The override waives the rule, and the log shows that it was needed (D30).
        Diagnostic::warning(Code::Inv003, format!("layer 1 overrides: at `{level}` stakes an `ACT` needs {first}"))
            .at("/payload/decision_summary")
            .help("review the override; once there is time, verify the assumptions and decide again")
    } else {
        Diagnostic::error(Code::Inv003, format!("at `{level}` stakes an `ACT` needs {first}"))
            .at(pointer)
            .help(Code::Inv003.info().help)
    };
    finding.notes.extend(unmet.map(|(pointer, condition)| format!("it also needs {condition} (`{pointer}`)")));
    Some(finding)
}

/// Whether a level of stakes is one that the rule is about.
#[must_use]
pub fn is_high(level: StakesLevel) -> bool {
    matches!(level, StakesLevel::High | StakesLevel::Critical)
}

/// Whether a quality tier suffices to act at a level of stakes: what `tier_check` of a decision says (D61).
#[must_use]
pub fn tier_suffices(level: StakesLevel, tier: QualityTier) -> bool {
    if is_high(level) { tier == QualityTier::Superb } else { tier != QualityTier::Subpar }
}

/// Whether layer 1 has overridden the rule (D30).
fn is_overridden(context: &Context<'_>, decision: &DecisionPayloadFacts<'_>) -> bool {
    derived::from_layer_1(&context.facts.header) && derived::says(&decision.decision_summary, OVERRIDE)
}

/// Each condition for acting that does not hold, with its place.
fn unmet<'a>(tier: QualityTier, assumptions: impl Iterator<Item = (&'a str, bool)>) -> Vec<(String, String)> {
    let mut unmet = Vec::new();
    if tier != QualityTier::Superb {
        unmet.push(("/mcp/quality/quality_tier".to_owned(), format!("quality tier `SUPERB`, not `{tier}`")));
    }
    for (index, (assumption, verified)) in assumptions.enumerate() {
        if !verified {
            unmet.push((
                format!("/payload/load_bearing_assumptions/{index}/verified"),
                format!("the assumption `{}` verified", shorten(assumption)),
            ));
        }
    }
    unmet
}

fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(80).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// The words by which layer 1 overrides the rule.
pub const OVERRIDE: &str = "emergency override";
