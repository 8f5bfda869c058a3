//! E6: every directive is closed.

use omen_invariants::Ledger;
use omen_types::{Code, Diagnostic, PayloadFacts, TaskResultPayloadFacts};

use super::Step;

/// Whether a result names an open directive by packet id and task id both (D20).
pub(super) fn answers(step: &Step<'_>) -> Option<Diagnostic> {
    match &step.context.facts.payload {
        PayloadFacts::TaskResult(result) => answered(step.context.ledger, result),
        _ => None,
    }
}

/// What a packet would leave behind without a result, if anything.
pub(super) fn left_behind(step: &Step<'_>) -> Option<Diagnostic> {
    let open = step.context.ledger.open();
    let first = open.in_order().into_iter().next()?;
    let more = open.len() - 1;
    let others = if more == 0 { String::new() } else { format!(" and {more} more") };
    Some(
        Diagnostic::error(Code::E6, format!("`{}` ({}){others} has no result yet", first.packet_id, first.task_id))
            .at("/header/packet_type")
            .label(format!("would leave {}", step.nodes))
            .help(Code::E6.info().help),
    )
}

/// Said where a directive has to be open, and none is.
pub(super) fn nothing_open(step: &Step<'_>) -> Option<Diagnostic> {
    step.context.ledger.open().is_empty().then(|| {
        Diagnostic::error(Code::E6, "no directive is open").at("/header/packet_type").help(Code::E6.info().help)
    })
}

pub(super) fn at_end(ledger: &Ledger) -> impl Iterator<Item = (Option<&str>, Diagnostic)> {
    ledger.open().in_order().into_iter().map(|open| {
        let finding = Diagnostic::error(
            Code::E6,
            format!("the episode ends, and `{}` ({}) never got a result", open.packet_id, open.task_id),
        )
        .help(Code::E6.info().help);
        (Some(open.packet_id.as_ref()), finding)
    })
}

fn answered(ledger: &Ledger, result: &TaskResultPayloadFacts<'_>) -> Option<Diagnostic> {
    let (directive_id, task_id) = (&result.directive_packet_id, &result.task_id);
    let Some(open) = ledger.open().get(directive_id) else {
        return Some(
            Diagnostic::error(Code::E6, format!("there is no open directive `{directive_id}`"))
                .at("/payload/directive_packet_id")
                .label("unknown, or closed already")
                .help("name the packet id of a directive of this episode that has no result yet"),
        );
    };
    (*open.task_id != **task_id).then(|| {
        Diagnostic::error(
            Code::E6,
            format!("the directive `{directive_id}` has the task `{}`, not `{task_id}`", open.task_id),
        )
        .at("/payload/task_id")
        .label("another task")
        .help(format!("name both: `{directive_id}` and `{}`", open.task_id))
    })
}
