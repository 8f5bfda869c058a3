//! End of the stream of an episode (D4).

use omen_invariants::Ledger;
use omen_invariants::rules::{chain_of_packets, inv_005_budget_overrun};
use omen_types::{Diagnostic, Instant};

use super::merging::share;
use super::{approval, e3_loop_completed, e6_directives_closed, fsm_legal_transition};
use crate::table::{Node, NodeSet};

/// Returns the findings on the end of the stream. In safe mode, an episode may end with open directives (D4).
pub(crate) fn check(nodes: NodeSet, ledger: &Ledger, fixed: Option<Instant>) -> Vec<(Option<&str>, Diagnostic)> {
    // Safe mode does not cancel observations that were announced but never arrived.
    let dangling = chain_of_packets::at_end(ledger);
    if nodes == NodeSet::of(Node::SafeMode) {
        return dangling.collect();
    }
    let mut all = Vec::new();
    all.extend(e3_loop_completed::at_end(nodes, ledger).map(|finding| (None, share(finding))));
    all.extend(e6_directives_closed::at_end(nodes, ledger));
    if all.is_empty() {
        all.extend(fsm_legal_transition::at_end(nodes, ledger).map(|finding| (None, finding)));
    }
    // An episode without packets has no clock, and cannot be over budget.
    let now = fixed.or_else(|| ledger.clock());
    let overrun = now.and_then(|now| inv_005_budget_overrun::at_end(ledger, now));
    all.extend(overrun.map(|finding| (None, approval::refined(finding, nodes))));
    all.extend(dangling);
    all
}
