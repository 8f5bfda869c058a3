//! Number of assumptions that must be verified for an ACT at lower stakes (D60).

use omen_types::{Code, DecisionPayloadFacts, Diagnostic, QualityTier, VerificationRequirement};

use super::super::wording::shorten;
use crate::context::Context;
use crate::derived::is_high;
use crate::help::inv_003 as help;

pub(super) fn check(context: &Context<'_>, decision: &DecisionPayloadFacts<'_>, findings: &mut Vec<Diagnostic>) {
    let mcp = &context.facts.mcp;
    if is_high(mcp.stakes.stakes_level) {
        return;
    }
    let assumptions = || decision.load_bearing_assumptions.iter().flatten();
    let (tier, requirement) = (mcp.quality.quality_tier, mcp.quality.verification_requirement);
    if is_met(tier, requirement, assumptions().map(|assumption| assumption.verified)) {
        return;
    }
    let Some((at, first)) = assumptions().enumerate().find(|(_, assumption)| !assumption.verified) else { return };
    let (problem, share, help) = match Demand::stricter_of(tier, requirement) {
        Demand::All => (
            format!("the assumption `{}` is not verified", shorten(&first.assumption, 80)),
            "all of them",
            help::VERIFY_ALL,
        ),
        _ => ("no load-bearing assumption is verified".to_owned(), "one of them", help::VERIFY_ONE),
    };
    findings.push(
        Diagnostic::warning(
            Code::Inv003,
            format!("{problem}; `quality_tier` `{tier}` with `{requirement}` requires {share} before an `ACT`"),
        )
        .at(format!("/payload/load_bearing_assumptions/{at}/verified"))
        .label("`verified` is false")
        .help(help),
    );
}

/// Returns whether enough assumptions are verified for a tier and a requirement; true if there are no assumptions.
#[must_use]
pub fn is_met(
    tier: QualityTier,
    requirement: VerificationRequirement,
    verified: impl IntoIterator<Item = bool>,
) -> bool {
    let mut verified = verified.into_iter().peekable();
    if verified.peek().is_none() {
        return true;
    }
    match Demand::stricter_of(tier, requirement) {
        Demand::All => verified.all(|verified| verified),
        Demand::One => verified.any(|verified| verified),
        Demand::None => true,
    }
}

/// Number of assumptions that must be verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Demand {
    All,
    One,
    None,
}

impl Demand {
    fn stricter_of(tier: QualityTier, requirement: VerificationRequirement) -> Self {
        if tier == QualityTier::Superb || requirement == VerificationRequirement::VerifyAll {
            Self::All
        } else if tier == QualityTier::Par || requirement == VerificationRequirement::VerifyOne {
            Self::One
        } else {
            Self::None
        }
    }
}
