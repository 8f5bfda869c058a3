//! How much is compiled of a schema. Each branch that can apply or not has a validator of its own, which holds
//! all that the branch leads to; and `unevaluatedProperties` compiles all that applies once more.

use std::collections::BTreeSet;

use super::bottom_up::bottom_up;
use super::node::{Id, Node, Same};
use crate::catalog::tool_schema::document::LARGEST;

/// Refuses a schema of which too much would be compiled, for the whole and for what `tests` stand at.
pub(super) fn fits(nodes: &[Node], tests: &BTreeSet<Id>) -> Result<(), String> {
    is_shallow(nodes)?;
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
    format!("{of} exceed {MOST} bytes when compiled; simplify the schema")
}

fn size(node: &Node) -> usize {
    node.weight.bytes.saturating_add(EACH)
}

/// For each schema, what is compiled for an `unevaluatedProperties` or `unevaluatedItems` that stands in it: a copy
/// of all that applies to the same value, with all that is in there.
fn compiled_again(nodes: &[Node]) -> Result<Vec<usize>, String> {
    let count = nodes.len().saturating_mul(2);
    let sizes = bottom_up(
        count,
        |place| next(nodes, place),
        LOOPED,
        |place, next: &[usize]| {
            let own = node(nodes, place).map_or(0, size);
            Ok(next.iter().copied().fold(own, usize::saturating_add))
        },
    )?;
    Ok(sizes.into_iter().skip(nodes.len()).collect())
}

/// Refuses schemas that stand so deep within each other that compiling them would overflow the stack.
fn is_shallow(nodes: &[Node]) -> Result<(), String> {
    let count = nodes.len().saturating_mul(2);
    let mut depths: Vec<usize> = vec![0; count];
    for _ in 0..=REFERENCES {
        depths = bottom_up(
            count,
            |place| next(nodes, place),
            LOOPED,
            |place, next: &[usize]| {
                let refers = nodes.get(place).and_then(|node| node.reference).and_then(|id| depths.get(id)).copied();
                Ok(next.iter().copied().chain(refers).max().unwrap_or(0).saturating_add(1))
            },
        )?;
    }
    if depths.iter().any(|depth| *depth > DEEPEST) {
        return Err(format!("its schemas, with what they refer to, are nested more than {DEEPEST} levels deep"));
    }
    Ok(())
}

/// What is compiled within what. There are twice as many places as schemas: first each as it is compiled, then each as
/// it is compiled once more for an `unevaluatedProperties` or `unevaluatedItems`.
fn next(nodes: &[Node], place: usize) -> Vec<usize> {
    let once_more = |id: Id| nodes.len().saturating_add(id);
    let Some(node) = node(nodes, place) else { return Vec::new() };
    let mut next = Vec::new();
    if place < nodes.len() {
        // What a reference leads to is compiled by itself.
        next.extend(node.same_value().filter(|id| Some(*id) != node.reference).chain(node.within()));
        next.extend(node.weight.unevaluated.then(|| once_more(place)));
    } else {
        for id in node.same.iter().map(Same::id) {
            next.push(once_more(id));
            next.extend(Some(id).filter(|id| Some(*id) != node.reference));
        }
        let rest = [node.additional, node.unevaluated].into_iter().flatten().map(|rest| rest.id);
        let elements = node.others.into_iter().chain(node.contains.map(|test| test.id));
        next.extend(rest.chain(elements).chain(node.patterns.iter().map(|(_, _, id)| *id)));
        next.extend(node.first.iter().chain(&node.silent.elements));
    }
    next
}

fn node(nodes: &[Node], place: usize) -> Option<&Node> {
    nodes.get(place.checked_sub(nodes.len()).unwrap_or(place))
}

const LOOPED: &str = "what its `unevaluatedProperties` or `unevaluatedItems` applies to refers to itself";
/// How many references the validator follows within each other before it puts one off.
const REFERENCES: usize = 8;
/// The most schemas that are compiled within each other. Each takes some kilobytes of the stack.
const DEEPEST: usize = 128;
/// The most that is compiled, in bytes of schemas and their places.
const MOST: usize = 16 * LARGEST;
/// What a schema takes that says nothing.
const EACH: usize = 64;
