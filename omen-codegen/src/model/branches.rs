//! Reading branches: the form of an object for each case of the field that distinguishes them.

use super::defs::{Branch, Case, Excluded};
use super::read::{Location, text};
use crate::json::Json;
use crate::mistake::Mistake;

/// Words for the cases that are not enum values.
pub(crate) const CASES: [(&str, Case); 3] =
    [("absent", Case::Absent), ("empty", Case::Empty), ("filled", Case::Filled)];

pub(super) fn build(at: &Location<'_>, json: &Json) -> Result<Vec<Branch>, Mistake> {
    let mut branches = Vec::new();
    for (subject, list) in json.get("x-omen-branches").map_or(&[][..], Json::members) {
        let at = at.join("x-omen-branches").join(subject);
        for (i, json) in list.elements().iter().enumerate() {
            branches.push(branch(&at.join(i), subject, json)?);
        }
    }
    Ok(branches)
}

fn branch(at: &Location<'_>, subject: &str, json: &Json) -> Result<Branch, Mistake> {
    let word = json.get("when").and_then(Json::as_str);
    let case = match (json.get("value").and_then(Json::as_str), word) {
        (Some(value), None) => Case::Value(value.to_owned()),
        (None, Some(word)) => CASES
            .into_iter()
            .find_map(|(name, case)| (name == word).then_some(case))
            .ok_or_else(|| at.join("when").wrong("this case is not supported"))?,
        _ => return Err(at.wrong("a branch has either `value` or `when`")),
    };
    let mut leaves_out = Vec::new();
    if let Some(json) = json.get("leaves_out") {
        for (member, _) in json.members() {
            leaves_out.push((member.clone(), text(&at.join("leaves_out"), json, member)?));
        }
    }
    let mut excludes = Vec::new();
    for (member, json) in json.get("excludes").map_or(&[][..], Json::members) {
        let at = at.join("excludes").join(member);
        let values = json.members().iter().map(|(value, _)| Ok((value.clone(), text(&at, json, value)?)));
        excludes.push(Excluded { member: member.clone(), values: values.collect::<Result<_, Mistake>>()? });
    }
    Ok(Branch {
        subject: subject.to_owned(),
        case,
        name: text(at, json, "name")?,
        description: text(at, json, "description")?,
        leaves_out,
        excludes,
    })
}
