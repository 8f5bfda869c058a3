//! Judging a value comes to an end, and does not go deeper than a thread's stack does.

use super::bottom_up::bottom_up;
use super::node::Node;

/// Refuses schemas that come back to themselves for the same value, that lead on very often, or that apply very
/// often to it: judging it would take for ever, or as good as, or overflow the stack.
pub(super) fn comes_to_an_end(nodes: &[Node]) -> Result<(), String> {
    let next = |id| nodes.get(id).map(|node: &Node| node.same_value().collect()).unwrap_or_default();
    let looped = "it refers to itself without descending into the value";
    bottom_up(nodes.len(), next, looped, |_, next: &[(usize, usize)]| {
        // How often schemas apply because of this one, and how many lead on to each other.
        let applied = next.iter().map(|(applied, _)| *applied).fold(1, usize::saturating_add);
        let chain = next.iter().map(|(_, chain)| *chain).max().unwrap_or(0).saturating_add(1);
        if applied > MOST_APPLIED {
            return Err(format!("its references expand to more than {MOST_APPLIED} schemas for one value"));
        }
        if chain > LONGEST_CHAIN {
            return Err(format!(
                "more than {LONGEST_CHAIN} of its schemas refer to each other without descending into the value"
            ));
        }
        Ok((applied, chain))
    })
    .map(drop)
}

/// The most schemas that may apply to one value because of one.
const MOST_APPLIED: usize = 10_000;
/// The most schemas, each of which applies to a value because of the one before.
const LONGEST_CHAIN: usize = 64;
