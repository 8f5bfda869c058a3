//! INV-006: veto, feasibility and tradeoff are documented in every decision.

use omen_types::{Code, ConstraintsSatisfiedFacts, DecisionOutcome, Diagnostic, PayloadFacts};

use crate::{Context, derived};

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let PayloadFacts::Decision(decision) = &context.facts.payload else { return };
    let constraints = &decision.constraints_satisfied;
    for (holds, member, stage) in [
        (constraints.constitutional_check, "constitutional_check", "stage 1, the constitutional veto,"),
        (constraints.budget_check, "budget_check", "stage 2, feasibility within the budgets,"),
    ] {
        if !holds {
            findings.push(
                Diagnostic::error(Code::Inv006, format!("{stage} has failed, so this outcome cannot be chosen"))
                    .at(format!("/payload/constraints_satisfied/{member}"))
                    .label("must be true of the chosen outcome")
                    .help(Code::Inv006.info().help),
            );
        }
    }
    if decision.decision_outcome == DecisionOutcome::Act {
        acts_unchecked(constraints, findings);
    }
    if !POLICIES.iter().any(|policy| derived::says(&decision.decision_summary, policy)) {
        findings.push(
            Diagnostic::warning(Code::Inv006, "the summary names no tradeoff policy")
                .at("/payload/decision_summary")
                .help(format!("say which policy was applied: {}", POLICIES.join(", "))),
        );
    }
}

/// Warns of an ACT that says of itself that its quality does not suffice (D61).
fn acts_unchecked(constraints: &ConstraintsSatisfiedFacts, findings: &mut Vec<Diagnostic>) {
    for (failed, member, what) in [
        (!constraints.tier_check, "tier_check", "the quality tier does not suffice for the stakes"),
        (constraints.verification_check == Some(false), "verification_check", "the verification level is not met"),
    ] {
        if failed {
            findings.push(
                Diagnostic::warning(Code::Inv006, format!("an `ACT`, although `{member}` is false: {what}"))
                    .at(format!("/payload/constraints_satisfied/{member}"))
                    .label("false")
                    .help("decide VERIFY_FIRST or ESCALATE, and ACT once the check holds"),
            );
        }
    }
}

/// The tradeoff policies that a summary may name (D33).
pub const POLICIES: [&str; 4] = ["safety", "risk-adjusted", "min-regret", "expected value"];
