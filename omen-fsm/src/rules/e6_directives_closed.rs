//! E6, as `episode.fsm.json` states it (D4, D20).

use omen_invariants::Ledger;
use omen_invariants::ledger::OpenDirective;
use omen_types::suggest::misspelt;
use omen_types::{Code, Diagnostic, Edit, PayloadFacts, TaskResultPayloadFacts};

use super::route;
use super::transition::Transition;
use crate::help::e6 as help;
use crate::table::{Event, NodeSet};

/// Checks that a result names an open directive by both packet id and task id (D20).
pub(super) fn answers(transition: &Transition<'_>) -> Option<Diagnostic> {
    match &transition.context.facts.payload {
        PayloadFacts::TaskResult(result) => answered(transition, result),
        _ => None,
    }
}

/// Returns the finding on a packet that would leave a directive without a result.
pub(super) fn left_behind(transition: &Transition<'_>) -> Option<Diagnostic> {
    let open = transition.context.ledger.open();
    let first = open.in_order().into_iter().next()?;
    let (packet_id, task_id) = (&first.packet_id, &first.task_id);
    let problem = match open.len() - 1 {
        0 => format!("`{packet_id}` (`{task_id}`) has no result yet"),
        more => format!("`{packet_id}` (`{task_id}`) and {more} more have no result yet"),
    };
    Some(
        Diagnostic::error(Code::E6, problem)
            .at("/header/packet_type")
            .label(format!("would leave {}", transition.nodes))
            .help(help::settle_first(route::names(&vec![Event::Settle; open.len().min(FEW)]), packet_id, task_id))
            .note(sent(first)),
    )
}

/// Returns the finding on a packet that requires an open directive when none is open.
pub(super) fn nothing_open(transition: &Transition<'_>) -> Option<Diagnostic> {
    (!has_open(transition.context.ledger))
        .then(|| Diagnostic::error(Code::E6, "no directive is open").at("/header/packet_type").help(help::NONE_OPEN))
}

/// Returns a description of an open directive: its id and the time at which it was sent.
fn sent(open: &OpenDirective) -> String {
    format!("`{}` was sent at {}, and has no result", open.packet_id, open.created_at)
}

/// Maximum number of results that a help lists individually.
const FEW: usize = 4;

pub(super) fn has_open(ledger: &Ledger) -> bool {
    !ledger.open().is_empty()
}

/// Returns the findings on the directives without a result at the end of an episode.
pub(super) fn at_end(nodes: NodeSet, ledger: &Ledger) -> impl Iterator<Item = (Option<&str>, Diagnostic)> {
    // The result alone would leave the episode open. After several, the way to its end is that of the last one.
    let is_only = ledger.open().len() == 1 && !ledger.owes_decision();
    let close = if is_only { route::to(nodes, Event::Close, ledger) } else { None }.unwrap_or_default();
    ledger.open().in_order().into_iter().map(move |open| {
        let problem = format!("the episode ends without a result for `{}` (`{}`)", open.packet_id, open.task_id);
        let (packet_id, task_id) = (&open.packet_id, &open.task_id);
        let help = match close.as_slice() {
            [Event::Settle, then @ ..] if !then.is_empty() => {
                help::settle_and_close(route::words(then), route::names(&close), packet_id, task_id)
            }
            _ => help::settle(Event::Settle, packet_id, task_id),
        };
        let finding = Diagnostic::error(Code::E6, problem).help(help).note(sent(open));
        (Some(open.packet_id.as_ref()), finding)
    })
}

fn answered(transition: &Transition<'_>, result: &TaskResultPayloadFacts<'_>) -> Option<Diagnostic> {
    let ledger = transition.context.ledger;
    let (directive_id, task_id) = (&result.directive_packet_id, &result.task_id);
    let Some(open) = ledger.open().get(directive_id) else {
        let (problem, label) = if ledger.has_accepted(directive_id) {
            (format!("`{directive_id}` is not an open directive"), "closed already, or not a directive")
        } else {
            (format!("no directive `{directive_id}` was accepted in this episode"), "never accepted")
        };
        let finding = Diagnostic::error(Code::E6, problem).at("/payload/directive_packet_id").label(label);
        let open = ledger.open().in_order();
        // An id of an accepted packet is not a misspelling.
        let is_unknown = !ledger.has_accepted(directive_id);
        if let Some(meant) = misspelt(directive_id, open.iter().map(|open| &*open.packet_id)).filter(|_| is_unknown) {
            // A result that matches neither id may belong to another directive.
            let is_sure = open.iter().any(|open| *open.packet_id == *meant && *open.task_id == **task_id);
            return Some(did_you_mean(finding, meant, is_sure));
        }
        return Some(match open.as_slice() {
            [] if is_unknown && !transition.nodes.after(Event::DirectRead).is_empty() => {
                finding.help(help::not_sent(Event::DirectRead, directive_id, task_id))
            }
            [] => finding.help(help::NONE_OPEN),
            [first, ..] => finding.help(help::name_both(&first.packet_id, &first.task_id)).note(sent(first)),
        });
    };
    (*open.task_id != **task_id).then(|| {
        let problem =
            format!("expected `task_id` `{}` for the directive `{directive_id}`, found `{task_id}`", open.task_id);
        let finding = Diagnostic::error(Code::E6, problem).at("/payload/task_id").label("another task");
        match misspelt(task_id, [&*open.task_id]) {
            Some(meant) => did_you_mean(finding, meant, true),
            None => finding.help(help::name_task(&open.task_id)),
        }
    })
}

/// Extends the finding on a misspelt identifier with the correct spelling.
fn did_you_mean(finding: Diagnostic, meant: &str, is_sure: bool) -> Diagnostic {
    let text = format!("\"{meant}\"");
    finding.help(help::misspelt(meant)).edit(if is_sure { Edit::safe(text) } else { Edit::needs_consent(text) })
}

#[cfg(test)]
mod tests {
    use omen_types::Code;
    use omen_types::PacketType::{BeliefUpdatePacket, DecisionPacket, TaskDirectivePacket, TaskResultPacket};
    use serde_json::Value;

    use super::super::fixture::{TestEpisode, packet};
    use super::at_end;
    use crate::table::Node;

    /// Returns an episode in S6 with the open directive `pkt_d` (`task_d`).
    fn sent() -> TestEpisode {
        let directive = [("/header/packet_id", "pkt_d".into()), ("/payload/task_id", "task_d".into())];
        TestEpisode::at(Node::Execute)
            .accept(&packet(DecisionPacket, &[("/payload/decision_outcome", "ACT".into())]))
            .accept(&packet(TaskDirectivePacket, &directive))
    }

    fn result(directive: &str, task: &str) -> Value {
        let members = [("/payload/directive_packet_id", directive.into()), ("/payload/task_id", task.into())];
        packet(TaskResultPacket, &members)
    }

    /// Returns the help for a result, and the text of the edit if it can be applied safely.
    fn help(directive: &str, task: &str) -> (Option<String>, Option<String>) {
        let directive_sent =
            [("/header/packet_id", "pkt_directive_1".into()), ("/payload/task_id", "task_resize".into())];
        let episode = TestEpisode::at(Node::Execute)
            .accept(&packet(DecisionPacket, &[("/payload/decision_outcome", "ACT".into())]))
            .accept(&packet(TaskDirectivePacket, &directive_sent));
        let found = episode.with(&result(directive, task), super::answers);
        found.map_or((None, None), |found| (found.help, found.edit.map(|edit| edit.text)))
    }

    #[test]
    fn an_identifier_that_is_misspelt_is_named() {
        let meant = |id: &str| (Some(format!("did you mean `{id}`?")), Some(format!("\"{id}\"")));
        assert_eq!(help("pkt_directve_1", "task_resize"), meant("pkt_directive_1"));
        assert_eq!(help("pkt_directive-l", "task_resize"), meant("pkt_directive_1"));
        assert_eq!(help("pkt_directive_1", "task_reszie"), meant("task_resize"));
        // A different number means a different directive.
        assert_eq!(help("pkt_directive_2", "task_resize").1, None);
        assert_eq!(help("pkt_directive_1", "task_other").1, None);
    }

    #[test]
    fn a_result_for_an_open_directive_passes_and_so_does_what_comes_after() {
        assert_eq!(sent().refused(&result("pkt_d", "task_d")), []);
        let settled = sent().accept(&result("pkt_d", "task_d"));
        assert_eq!(settled.refused(&packet(BeliefUpdatePacket, &[])), []);
        assert_eq!(at_end(settled.nodes(), settled.ledger()).count(), 0);
    }

    #[test]
    fn a_result_for_another_directive_or_task_is_refused() {
        assert_eq!(sent().refused(&result("pkt_other", "task_d")), [Code::E6]);
        assert_eq!(sent().refused(&result("pkt_d", "task_other")), [Code::E6]);
    }

    #[test]
    fn no_directive_is_left_behind() {
        assert_eq!(sent().refused(&packet(BeliefUpdatePacket, &[])), [Code::E6]);
        let open = sent();
        assert_eq!(at_end(open.nodes(), open.ledger()).count(), 1);
    }
}
