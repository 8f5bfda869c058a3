//! Size of compiled schemas. Each conditional branch has its own validator, with everything that the branch leads to,
//! and `unevaluatedProperties` compiles everything that applies a second time.

use std::collections::BTreeSet;

use super::bottom_up::bottom_up;
use super::node::{Id, InPlaceSchema, SchemaNode};
use crate::catalog::tool_schema::document::LARGEST;

/// Refuses a schema whose compiled form would be too large, counting the root and the `tests`.
pub(super) fn fits(nodes: &[SchemaNode], tests: &BTreeSet<Id>) -> Result<(), String> {
    is_shallow(nodes)?;
    let again = compiled_again(nodes)?;
    // Last visit of each schema.
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

fn size(node: &SchemaNode) -> usize {
    node.weight.bytes.saturating_add(EACH)
}

/// Returns the size of what each schema's `unevaluatedProperties` or `unevaluatedItems` compiles: a copy of everything
/// that applies to the same value, with its contents.
fn compiled_again(nodes: &[SchemaNode]) -> Result<Vec<usize>, String> {
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

/// Refuses schemas nested so deeply that compiling them would overflow the stack.
fn is_shallow(nodes: &[SchemaNode]) -> Result<(), String> {
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
        return Err(format!("its schemas, with everything they refer to, are nested more than {DEEPEST} levels deep"));
    }
    Ok(())
}

/// Returns the indices compiled within an index. Each schema has two indices: one as compiled first, and one as
/// compiled again for an `unevaluatedProperties` or `unevaluatedItems`.
fn next(nodes: &[SchemaNode], place: usize) -> Vec<usize> {
    let once_more = |id: Id| nodes.len().saturating_add(id);
    let Some(node) = node(nodes, place) else { return Vec::new() };
    let mut next = Vec::new();
    if place < nodes.len() {
        // The target of a reference is compiled separately.
        next.extend(node.same_value().filter(|id| Some(*id) != node.reference).chain(node.within()));
        next.extend(node.weight.unevaluated.then(|| once_more(place)));
    } else {
        for id in node.same.iter().map(InPlaceSchema::id) {
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

fn node(nodes: &[SchemaNode], place: usize) -> Option<&SchemaNode> {
    nodes.get(place.checked_sub(nodes.len()).unwrap_or(place))
}

const LOOPED: &str = "its `unevaluatedProperties` or `unevaluatedItems` covers a schema that refers to itself";
/// Number of nested references that the validator follows before it compiles one lazily.
const REFERENCES: usize = 8;
/// Maximum nesting of compilation; each level takes some kilobytes of stack.
const DEEPEST: usize = 128;
/// Maximum size of everything compiled, in bytes of schemas and their pointers.
const MOST: usize = 16 * LARGEST;
/// Minimum size of a schema, in bytes.
const EACH: usize = 64;
