//! Stakes level from the axes, as overloads: a few disjoint boxes of literals, each with one level.

use std::fmt::Write as _;

use super::texts::{CodedRules, GENERATED, OVERLAPS, literal, wires};
use crate::mistake::{Mistakes, bug};
use crate::model::Model;

/// Axes: field of the stakes, and its enum.
const AXES: [(&str, &str); 4] = [
    ("impact", "Impact"),
    ("irreversibility", "Irreversibility"),
    ("uncertainty", "Uncertainty"),
    ("adversariality", "Adversariality"),
];

/// Beginning of the stub.
const HEAD: &str = r#""""Level of the stakes from their axes (INV-012)."""

from typing import Generic, Literal, NoReturn, TypeVar, overload

L = TypeVar("L", covariant=True)

class _Made:
    """Value that only the package creates."""
    def __init__(self, _: NoReturn, /) -> None: ...

class Stakes(_Made, Generic[L]):
    """Stakes, with the level that their axes justify."""
    @property
    def level(self) -> L: ...
    def to_json(self) -> str: ...
"#;

/// Set of values for each axis.
type Box4<'m> = [Vec<&'m str>; 4];

pub(super) fn emit(model: &Model, rules: &CodedRules<'_>) -> Result<String, Mistakes> {
    let mut axes: Box4<'_> = Default::default();
    for (values, (_, name)) in axes.iter_mut().zip(AXES) {
        *values = wires(model, name)?;
    }
    let mut out = format!("{GENERATED}{OVERLAPS}{}", HEAD);
    let mut overload = |axes: &Box4<'_>, to: &str| {
        let axes: Vec<_> = axes
            .iter()
            .zip(AXES)
            .map(|(values, (name, _))| format!("{name}: {}", literal(values.iter().copied())))
            .collect();
        // Writing to a string cannot fail.
        let _ =
            write!(out, "    @overload\n    @staticmethod\n    def of(*, {}) -> Stakes[{to}]: ...\n", axes.join(", "));
    };
    for (level, part) in cover(&axes, rules)? {
        overload(&part, &literal([level.as_str()]));
    }
    // Axes that are known only at run time. Without this overload, checkers would try every combination of values.
    overload(&axes, &literal(wires(model, "StakesLevel")?));
    Ok(out)
}

/// Returns disjoint boxes that cover all points, each with its level; chosen greedily, largest first.
fn cover<'m>(axes: &Box4<'m>, rules: &CodedRules<'_>) -> Result<Vec<(String, Box4<'m>)>, Mistakes> {
    let mut left: Vec<([&str; 4], String)> = Vec::new();
    for point in points(axes) {
        let level =
            (rules.level)(point).map_err(|error| bug(format!("the stakes {point:?} have no level: {error}")))?;
        left.push((point, level));
    }
    let mut boxes = boxes(axes);
    boxes.sort_by_key(|part| std::cmp::Reverse(part.iter().map(Vec::len).product::<usize>()));
    let mut cover = Vec::new();
    while let Some((_, first)) = left.first().cloned() {
        let fits = |part: &&Box4<'m>| {
            let inside: Vec<_> = left.iter().filter(|(point, _)| contains(part, point)).collect();
            let size = part.iter().map(Vec::len).product::<usize>();
            inside.len() == size && inside.windows(2).all(|pair| matches!(pair, [(_, a), (_, b)] if a == b))
        };
        let part = boxes.iter().find(fits).cloned().ok_or_else(|| bug(format!("no box fits level {first}")))?;
        let level = left.iter().find(|(point, _)| contains(&part, point)).map_or(first, |(_, level)| level.clone());
        left.retain(|(point, _)| !contains(&part, point));
        cover.push((level, part));
    }
    Ok(cover)
}

fn contains(part: &Box4<'_>, point: &[&str; 4]) -> bool {
    part.iter().zip(point).all(|(values, value)| values.contains(value))
}

fn points<'m>(axes: &Box4<'m>) -> Vec<[&'m str; 4]> {
    let [a, b, c, d] = axes;
    let mut points = Vec::new();
    for a in a {
        for b in b {
            for c in c {
                points.extend(d.iter().map(|d| [*a, *b, *c, *d]));
            }
        }
    }
    points
}

fn boxes<'m>(axes: &Box4<'m>) -> Vec<Box4<'m>> {
    let [a, b, c, d] = axes.each_ref().map(|values| subsets(values));
    let mut boxes = Vec::new();
    for a in &a {
        for b in &b {
            for c in &c {
                boxes.extend(d.iter().map(|d| [a.clone(), b.clone(), c.clone(), d.clone()]));
            }
        }
    }
    boxes
}

/// Returns the subsets that are not empty.
fn subsets<'m>(values: &[&'m str]) -> Vec<Vec<&'m str>> {
    let mut all: Vec<Vec<&str>> = vec![Vec::new()];
    for value in values {
        let with: Vec<_> = all.iter().map(|set| [set.as_slice(), &[*value]].concat()).collect();
        all.extend(with);
    }
    all.retain(|set| !set.is_empty());
    all
}
