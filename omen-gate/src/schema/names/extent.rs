//! How much is compiled of a schema. Each branch that can apply or not has a validator of its own, which holds
//! all that the branch leads to; and `unevaluatedProperties` compiles all that applies once more.

use std::collections::BTreeSet;

use super::bottom_up::bottom_up;
use super::{Id, Node, Same};
use crate::schema::LARGEST;

/// Refuses a schema of which too much would be compiled, for the whole and for what `tests` stand at.
pub(super) fn fits(nodes: &[Node], tests: &BTreeSet<Id>) -> Result<(), String> {
    let again = compiled_again(nodes)?;
    // The last visit, by schema.
    let mut visited = vec![0; nodes.len()];
    let (mut left, mut places) = (MOST, 0_usize);
    for (visit, start) in std::iter::once(&0).chain(tests).enumerate() {
        let mut todo = vec![*start];
        while let Some(id) = todo.pop() {
            let (Some(node), Some(last)) = (nodes.get(id), visited.get_mut(id)) else { continue };
            if std::mem::replace(last, visit + 1) == visit + 1 {
                continue;
            }
            let unevaluated = again.get(id).filter(|_| node.weight.unevaluated).copied().unwrap_or(0);
            left = left.checked_sub(size(node).saturating_add(unevaluated)).ok_or_else(|| too_much(places))?;
            todo.extend(node.same_value().chain(node.within()));
        }
        places = visit;
    }
    Ok(())
}

fn too_much(branches: usize) -> String {
    let of =
        if branches == 0 { "its references and `unevaluated…`" } else { "its branches, with what they refer to," };
    format!("{of} come to more than {MOST} bytes to compile; make the schema smaller, or have branches share more")
}

fn size(node: &Node) -> usize {
    node.weight.bytes.saturating_add(EACH)
}

/// For each schema, what is compiled for an `unevaluatedProperties` or `unevaluatedItems` that stands in it: a copy
/// of all that applies to the same value, with all that is in there.
fn compiled_again(nodes: &[Node]) -> Result<Vec<usize>, String> {
    // Twice as many as there are schemas: first each as it is compiled, then each as it is compiled for that.
    let count = nodes.len();
    let next = |place: usize| {
        let for_that = |id: Id| count.saturating_add(id);
        let mut next = Vec::new();
        if let Some(node) = nodes.get(place) {
            // What a reference leads to is compiled by itself.
            next.extend(node.same_value().filter(|id| Some(*id) != node.reference).chain(node.within()));
            next.extend(node.weight.unevaluated.then(|| for_that(place)));
        } else if let Some(node) = place.checked_sub(count).and_then(|id| nodes.get(id)) {
            for id in node.same.iter().map(Same::id) {
                next.push(for_that(id));
                next.extend(Some(id).filter(|id| Some(*id) != node.reference));
            }
            let rest = [node.additional, node.unevaluated].into_iter().flatten().map(|rest| rest.id);
            let elements = node.others.into_iter().chain(node.contains.map(|test| test.id));
            next.extend(rest.chain(elements).chain(node.patterns.iter().map(|(_, _, id)| *id)));
            next.extend(node.first.iter().chain(&node.silent.elements));
        }
        next
    };
    let looped = "what its `unevaluatedProperties` or `unevaluatedItems` has to look at leads back to itself";
    let sizes = bottom_up(count.saturating_mul(2), next, looped, |place, next: &[usize]| {
        let id = place.checked_sub(count).unwrap_or(place);
        let own = nodes.get(id).map_or(0, size);
        Ok(next.iter().copied().fold(own, usize::saturating_add))
    })?;
    Ok(sizes.into_iter().skip(count).collect())
}

/// The most that is compiled, in bytes of schemas: eight times the longest schema.
const MOST: usize = 8 * LARGEST;
/// What a schema takes that says nothing.
const EACH: usize = 64;
