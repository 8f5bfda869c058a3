//! INV-005: beyond the budgets, nothing more is committed without approval, and the overrun is reported where it happens.

use std::borrow::Cow;

use omen_types::{Code, DecisionOutcome, Diagnostic, Instant, PacketFacts, PayloadFacts};

use crate::ledger::{Budget, Overrun, approves};
use crate::{Context, Ledger};

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    if context.ledger.overrun_approved() || approves(context.facts) {
        return;
    }
    let overruns = match context.ledger.budget() {
        Some(budget) if commits(context.facts) => budget.overruns(context.now),
        _ => Vec::new(),
    };
    if overruns.is_empty() {
        report(context, findings);
        return;
    }
    findings.push(
        Diagnostic::error(
            Code::Inv005,
            format!("the episode is over budget ({}), and nobody has approved that", figures(&overruns)),
        )
        .at("/header/packet_type")
        .label("commits the agent further")
        .help(Code::Inv005.info().help),
    );
}

/// Warns of each budget that is exceeded once this packet is accepted, and was not before (D59).
fn report(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let Some(budget) = budget_after(context) else { return };
    let mut overruns = budget.overruns(context.now);
    overruns.retain(|overrun| !context.ledger.has_reported(*overrun));
    if overruns.is_empty() {
        return;
    }
    findings.push(
        Diagnostic::warning(
            Code::Inv005,
            format!("the episode exceeds its budget ({}), and nobody has approved that", figures(&overruns)),
        )
        .at("/header/packet_type")
        .label("over budget from here on")
        .help(Code::Inv005.info().help),
    );
}

/// The budgets once the packet is accepted; the first decision sets them (D32).
fn budget_after<'c>(context: &Context<'c>) -> Option<Cow<'c, Budget>> {
    match (context.ledger.budget(), &context.facts.payload) {
        (Some(budget), PayloadFacts::TaskResult(result)) => Some(Cow::Owned(budget.after(result))),
        (Some(budget), _) => Some(Cow::Borrowed(budget)),
        (None, PayloadFacts::Decision(_)) => Some(Cow::Owned(Budget::new(context.facts))),
        (None, _) => None,
    }
}

/// What there is against the episode's ending while it is over budget (D59). `now` is its clock, or the fixed instant.
#[must_use]
pub fn at_end(ledger: &Ledger, now: Instant) -> Option<Diagnostic> {
    let overruns = ledger.overruns(now);
    (!overruns.is_empty()).then(|| {
        Diagnostic::error(
            Code::Inv005,
            format!("the episode ends over budget ({}), and nobody has approved that", figures(&overruns)),
        )
        .help(Code::Inv005.info().help)
    })
}

fn figures(overruns: &[Overrun]) -> String {
    overruns.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Whether a packet commits the agent to more work.
fn commits(facts: &PacketFacts<'_>) -> bool {
    match &facts.payload {
        PayloadFacts::TaskDirective(_)
        | PayloadFacts::VerificationPlan { .. }
        | PayloadFacts::ToolAuthorizationToken(_) => true,
        PayloadFacts::Decision(decision) => {
            matches!(decision.decision_outcome, DecisionOutcome::Act | DecisionOutcome::VerifyFirst)
        }
        _ => false,
    }
}
