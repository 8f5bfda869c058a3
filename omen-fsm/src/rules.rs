//! The table and the sequence rules E1–E7, one module a rule.
//!
//! E5 (an escalation presents options) has none: the schema requires all that it asks, so the schema
//! stage has refused what breaks it before the machine sees it, and carries its code (D37).
//!
//! A packet that is illegal here gets one finding, whose `code` is the most specific rule that it
//! breaks: E7 in safe mode, else the first E rule, else FSM; the others stand in `also` (D37).

use omen_invariants::{Context, Ledger};
use omen_types::{Code, Diagnostic};

use crate::table::{Event, Node, NodeSet};

mod e1_model_first;
mod e2_decision_first;
mod e3_loop_completed;
mod e4_live_token;
mod e6_directives_closed;
mod e7_safe_mode;

pub(crate) use e3_loop_completed::unmet as unmet_of_loop;

/// What a rule looks at: a packet, and where it would lead.
pub(crate) struct Step<'s> {
    pub(crate) context: Context<'s>,
    pub(crate) event: Event,
    pub(crate) nodes: NodeSet,
    /// Empty if the table has no row.
    pub(crate) next: NodeSet,
}

impl Step<'_> {
    fn is_illegal(&self) -> bool {
        self.next.is_empty()
    }

    /// Whether the episode is in a node for certain.
    fn is_in(&self, node: Node) -> bool {
        self.nodes == NodeSet::of(node)
    }
}

/// What the table and the rules have against a packet.
pub(crate) fn check(step: &Step<'_>) -> Option<Diagnostic> {
    CHECKS.iter().filter_map(|check| check(step)).reduce(merge).map(share)
}

/// What the rules have against the stream's ending here, unless it is in safe mode (D4).
pub(crate) fn at_end(nodes: NodeSet, ledger: &Ledger) -> Vec<(Option<&str>, Diagnostic)> {
    if nodes == NodeSet::of(Node::SafeMode) {
        return Vec::new();
    }
    let mut all = Vec::new();
    all.extend(e3_loop_completed::at_end(nodes, ledger).map(|finding| (None, share(finding))));
    all.extend(e6_directives_closed::at_end(ledger));
    all
}

/// One finding for two rules that a packet breaks.
fn merge(mut first: Diagnostic, other: Diagnostic) -> Diagnostic {
    first.notes.push(format!("{}: {}", other.code, other.message));
    first.notes.extend(other.notes);
    first.also.push(other.code);
    first.also.extend(other.also);
    first
}

/// Adds the codes of invariants that say the same as the E rules that are broken.
fn share(mut finding: Diagnostic) -> Diagnostic {
    let codes: Vec<Code> = std::iter::once(finding.code).chain(finding.also.iter().copied()).collect();
    for shared in codes.into_iter().filter_map(|code| code.info().shared_with) {
        if !finding.also.contains(&shared) {
            finding.also.push(shared);
        }
    }
    finding
}

fn table(step: &Step<'_>) -> Option<Diagnostic> {
    step.is_illegal().then(|| {
        Diagnostic::error(Code::Fsm, format!("{} is not legal in {}", step.event.description(), step.nodes))
            .at("/header/packet_type")
            .label("no row of the table is for this")
            .help(ways_out(step.nodes))
    })
}

/// What is legal instead, in words.
fn ways_out(nodes: NodeSet) -> String {
    // Alerts are legal everywhere and would only lengthen the list.
    let legal: Vec<_> =
        nodes.legal().filter(|event| !matches!(event, Event::Alert | Event::Halt)).map(Event::description).collect();
    format!("from {nodes} these are legal: {}", legal.join("; "))
}

/// The rules and the table, in the order of specificity.
const CHECKS: [fn(&Step<'_>) -> Option<Diagnostic>; 7] = [
    e7_safe_mode::check,
    e1_model_first::check,
    e2_decision_first::check,
    e3_loop_completed::check,
    e4_live_token::check,
    e6_directives_closed::check,
    table,
];
