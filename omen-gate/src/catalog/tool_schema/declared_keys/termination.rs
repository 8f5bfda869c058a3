//! Proof that checking a value terminates without exhausting a thread's stack.

use super::bottom_up::bottom_up;
use super::node::SchemaNode;

/// Refuses schemas that recurse on the same value, nest too deeply, or apply too often to it: checking would not
/// terminate in practice, or would overflow the stack.
pub(super) fn comes_to_an_end(nodes: &[SchemaNode]) -> Result<(), String> {
    let next = |id| nodes.get(id).map(|node: &SchemaNode| node.same_value().collect()).unwrap_or_default();
    let looped = "it refers to itself without descending into the value";
    bottom_up(nodes.len(), next, looped, |_, next: &[(usize, usize)]| {
        // Number of schemas that apply because of this one, and their nesting depth.
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

/// Maximum number of schemas that apply to one value because of a single schema.
const MOST_APPLIED: usize = 10_000;
/// Maximum length of a chain of schemas that apply to one value, each because of the previous one.
const LONGEST_CHAIN: usize = 64;
