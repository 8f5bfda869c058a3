//! Self-reported checks of a decision: `true` only for a check that was performed (D61).

use omen_invariants::derived::is_high;
use omen_invariants::rules::inv_003_high_stakes_verified::{is_met, tier_suffices};
use omen_types::{DecisionPayload, McpEnvelope};

/// Checks the tier and verification of a decision against its envelope, and records the results in the decision.
pub(super) fn fill(decision: &mut DecisionPayload, mcp: &McpEnvelope) {
    let (level, quality) = (mcp.stakes.stakes_level, &mcp.quality);
    let verified = || decision.load_bearing_assumptions.iter().flatten().map(|assumption| assumption.verified);
    let met = if is_high(level) {
        verified().all(|verified| verified)
    } else {
        is_met(quality.quality_tier, quality.verification_requirement, verified())
    };
    // Without assumptions there is nothing to verify, so the check is left out.
    let any = verified().next().is_some();
    let checks = &mut decision.constraints_satisfied;
    checks.tier_check = tier_suffices(level, quality.quality_tier);
    checks.verification_check = any.then_some(met);
}
