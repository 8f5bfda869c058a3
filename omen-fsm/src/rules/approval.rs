//! Approval of a budget overrun, depending on the state of the episode (INV-005). The invariants detect the overrun
//! but do not know the states; the table determines which approval is legal next (D32).

use omen_types::{Code, Diagnostic, Severity};

use crate::help::inv_005 as texts;
use crate::table::{Event, Node, NodeSet};

/// Sets the help of INV-005 findings to the approval that is legal in the episode's state: the state before a refused
/// packet, or the state after one with only a warning.
pub(crate) fn refine(findings: &mut [Diagnostic], before: NodeSet, after: NodeSet) {
    for finding in findings.iter_mut().filter(|finding| finding.code == Code::Inv005) {
        let nodes = if finding.severity == Severity::Error { before } else { after };
        finding.help = Some(help(nodes).to_owned());
        finding.notes.push(texts::SET_BY.to_owned());
    }
}

/// Does the same for a finding on the end of the stream.
pub(crate) fn refined(finding: Diagnostic, nodes: NodeSet) -> Diagnostic {
    finding.help(help(nodes)).note(texts::SET_BY)
}

/// Returns the help that is legal in the given nodes.
fn help(nodes: NodeSet) -> &'static str {
    let is_legal = |event| !nodes.after(event).is_empty();
    if nodes == NodeSet::of(Node::SafeMode) {
        texts::IN_SAFE_MODE
    } else if is_legal(Event::Escalate) {
        texts::ESCALATE
    } else if is_legal(Event::DecideEscalate) {
        texts::DECIDE
    } else {
        texts::LAYER_1
    }
}

#[cfg(test)]
mod tests {
    use omen_types::Code;

    use super::*;

    #[test]
    fn every_help_is_legal_where_it_is_given() {
        for node in Node::ALL {
            let nodes = NodeSet::of(*node);
            let legal = |event| !nodes.after(event).is_empty();
            let expected = match node {
                Node::SafeMode => texts::IN_SAFE_MODE,
                Node::DecideEscalate | Node::Escalated => texts::ESCALATE,
                Node::Model | Node::DecideUndecided => texts::DECIDE,
                _ => texts::LAYER_1,
            };
            assert_eq!(help(nodes), expected, "{node:?}");
            assert!(legal(Event::Alert) && legal(Event::Halt), "{node:?}");
        }
    }

    #[test]
    fn only_findings_of_the_rule_are_refined() {
        let (before, after) = (NodeSet::of(Node::Execute), NodeSet::of(Node::Model));
        let other = Diagnostic::error(Code::Inv004, "x").help("y");
        let mut findings =
            [Diagnostic::error(Code::Inv005, "x"), Diagnostic::warning(Code::Inv005, "x"), other.clone()];
        refine(&mut findings, before, after);
        let helps = findings.each_ref().map(|finding| finding.help.as_deref());
        assert_eq!(helps, [Some(texts::LAYER_1), Some(texts::DECIDE), Some("y")]);
    }
}
