//! INV-005: beyond the budgets, nothing more is committed without approval.

use omen_types::{Code, DecisionOutcome, Diagnostic, PacketFacts, PayloadFacts};

use crate::Context;
use crate::ledger::approves;

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    if !commits(context.facts) || context.ledger.overrun_approved() {
        return;
    }
    let Some(budget) = context.ledger.budget() else { return };
    let overruns = budget.overruns(context.now);
    if overruns.is_empty() {
        return;
    }
    let figures: Vec<_> = overruns.iter().map(ToString::to_string).collect();
    findings.push(
        Diagnostic::error(
            Code::Inv005,
            format!("the episode is over budget ({}), and nobody has approved that", figures.join(", ")),
        )
        .at("/header/packet_type")
        .label("commits the agent further")
        .help(Code::Inv005.info().mend),
    );
}

/// Whether a packet commits the agent to more work; the token by which layer 1 approves does not.
fn commits(facts: &PacketFacts<'_>) -> bool {
    match &facts.payload {
        PayloadFacts::TaskDirective(_) | PayloadFacts::VerificationPlan { .. } => true,
        PayloadFacts::ToolAuthorizationToken(token) => !approves(facts, token),
        PayloadFacts::Decision(decision) => {
            matches!(decision.decision_outcome, DecisionOutcome::Act | DecisionOutcome::VerifyFirst)
        }
        _ => false,
    }
}
