//! INV-005, as `rules.json` states it (D32, D59). The legal approval of an overrun depends on the episode's state,
//! so the state machine replaces the general help given here with the help for that state.

use std::borrow::Cow;

use omen_types::{Code, DecisionOutcome, Diagnostic, Instant, PacketFacts, PayloadFacts};

use crate::context::Context;
use crate::ledger::{Budget, Ledger, Overrun, approves};

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    if context.ledger.overrun_approved() || approves(context.facts) {
        return;
    }
    let exceeded = context.ledger.budget().filter(|budget| budget.is_exceeded(context.now));
    let Some(budget) = exceeded.filter(|_| commits(context.facts)) else {
        report(context, findings);
        return;
    };
    let overruns = budget.overruns(context.now);
    findings.push(
        Diagnostic::error(
            Code::Inv005,
            format!("the episode is over budget ({}) without approval", figures(&overruns)),
        )
        .at("/header/packet_type")
        .label("commits to more work")
        .help(Code::Inv005.info().help),
    );
}

/// Warns about each budget that is exceeded once this packet is accepted (D59).
fn report(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let Some(budget) = budget_after(context).filter(|budget| budget.is_exceeded(context.now)) else { return };
    let mut overruns = budget.overruns(context.now);
    overruns.retain(|overrun| !context.ledger.has_reported(*overrun));
    if overruns.is_empty() {
        return;
    }
    findings.push(
        Diagnostic::warning(
            Code::Inv005,
            format!("the episode exceeds its budget ({}) without approval", figures(&overruns)),
        )
        .at("/header/packet_type")
        .label("over budget from here on")
        .help(Code::Inv005.info().help),
    );
}

/// Returns the budgets after the packet is accepted; the first decision sets them (D32).
fn budget_after<'c>(context: &Context<'c>) -> Option<Cow<'c, Budget>> {
    match (context.ledger.budget(), &context.facts.payload) {
        (Some(budget), PayloadFacts::TaskResult(result)) => Some(Cow::Owned(budget.after(result))),
        (Some(budget), _) => Some(Cow::Borrowed(budget)),
        (None, PayloadFacts::Decision(_)) => Some(Cow::Owned(Budget::new(context.facts))),
        (None, _) => None,
    }
}

/// Returns the error of an episode that ends over budget (D59). `now` is its clock or the fixed time.
#[must_use]
pub fn at_end(ledger: &Ledger, now: Instant) -> Option<Diagnostic> {
    let overruns = ledger.overruns(now);
    (!overruns.is_empty()).then(|| {
        Diagnostic::error(
            Code::Inv005,
            format!("the episode ends over budget ({}) without approval", figures(&overruns)),
        )
        .help(Code::Inv005.info().help)
    })
}

fn figures(overruns: &[Overrun]) -> String {
    overruns.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Returns whether a packet commits the agent to more work.
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

#[cfg(test)]
mod tests {
    use omen_types::PacketType::{DecisionPacket, TaskResultPacket, VerificationPlanPacket};
    use omen_types::Severity;
    use serde_json::{Value, json};

    use super::super::fixture::{Episode, packet};
    use super::{at_end, check};

    const START: &str = "2026-03-01T10:00:00Z";

    /// Returns a result that has used `tokens` of 100 tokens.
    fn result(tokens: u32) -> Value {
        let used = json!({"tokens_used": tokens, "tool_calls_used": 0});
        packet(TaskResultPacket, &[("/payload/execution_metadata", used), ("/header/created_at", START.into())])
    }

    fn decided() -> Episode {
        let members = [("/mcp/budgets/token_budget", 100.into()), ("/header/created_at", START.into())];
        Episode::default().accept(&packet(DecisionPacket, &members), Default::default())
    }

    fn over() -> Episode {
        decided().accept(&result(101), Default::default())
    }

    fn place() -> String {
        "/header/packet_type".to_owned()
    }

    #[test]
    fn the_whole_budget_may_be_used() {
        assert_eq!(decided().check(check, &result(100)), []);
    }

    #[test]
    fn the_packet_that_exceeds_it_is_a_warning_once() {
        assert_eq!(decided().check(check, &result(101)), [(Severity::Warning, place())]);
        assert_eq!(over().check(check, &result(1)), []);
    }

    #[test]
    fn over_budget_no_more_work_is_begun_and_no_episode_ends() {
        let plan = packet(VerificationPlanPacket, &[("/header/created_at", START.into())]);
        assert_eq!(over().check(check, &plan), [(Severity::Error, place())]);
        let ends =
            |episode: &Episode| at_end(episode.ledger(), episode.ledger().clock_at(Default::default())).is_none();
        assert!(ends(&decided()) && !ends(&over()));
    }
}
