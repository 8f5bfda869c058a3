//! INV-011: a directive gets its result in time.
//!
//! A directive that never gets one is E6, at the end of the stream (D35).

use omen_types::{Code, Diagnostic, PayloadFacts};

use crate::Context;

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    if context.ledger.open().is_empty() {
        return;
    }
    let answered = match &context.facts.payload {
        PayloadFacts::TaskResult(result) => Some(&result.directive_packet_id),
        _ => None,
    };
    for late in context.ledger.open().newly_late(context.now) {
        let elapsed = context.now.since(late.created_at);
        let here = answered.is_some_and(|id| **id == *late.packet_id);
        let what = if here { "has its result only now" } else { "is still open" };
        let finding = Diagnostic::warning(
            Code::Inv011,
            format!("`{}` {what}, {elapsed} s after it was sent; it had {} s", late.task_id, late.timeout_seconds),
        )
        .note(format!("`{}` was sent by {}", late.task_id, late.packet_id))
        .help("close it with a TaskResultPacket, and consider to escalate");
        findings.push(if here { finding.at("/payload/task_id") } else { finding.at("/header/created_at") });
    }
}
