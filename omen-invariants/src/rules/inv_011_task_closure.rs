//! INV-011: a directive gets its result in time.
//!
//! A directive that never gets one is E6, at the end of the stream (D35). After a late one with CRITICAL stakes the
//! next decision is to escalate (D69).

use omen_types::{Code, DecisionOutcome, Diagnostic, Instant, PayloadFacts};

use crate::ledger::OpenDirective;
use crate::{Context, Ledger};

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
            finding(late, context.now, "has its result only now")
                .at("/payload/task_id")
                .help("set a `timeout_seconds` that fits the work, and cancel a task that cannot keep it")
        } else {
            still_open(late, context.now).at("/header/created_at")
        });
    }
}

/// What is late at a time and was not reported before, without a packet: each with the id of the directive's packet.
#[must_use]
pub fn late(ledger: &Ledger, now: Instant) -> Vec<(&str, Diagnostic)> {
    let all = ledger.open().newly_late(now).into_iter();
    all.map(|late| (&*late.packet_id, still_open(late, now))).collect()
}

fn still_open(late: &OpenDirective, now: Instant) -> Diagnostic {
    finding(late, now, STILL_OPEN).help("close it with a TaskResultPacket, and consider escalating")
}

fn finding(late: &OpenDirective, now: Instant, what: &str) -> Diagnostic {
    let elapsed = now.since(late.created_at);
    Diagnostic::warning(
        Code::Inv011,
        format!("`{}` {what}, {elapsed} s after it was sent; it had {} s", late.task_id, late.timeout_seconds),
    )
    .note(format!("`{}` was sent by {}", late.task_id, late.packet_id))
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
                "`decision_outcome` is {}, although a directive with CRITICAL stakes was late; expected {}",
                decision.decision_outcome,
                DecisionOutcome::Escalate
            ),
        )
        .at("/payload/decision_outcome")
        .label("the first decision since")
        .help("decide ESCALATE: a person should know that a critical task did not finish in time"),
    );
}

const STILL_OPEN: &str = "is still open";
