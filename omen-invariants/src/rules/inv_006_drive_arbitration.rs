//! INV-006, as `rules.json` states it (D33, D61).

use omen_types::{Code, ConstraintsSatisfiedFacts, DecisionOutcome, Diagnostic, PayloadFacts};

use crate::context::Context;
use crate::derived;
use crate::help::inv_006 as help;

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let PayloadFacts::Decision(decision) = &context.facts.payload else { return };
    let constraints = &decision.constraints_satisfied;
    for (holds, member, stage) in [
        (constraints.constitutional_check, "constitutional_check", "stage 1 (constitutional veto)"),
        (constraints.budget_check, "budget_check", "stage 2 (feasibility within the budgets)"),
    ] {
        if !holds {
            findings.push(
                Diagnostic::error(Code::Inv006, format!("`{member}` is false: {stage} rules this outcome out"))
                    .at(format!("/payload/constraints_satisfied/{member}"))
                    .label("must be true for the chosen outcome")
                    .help(help::other_outcome(member)),
            );
        }
    }
    if decision.decision_outcome == DecisionOutcome::Act {
        acts_unchecked(constraints, findings);
    }
    if !POLICIES.iter().any(|policy| derived::contains_words(&decision.decision_summary, policy)) {
        findings.push(
            Diagnostic::warning(Code::Inv006, "`decision_summary` names no tradeoff policy")
                .at("/payload/decision_summary")
                .help(help::name_policy(POLICIES.join(", "))),
        );
    }
}

/// Warns about an ACT whose own checks state that its quality is insufficient (D61).
fn acts_unchecked(constraints: &ConstraintsSatisfiedFacts, findings: &mut Vec<Diagnostic>) {
    for (failed, member, what) in [
        (!constraints.tier_check, "tier_check", "the quality tier does not suffice for the stakes"),
        (
            constraints.verification_check == Some(false),
            "verification_check",
            "fewer assumptions are verified than required",
        ),
    ] {
        if failed {
            findings.push(
                Diagnostic::warning(
                    Code::Inv006,
                    format!("`decision_outcome` is `ACT`, but `{member}` is false: {what}"),
                )
                .at(format!("/payload/constraints_satisfied/{member}"))
                .label("false")
                .help(help::check_first(member)),
            );
        }
    }
}

/// Tradeoff policies that a summary may name (D33).
pub const POLICIES: [&str; 4] = ["safety", "risk-adjusted", "min-regret", "expected value"];

#[cfg(test)]
mod tests {
    use omen_types::{PacketType, Severity};
    use serde_json::{Value, json};

    use super::super::fixture::{Episode, packet};
    use super::check;

    fn act(constitutional: bool, tier: bool, summary: &str) -> Value {
        let checks = json!({"constitutional_check": constitutional, "budget_check": true, "tier_check": tier});
        packet(
            PacketType::DecisionPacket,
            &[
                ("/payload/decision_outcome", "ACT".into()),
                ("/payload/decision_summary", summary.into()),
                ("/payload/constraints_satisfied", checks),
            ],
        )
    }

    #[test]
    fn a_decision_that_passed_all_stages_passes() {
        assert_eq!(Episode::default().check(check, &act(true, true, "by min-regret")), []);
    }

    #[test]
    fn an_outcome_that_the_veto_rules_out_is_refused() {
        let found = Episode::default().check(check, &act(false, true, "by min-regret"));
        assert_eq!(found, [(Severity::Error, "/payload/constraints_satisfied/constitutional_check".to_owned())]);
    }

    #[test]
    fn a_failed_tier_check_and_a_missing_policy_are_warnings() {
        let found = Episode::default().check(check, &act(true, false, "because"));
        let places = ["/payload/constraints_satisfied/tier_check", "/payload/decision_summary"];
        assert_eq!(found, places.map(|place| (Severity::Warning, place.to_owned())));
    }
}
