//! INV-011, as `rules.json` states it (D35, D69). A directive that never gets a result violates E6 at the end of the stream.

use omen_types::{Code, DecisionOutcome, Diagnostic, Instant, PayloadFacts};

use crate::context::Context;
use crate::help::inv_011 as help;
use crate::ledger::{Ledger, OpenDirective};

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    escalates(context, findings);
    if context.ledger.open().is_empty() {
        return;
    }
    let answered = match &context.facts.payload {
        PayloadFacts::TaskResult(result) => Some(&result.directive_packet_id),
        _ => None,
    };
    for late in context.ledger.open().newly_late(context.now) {
        let here = answered.is_some_and(|id| **id == *late.packet_id);
        findings.push(if here {
            finding(late, context.now, "got its result").at("/payload/task_id").help(help::SET_TIMEOUT)
        } else {
            still_open(late, context.now).at("/header/created_at")
        });
    }
}

/// Returns the findings on directives that are late at a given time and were not reported yet, without a packet, each
/// with the packet id of the directive.
#[must_use]
pub fn late(ledger: &Ledger, now: Instant) -> Vec<(&str, Diagnostic)> {
    let all = ledger.open().newly_late(now).into_iter();
    all.map(|late| (&*late.packet_id, still_open(late, now))).collect()
}

fn still_open(late: &OpenDirective, now: Instant) -> Diagnostic {
    finding(late, now, "has no result").help(help::CLOSE)
}

fn finding(late: &OpenDirective, now: Instant, what: &str) -> Diagnostic {
    let elapsed = now.since(late.created_at);
    Diagnostic::warning(
        Code::Inv011,
        format!("`{}` {what} {elapsed} s after it was sent; its limit is {} s", late.task_id, late.timeout_seconds),
    )
    .note(format!("`{}` was sent in `{}`", late.task_id, late.packet_id))
}

fn escalates(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let PayloadFacts::Decision(decision) = &context.facts.payload else { return };
    if !context.ledger.owes_escalation() || decision.decision_outcome == DecisionOutcome::Escalate {
        return;
    }
    findings.push(
        Diagnostic::warning(
            Code::Inv011,
            format!(
                "expected `decision_outcome` `{}` after a late directive with CRITICAL stakes, found `{}`",
                DecisionOutcome::Escalate,
                decision.decision_outcome
            ),
        )
        .at("/payload/decision_outcome")
        .label("the first decision since")
        .help(help::ESCALATE),
    );
}

#[cfg(test)]
mod tests {
    use omen_types::PacketType::{BeliefUpdatePacket, DecisionPacket, TaskDirectivePacket};
    use omen_types::{PacketType, Severity};
    use serde_json::Value;

    use super::super::fixture::{Episode, packet};
    use super::check;

    fn at(time: &str, packet_type: PacketType, member: &str, value: Value) -> Value {
        packet(packet_type, &[("/header/created_at", time.into()), (member, value)])
    }

    /// Returns an episode with a directive at CRITICAL stakes and a timeout of 60 seconds, sent at 10:00:00.
    fn sent() -> Episode {
        let mut directive = at("2026-03-01T10:00:00Z", TaskDirectivePacket, "/payload/timeout_seconds", 60.into());
        if let Some(level) = directive.pointer_mut("/mcp/stakes/stakes_level") {
            *level = "CRITICAL".into();
        }
        Episode::default().accept(&directive, Default::default())
    }

    fn belief(time: &str) -> Value {
        at(time, BeliefUpdatePacket, "/payload/evidence_integration", Value::Null)
    }

    #[test]
    fn a_directive_within_its_limit_passes() {
        assert_eq!(sent().check(check, &belief("2026-03-01T10:01:00Z")), []);
    }

    #[test]
    fn a_late_directive_is_a_warning_once() {
        let late = belief("2026-03-01T10:01:01Z");
        assert_eq!(sent().check(check, &late), [(Severity::Warning, "/header/created_at".to_owned())]);
        assert_eq!(sent().accept(&late, Default::default()).check(check, &belief("2026-03-01T10:02:00Z")), []);
    }

    #[test]
    fn after_a_late_critical_one_another_outcome_than_escalate_is_a_warning() {
        let episode = sent().accept(&belief("2026-03-01T10:01:01Z"), Default::default());
        let decide =
            |outcome: &str| at("2026-03-01T10:02:00Z", DecisionPacket, "/payload/decision_outcome", outcome.into());
        assert_eq!(episode.check(check, &decide("ESCALATE")), []);
        let found = episode.check(check, &decide("ACT"));
        assert_eq!(found, [(Severity::Warning, "/payload/decision_outcome".to_owned())]);
    }
}
