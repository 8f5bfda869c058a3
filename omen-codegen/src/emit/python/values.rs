//! Stub of the values that moves take: a template into which the error texts and the enum values are filled.

use super::texts::{CodedRules, GENERATED, OVERLAPS, literal, violated, wires};
use crate::mistake::{Mistakes, bug};
use crate::model::Model;

/// Stub with placeholders: `{enum Name}` is the type of an enum's values, `{high}` and `{low}` are levels of the
/// stakes, `{policies}` those of a tradeoff, `{sure}` the statuses that are never a claim, `{lasting}` the freshness classes that make none,
/// `{references}` the methods for the types of evidence, `{Predicate}` or `{Predicate value}` is the type of a call that violates the predicate with this value.
const TEMPLATE: &str = include_str!("values.pyi");

pub(super) fn emit(model: &Model, rules: &CodedRules<'_>) -> Result<String, Mistakes> {
    let mut out = format!("{GENERATED}{OVERLAPS}");
    let mut rest = TEMPLATE;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').ok_or_else(|| bug("unmatched brace in the template".to_owned()))?;
        out.push_str(before);
        out.push_str(&filled(model, rules, name)?);
        rest = after;
    }
    Ok(out + rest)
}

fn filled(model: &Model, rules: &CodedRules<'_>, name: &str) -> Result<String, Mistakes> {
    let (first, value) = name.split_once(' ').unwrap_or((name, ""));
    match first {
        "policies" => Ok(literal(rules.policies.iter().copied())),
        "sure" => without(wires(model, "EpistemicStatus")?, &rules.unsure(model)?),
        "lasting" => without(wires(model, "FreshnessClass")?, &rules.present(model)?),
        "references" => references(model, rules),
        "enum" => wires(model, value).map(literal),
        "high" | "low" => {
            let mut levels = Vec::new();
            for level in wires(model, "StakesLevel")? {
                let is_high = (rules.is_high)(level).map_err(|error| bug(format!("{level}: {error}")))?;
                if is_high == (first == "high") {
                    levels.push(level);
                }
            }
            Ok(literal(levels))
        }
        _ => violated(model, first, value),
    }
}

fn without(mut values: Vec<&str>, others: &[&str]) -> Result<String, Mistakes> {
    values.retain(|value| !others.contains(value));
    Ok(literal(values))
}

/// Returns a constructor for each type of evidence, and a method that adds a reference of it.
fn references(model: &Model, rules: &CodedRules<'_>) -> Result<String, Mistakes> {
    let mut out = Vec::new();
    for name in wires(model, "RefType")? {
        let is_live = (rules.is_live)(name).map_err(|error| bug(format!("{name}: {error}")))?;
        let (first, added) = if is_live { ("Live", "Evidence[Live]") } else { ("NotLive", "Self") };
        let reference = "ref_id: str, timestamp: str, *, reliability: float | None = None";
        out.push(format!("    @staticmethod\n    def {name}({reference}) -> Evidence[{first}]: ..."));
        out.push(format!("    def and_{name}(self, {reference}) -> {added}: ..."));
    }
    Ok(out.join("\n"))
}
